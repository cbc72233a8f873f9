package io.mortise.console;

import io.mortise.LockClient;
import io.mortise.admin.LockQuery;
import java.util.List;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.CountDownLatch;

/** A client that counts inspections of the store, and blocks them while the store is silent. */
final class CountedAdmin {
  private final List<String> found = new CopyOnWriteArrayList<>();
  private final List<String> surveys = new CopyOnWriteArrayList<>();
  private final LockClient client;
  private volatile CountDownLatch answers = new CountDownLatch(0);

  CountedAdmin(LockClient real) {
    this.client =
        ClientProxy.of(
            real,
            (admin, method, arguments) -> {
              if (method.getName().equals("find")) {
                found.add(String.valueOf(arguments[0]));
                answers.await();
              } else if (method.getName().equals("list")) {
                surveys.add(String.valueOf(((LockQuery) arguments[0]).cursor()));
              }
              return ClientProxy.call(admin, method, arguments);
            });
  }

  LockClient client() {
    return client;
  }

  /** Blocks inspections of single locks from now on. */
  void stop() {
    answers = new CountDownLatch(1);
  }

  /** Releases blocked inspections. */
  void goOn() {
    answers.countDown();
  }

  /** The number of inspections of this lock. */
  long finds(String name) {
    return found.stream().filter(name::equals).count();
  }

  /** The number of requested pages of surveys. */
  int surveys() {
    return surveys.size();
  }
}
