package io.mortise.console;

import io.mortise.Lease;
import io.mortise.LockClient;
import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStreamReader;
import java.io.UncheckedIOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.util.List;
import java.util.concurrent.CompletableFuture;

/**
 * Another process, which takes two locks one after the other as a careless service does: its own
 * main class, and the handle on it. It ends with its standard input, so that none outlives the
 * test.
 */
final class TransferService implements AutoCloseable {
  static final String HOLDS_ONE = "holds one";
  static final String DONE = "done";
  static final String EVICTED = "evicted";

  private final Process process;
  private final BufferedReader output;

  /** Starts one, which takes the first lock. */
  TransferService(String url, String name, String first, String second) {
    List<String> command =
        List.of(
            Path.of(System.getProperty("java.home"), "bin", "java").toString(),
            "-Xmx64m",
            "-XX:TieredStopAtLevel=1",
            "-XX:+UseSerialGC",
            "-cp",
            System.getProperty("surefire.test.class.path", System.getProperty("java.class.path")),
            TransferService.class.getName(),
            url,
            name,
            first,
            second);
    try {
      process = new ProcessBuilder(command).redirectError(ProcessBuilder.Redirect.DISCARD).start();
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
    output = process.inputReader(StandardCharsets.UTF_8);
  }

  long pid() {
    return process.pid();
  }

  /** The next line that it prints; blocks. */
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

  /** It asks for the second lock. */
  void goOn() {
    try {
      process.getOutputStream().write('\n');
      process.getOutputStream().flush();
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }

  @Override
  public void close() {
    process.destroyForcibly().onExit().join();
  }

  /** Takes one lock, then, when it is told, the other. */
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
      // Does what a service has to: gives up its work when it is told that it has lost the lock.
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
