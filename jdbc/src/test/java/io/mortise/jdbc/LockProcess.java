package io.mortise.jdbc;

import io.mortise.Lease;
import io.mortise.LockClient;
import io.mortise.jdbc.dialect.EmbeddedClockTest;
import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStreamReader;
import java.nio.charset.StandardCharsets;
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
  private final Process process;
  private final BufferedReader output;

  private LockProcess(Process process) {
    this.process = process;
    this.output =
        new BufferedReader(new InputStreamReader(process.getInputStream(), StandardCharsets.UTF_8));
  }

  /** Starts one; arguments as {@link #main} has them. */
  public static LockProcess start(String what, String url, Duration ttl, String... more) {
    return start(List.of(), what, url, ttl, more);
  }

  /**
   * The same.
   *
   * @param prefix what stands before the command, to change what it sees of its host
   */
  public static LockProcess start(
      List<String> prefix, String what, String url, Duration ttl, String... more) {
    List<String> command = new ArrayList<>(prefix);
    command.addAll(
        List.of(
            Path.of(System.getProperty("java.home"), "bin", "java").toString(),
            "-Xmx64m",
            "-XX:TieredStopAtLevel=1",
            "-XX:+UseSerialGC",
            "-cp",
            System.getProperty("surefire.test.class.path", System.getProperty("java.class.path")),
            LockProcess.class.getName(),
            what,
            url,
            Long.toString(ttl.toMillis())));
    command.addAll(List.of(more));
    try {
      return new LockProcess(
          new ProcessBuilder(command).redirectError(ProcessBuilder.Redirect.INHERIT).start());
    } catch (IOException e) {
      throw new AssertionError(e);
    }
  }

  /** The next line that it prints. */
  public String line() throws IOException {
    String line = output.readLine();
    if (line == null) {
      throw new AssertionError("the child ended");
    }
    return line;
  }

  public void go() throws IOException {
    process.getOutputStream().write('g');
    process.getOutputStream().flush();
  }

  /** Stops it from running. */
  public void pause() {
    try {
      new ProcessBuilder("kill", "-STOP", Long.toString(process.pid())).start().waitFor();
    } catch (IOException | InterruptedException e) {
      throw new AssertionError(e);
    }
  }

  public void kill() {
    process.destroyForcibly().onExit().join();
  }

  public int await() throws InterruptedException {
    if (!process.waitFor(100, TimeUnit.SECONDS)) {
      process.destroyForcibly();
      throw new AssertionError("the child did not end");
    }
    return process.exitValue();
  }

  public Duration cpu() {
    return process.info().totalCpuDuration().orElse(Duration.ZERO);
  }

  @Override
  public void close() {
    process.destroyForcibly();
  }

  /** {@code count|hold|crowd|echo|clock URL TTL-in-ms …}. */
  public static void main(String[] args) throws Exception {
    if (!args[0].equals("echo") && !args[0].equals("clock")) {
      Thread parent = new Thread(LockProcess::endWithParent);
      parent.setDaemon(true);
      parent.start();
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

  private static void endWithParent() {
    try {
      while (System.in.read() >= 0) {
        // Until the parent is gone.
      }
    } catch (IOException e) {
      // As above.
    }
    Runtime.getRuntime().halt(3);
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
