package io.mortise.redis;

import io.mortise.Lease;
import io.mortise.LockClient;
import java.io.BufferedReader;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;

/**
 * Another process that waits for one lock and says when it has it: its own main class, and the
 * handle on it. It ends with its standard input, so that none outlives the test.
 */
final class WaiterProcess implements AutoCloseable {
  static final String HOLDS = "holds";

  private final Process process;
  private final BufferedReader output;

  /** Starts one. */
  WaiterProcess(String url, String lock, Duration ttl) {
    List<String> command =
        List.of(
            Path.of(System.getProperty("java.home"), "bin", "java").toString(),
            "-Xmx64m",
            "-XX:TieredStopAtLevel=1",
            "-XX:+UseSerialGC",
            "-cp",
            System.getProperty("surefire.test.class.path", System.getProperty("java.class.path")),
            WaiterProcess.class.getName(),
            url,
            lock,
            Long.toString(ttl.toMillis()));
    try {
      process = new ProcessBuilder(command).redirectError(ProcessBuilder.Redirect.DISCARD).start();
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
    output = process.inputReader(StandardCharsets.UTF_8);
  }

  /** The next line that it prints, {@link #HOLDS} when it has the lock; blocks. */
  String line() {
    try {
      String line = output.readLine();
      if (line == null) {
        throw new AssertionError("the process ended");
      }
      return line;
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }

  /** SIGKILL. */
  void kill() {
    process.destroyForcibly().onExit().join();
  }

  /** SIGSTOP: it stands still, and its connections stay. */
  void pause() {
    signal("-STOP");
  }

  /** SIGCONT. */
  void resume() {
    signal("-CONT");
  }

  private void signal(String signal) {
    try {
      new ProcessBuilder("kill", signal, Long.toString(process.pid())).start().waitFor();
    } catch (IOException | InterruptedException e) {
      throw new AssertionError(e);
    }
  }

  @Override
  public void close() {
    kill();
  }

  /** Waits for a lock and holds it until the parent is gone. */
  public static void main(String[] args) throws InterruptedException {
    Thread parent = new Thread(WaiterProcess::endWithParent);
    parent.setDaemon(true);
    parent.start();
    Duration ttl = Duration.ofMillis(Long.parseLong(args[2]));
    try (LockClient locks = LockClient.builder().url(args[0]).ttl(ttl).build();
        Lease lease = locks.lock(args[1]).acquire()) {
      lease.ensureValid();
      System.out.println(HOLDS);
      parent.join();
    }
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
}
