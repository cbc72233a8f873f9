package io.mortise.console;

import io.mortise.Lease;
import io.mortise.LockClient;
import io.mortise.testkit.server.JvmProcess;
import java.io.BufferedReader;
import java.io.InputStreamReader;
import java.nio.charset.StandardCharsets;
import java.util.concurrent.CompletableFuture;

/**
 * A process that acquires two locks in turn, like a careless service: the main class, and its
 * handle. It ends with its standard input, so that none outlives the test.
 */
final class TransferService implements AutoCloseable {
  static final String HOLDS_ONE = "holds one";
  static final String DONE = "done";
  static final String EVICTED = "evicted";

  private final JvmProcess process;

  /** Starts a process, which acquires the first lock. */
  TransferService(String url, String name, String first, String second) {
    process = JvmProcess.start(TransferService.class, url, name, first, second);
  }

  long pid() {
    return process.process().pid();
  }

  /** The next line that it prints; blocks. */
  String line() {
    return process.line();
  }

  /** Has it acquire the second lock. */
  void goOn() {
    process.goOn();
  }

  @Override
  public void close() {
    process.close();
  }

  /** Acquires one lock, then, on demand, the other. */
  public static void main(String[] args) throws Exception {
    BufferedReader input =
        new BufferedReader(new InputStreamReader(System.in, StandardCharsets.UTF_8));
    try (LockClient locks = LockClient.builder().url(args[0]).name(args[1]).build()) {
      Lease first = locks.lock(args[2]).acquire();
      System.out.println(HOLDS_ONE);
      if (input.readLine() == null) {
        return;
      }
      CompletableFuture<Lease> second = locks.lock(args[3]).acquireAsync();
      // Like a correct service, gives up its work when it learns of the loss of the lock.
      first.onLost(cause -> second.cancel(true));
      String outcome =
          second
              .handle(
                  (lease, failure) -> {
                    if (lease == null) {
                      return EVICTED;
                    }
                    lease.close();
                    return DONE;
                  })
              .join();
      try {
        first.close();
      } finally {
        System.out.println(outcome);
      }
    }
  }
}
