package io.mortise.cli.child;

import java.lang.reflect.InvocationTargetException;
import java.lang.reflect.Proxy;
import java.util.function.Consumer;
import org.slf4j.LoggerFactory;

/**
 * Signals of the operating system. Java has no supported interface for them; the one of the module
 * {@code jdk.unsupported} has been there since Java 1.3, but the compiler warns of it in a way that
 * cannot be switched off, hence the reflection.
 */
public final class Signals {
  private Signals() {}

  /** Calls the listener on a thread of its own whenever the signal arrives, instead of dying. */
  public static void listen(String name, Consumer<RunEvent.SignalReceived> listener) {
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
      type.getMethod("handle", type, handlerType).invoke(null, signal, handler);
    } catch (ReflectiveOperationException e) {
      // Not known to this system, or kept by the virtual machine for itself: keeps its usual
      // effect.
      Throwable cause = e instanceof InvocationTargetException ? e.getCause() : e;
      LoggerFactory.getLogger(Signals.class).debug("SIG{} cannot be caught", name, cause);
    }
  }
}
