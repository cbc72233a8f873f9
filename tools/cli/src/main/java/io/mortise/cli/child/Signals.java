package io.mortise.cli.child;

import java.lang.reflect.InvocationTargetException;
import java.lang.reflect.Method;
import java.lang.reflect.Proxy;
import java.util.function.Consumer;
import org.slf4j.LoggerFactory;

/**
 * Signals of the operating system. Java has no supported interface for them; the one of module
 * {@code jdk.unsupported} exists since Java 1.3, but causes a compiler warning that cannot be
 * switched off, hence the reflection.
 */
public final class Signals {
  private Signals() {}

  /**
   * Calls the listener on another thread whenever the signal arrives, in place of the default
   * effect.
   *
   * @return restores the signal's former effect
   */
  public static Runnable listen(String name, Consumer<RunEvent.SignalReceived> listener) {
    try {
      Class<?> type = Class.forName("sun.misc.Signal");
      Class<?> handlerType = Class.forName("sun.misc.SignalHandler");
      Object signal = type.getConstructor(String.class).newInstance(name);
      int number = (int) type.getMethod("getNumber").invoke(signal);
      Object handler =
          Proxy.newProxyInstance(
              Signals.class.getClassLoader(),
              new Class<?>[] {handlerType},
              (proxy, method, arguments) -> {
                if (method.getName().equals("handle")) {
                  listener.accept(new RunEvent.SignalReceived(name, number));
                  return null;
                }
                return switch (method.getName()) {
                  case "equals" -> proxy == arguments[0];
                  case "hashCode" -> System.identityHashCode(proxy);
                  default -> "listener for SIG" + name;
                };
              });
      Method handle = type.getMethod("handle", type, handlerType);
      Object before = handle.invoke(null, signal, handler);
      return () -> restore(name, handle, signal, before);
    } catch (ReflectiveOperationException e) {
      // Unknown to this system, or reserved by the JVM: keeps its default effect.
      Throwable cause = e instanceof InvocationTargetException ? e.getCause() : e;
      LoggerFactory.getLogger(Signals.class).debug("SIG{} cannot be caught", name, cause);
      return () -> {};
    }
  }

  private static void restore(String name, Method handle, Object signal, Object before) {
    try {
      handle.invoke(null, signal, before);
    } catch (ReflectiveOperationException e) {
      throw new IllegalStateException("cannot be: SIG" + name + " was caught", e);
    }
  }
}
