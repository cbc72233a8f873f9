package io.mortise.jdbc;

import io.mortise.Lease;
import io.mortise.LockClient;
import io.mortise.jdbc.dialect.EmbeddedClockTest;
import io.mortise.testkit.server.JvmProcess;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.TimeUnit;

/**
 * Another process that uses locks: its own main class, and the handle on it. It ends with its
 * standard input, so that none outlives the test.
 */
public final class LockProcess implements AutoCloseable {
  private final JvmProcess process;

  private LockProcess(JvmProcess process) {
    this.process = process;
  }

  /** Starts one; arguments as {@link #main} has them. */
  public static LockProcess start(String what, String url, Duration ttl, String... more) {
    return start(List.of(), what, url, ttl, more);
  }

  /**
   * The same.
   *
   * @param prefix prefix of the command, which changes its view of the host
   */
  public static LockProcess start(
      List<String> prefix, String what, String url, Duration ttl, String... more) {
    List<String> arguments = new ArrayList<>(List.of(what, url, Long.toString(ttl.toMillis())));
    arguments.addAll(List.of(more));
    return new LockProcess(
        JvmProcess.start(prefix, LockProcess.class, arguments.toArray(String[]::new)));
  }

  /** The next line that it prints. */
  public String line() {
    return process.line();
  }

  public void go() {
    process.goOn();
  }

  /** Stops it from running. */
  public void pause() {
    process.pause();
  }

  public void kill() {
    process.close();
  }

  public int await() throws InterruptedException {
    if (!process.process().waitFor(100, TimeUnit.SECONDS)) {
      process.close();
      throw new AssertionError("the child did not end");
    }
    return process.process().exitValue();
  }

  public Duration cpu() {
    return process.process().info().totalCpuDuration().orElse(Duration.ZERO);
  }

  @Override
  public void close() {
    process.close();
  }

  /** {@code count|hold|crowd|echo|clock URL TTL-in-ms …}. */
  public static void main(String[] args) throws Exception {
    if (!args[0].equals("echo") && !args[0].equals("clock")) {
      JvmProcess.endWithParent();
    }
    if (args[0].equals("clock")) {
      EmbeddedClockTest.playHere(args[1]);
      System.exit(0);
    }
    Duration ttl = Duration.ofMillis(Long.parseLong(args[2]));
    try (LockClient locks = LockClient.builder().url(args[1]).ttl(ttl).build()) {
      switch (args[0]) {
        case "count" -> count(locks, Path.of(args[3]), Integer.parseInt(args[4]));
        case "hold" -> hold(locks);
        case "crowd" -> crowd(args[1], ttl, Integer.parseInt(args[3]));
        default -> echo(locks, Integer.parseInt(args[3]));
      }
    }
    System.exit(0);
  }

  private static void count(LockClient locks, Path file, int times) throws Exception {
    System.out.println("ready");
    for (int i = 0; i < times; i++) {
      try (Lease lease = locks.lock("counter").acquireWithin(Duration.ofSeconds(40))) {
        increment(file);
        lease.ensureValid();
      }
    }
  }

  public static void increment(Path file) throws IOException {
    long count = Long.parseLong(Files.readString(file).strip());
    Files.writeString(file, Long.toString(count + 1));
  }

  private static void hold(LockClient locks) throws Exception {
    Lease lease = locks.lock("held").acquireWithin(Duration.ofSeconds(20));
    System.out.println(lease.token());
    Thread.sleep(60_000);
  }

  /** Waits for the lock, by so many clients at a time. */
  private static void crowd(String url, Duration ttl, int clients) throws Exception {
    for (int i = 0; i < clients; i++) {
      LockClient client = LockClient.builder().url(url).ttl(ttl).build();
      var unused = client.lock("echo").acquireAsync(Duration.ofSeconds(100));
    }
    Thread.sleep(100_000);
  }

  /** Takes the lock each time it is told to, and tells when it got it. */
  private static void echo(LockClient locks, int times) throws Exception {
    for (int i = 0; i < times && System.in.read() >= 0; i++) {
      try (Lease lease = locks.lock("echo").acquireWithin(Duration.ofSeconds(40))) {
        System.out.println(System.nanoTime());
        lease.ensureValid();
      }
    }
  }
}
