package io.mortise.torture.run;

import java.io.BufferedReader;
import java.io.BufferedWriter;
import java.io.File;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.concurrent.TimeUnit;
import org.jspecify.annotations.Nullable;

/** A client process and its way to the server. For one thread. */
final class ContenderProcess implements AutoCloseable {
  private final int number;
  private final @Nullable Proxy proxy;
  private final Process process;
  private final Process lifeline;
  private final BufferedReader answers;
  private final BufferedWriter orders;

  /**
   * Starts one; returns when it has connected.
   *
   * @param proxy through which it reaches the server; null if it does not
   */
  ContenderProcess(int number, @Nullable Proxy proxy, Map<String, String> settings, Path log) {
    this.number = number;
    this.proxy = proxy;
    try {
      process =
          new ProcessBuilder(
                  Path.of(System.getProperty("java.home"), "bin", "java").toString(),
                  "-XX:TieredStopAtLevel=1",
                  "-XX:+UseSerialGC",
                  "-Xmx128m",
                  "-Dorg.slf4j.simpleLogger.defaultLogLevel=warn",
                  "-cp",
                  classPath(),
                  ContenderMain.class.getName())
              .redirectError(ProcessBuilder.Redirect.appendTo(log.toFile()))
              .start();
      // Its input ends with this process, however that ends: one that is stopped would stay.
      lifeline = new ProcessBuilder("sh", "-c", "read _; kill -9 " + process.pid()).start();
      answers = process.inputReader();
      orders = process.outputWriter();
      for (Map.Entry<String, String> setting : settings.entrySet()) {
        orders.write(setting.getKey() + "=" + setting.getValue() + "\n");
      }
      orders.write("\n");
      orders.flush();
      expect("ready");
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }

  private static String classPath() {
    List<String> entries = new ArrayList<>();
    for (String entry : System.getProperty("java.class.path").split(File.pathSeparator, -1)) {
      entries.add(Path.of(entry).toAbsolutePath().toString());
    }
    return String.join(File.pathSeparator, entries);
  }

  private void expect(String word) throws IOException {
    String line = answers.readLine();
    if (!word.equals(line)) {
      throw new IllegalStateException(
          "Client process " + number + " said '" + line + "' instead of '" + word + "'.");
    }
  }

  int number() {
    return number;
  }

  @Nullable Proxy proxy() {
    return proxy;
  }

  /** SIGSTOP. */
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
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
    }
  }

  /** SIGKILL. */
  void kill() {
    process.destroyForcibly();
    try {
      process.waitFor(10, TimeUnit.SECONDS);
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
    }
  }

  /** Tells it to finish. */
  void tellToFinish() {
    try {
      orders.write("stop\n");
      orders.flush();
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }

  /** Waits until it has given all back. */
  void awaitFinish() {
    try {
      expect("done");
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }

  @Override
  public void close() {
    lifeline.destroyForcibly();
    kill();
    if (proxy != null) {
      proxy.close();
    }
  }
}
