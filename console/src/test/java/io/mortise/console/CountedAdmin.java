package io.mortise.console;

import io.mortise.LockClient;
import io.mortise.admin.LockAdmin;
import java.lang.reflect.InvocationHandler;
import java.lang.reflect.InvocationTargetException;
import java.lang.reflect.Method;
import java.lang.reflect.Proxy;
import java.util.List;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.CountDownLatch;

/** A client whose looks at the store are counted, and wait while the store is said to be silent. */
final class CountedAdmin {
  private final List<String> found = new CopyOnWriteArrayList<>();
  private final List<String> surveys = new CopyOnWriteArrayList<>();
  private final LockClient client;
  private volatile CountDownLatch answers = new CountDownLatch(0);

  CountedAdmin(LockClient real) {
    LockAdmin admin =
        proxy(
            LockAdmin.class,
            (proxy, method, arguments) -> {
              if (method.getName().equals("find")) {
                found.add(String.valueOf(arguments[0]));
                answers.await();
              } else if (method.getName().equals("survey")) {
                surveys.add(String.valueOf(arguments[1]));
              }
              return call(real.admin(), method, arguments);
            });
    this.client =
        proxy(
            LockClient.class,
            (proxy, method, arguments) ->
                method.getName().equals("admin") ? admin : call(real, method, arguments));
  }

  private static <T> T proxy(Class<T> type, InvocationHandler handler) {
    return type.cast(Proxy.newProxyInstance(type.getClassLoader(), new Class<?>[] {type}, handler));
  }

  private static Object call(Object target, Method method, Object[] arguments) throws Throwable {
    try {
      return method.invoke(target, arguments);
    } catch (InvocationTargetException e) {
      throw e.getCause();
    }
  }

  LockClient client() {
    return client;
  }

  /** Looks at single locks get no answer from now on. */
  void stop() {
    answers = new CountDownLatch(1);
  }

  /** All get their answers. */
  void goOn() {
    answers.countDown();
  }

  /** How often this lock was looked at. */
  long finds(String name) {
    return found.stream().filter(name::equals).count();
  }

  /** How many pages of surveys were asked for. */
  int surveys() {
    return surveys.size();
  }
}
