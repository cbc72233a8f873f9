package io.mortise.console;

import io.mortise.LockClient;
import io.mortise.admin.LockAdmin;
import java.lang.reflect.InvocationTargetException;
import java.lang.reflect.Method;
import java.lang.reflect.Proxy;

/** A client that forwards all calls, those of its {@link LockAdmin} through a test. */
public final class ClientProxy {
  /** Answers a call of the admin, with or without the real one. */
  @FunctionalInterface
  public interface AdminCall {
    Object answer(LockAdmin real, Method method, Object[] arguments) throws Throwable;
  }

  private ClientProxy() {}

  public static LockClient of(LockClient real, AdminCall adminCall) {
    LockAdmin admin =
        LockAdmin.class.cast(
            Proxy.newProxyInstance(
                LockAdmin.class.getClassLoader(),
                new Class<?>[] {LockAdmin.class},
                (proxy, method, arguments) -> adminCall.answer(real.admin(), method, arguments)));
    return LockClient.class.cast(
        Proxy.newProxyInstance(
            LockClient.class.getClassLoader(),
            new Class<?>[] {LockClient.class},
            (proxy, method, arguments) ->
                method.getName().equals("admin") ? admin : call(real, method, arguments)));
  }

  /** Calls the method, unwrapping its exceptions. */
  public static Object call(Object target, Method method, Object[] arguments) throws Throwable {
    try {
      return method.invoke(target, arguments);
    } catch (InvocationTargetException e) {
      throw e.getCause();
    }
  }
}
