package io.mortise.redis;

import io.mortise.Lease;
import io.mortise.LockClient;
import io.mortise.testkit.server.JvmProcess;
import java.time.Duration;

/**
 * Another process that waits for one lock and reports the grant: its own main class, and the handle
 * on it. It ends with its standard input, so that none outlives the test.
 */
final class WaiterProcess implements AutoCloseable {
  static final String HOLDS = "holds";

  private final JvmProcess process;

  WaiterProcess(String url, String lock, Duration ttl) {
    process = JvmProcess.start(WaiterProcess.class, url, lock, Long.toString(ttl.toMillis()));
  }

  /** The next line that it prints, {@link #HOLDS} after the grant; blocks. */
  String line() {
    return process.line();
  }

  /** SIGKILL. */
  void kill() {
    process.close();
  }

  /** SIGSTOP: it is paused, and its connections stay open. */
  void pause() {
    process.pause();
  }

  /** SIGCONT. */
  void resume() {
    process.resume();
  }

  @Override
  public void close() {
    kill();
  }

  /** Waits for a lock and holds it until the parent ends. */
  public static void main(String[] args) throws InterruptedException {
    Thread parent = JvmProcess.endWithParent();
    Duration ttl = Duration.ofMillis(Long.parseLong(args[2]));
    try (LockClient locks = LockClient.builder().url(args[0]).ttl(ttl).build();
        Lease lease = locks.lock(args[1]).acquire()) {
      lease.ensureValid();
      System.out.println(HOLDS);
      parent.join();
    }
  }
}
