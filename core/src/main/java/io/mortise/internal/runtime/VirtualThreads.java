package io.mortise.internal.runtime;

import java.lang.invoke.MethodHandle;
import java.lang.invoke.MethodHandles;
import java.lang.invoke.MethodType;
import org.jspecify.annotations.Nullable;

/**
 * Detects threads that must not do I/O for a store: interrupting a virtual thread that reads from a
 * socket closes the socket.
 */
public final class VirtualThreads {
  /** Only JDK 21 and newer have this method. */
  private static final @Nullable MethodHandle IS_VIRTUAL = find();

  private VirtualThreads() {}

  /** Whether the calling thread is virtual. */
  public static boolean isCurrent() {
    try {
      return IS_VIRTUAL != null && (boolean) IS_VIRTUAL.invokeExact(Thread.currentThread());
    } catch (Throwable e) {
      throw new IllegalStateException(e);
    }
  }

  private static @Nullable MethodHandle find() {
    try {
      return MethodHandles.publicLookup()
          .findVirtual(Thread.class, "isVirtual", MethodType.methodType(boolean.class));
    } catch (NoSuchMethodException | IllegalAccessException e) {
      return null;
    }
  }
}
