package io.mortise.cli;

import static org.assertj.core.api.Assertions.assertThat;
import static org.junit.jupiter.api.Assumptions.assumeFalse;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import java.util.concurrent.TimeUnit;

/** A running tool, with its output in files. Ended on close. */
final class CliProcess implements AutoCloseable {
  private final Process process;
  private final Path out;
  private final Path err;

  private CliProcess(Process process, Path out, Path err) {
    this.process = process;
    this.out = out;
    this.err = err;
  }

  /** The command line that starts the tool. */
  static List<String> words(Class<?> main, String... args) {
    List<String> words =
        new ArrayList<>(
            List.of(
                Path.of(System.getProperty("java.home"), "bin", "java").toString(),
                "-XX:TieredStopAtLevel=1",
                "-XX:+UseSerialGC",
                "-XX:-UsePerfData",
                "-cp",
                System.getProperty("java.class.path"),
                main.getName()));
    words.addAll(Arrays.asList(args));
    return words;
  }

  static CliProcess start(
      Path folder,
      Class<?> main,
      Map<String, String> variables,
      ProcessBuilder.Redirect in,
      String... args)
      throws IOException {
    return startBy(List.of(), folder, main, variables, in, args);
  }

  /**
   * Starts the tool through a program, such as {@code timeout 1h}; returns that program's process.
   */
  static CliProcess startBy(
      List<String> program,
      Path folder,
      Class<?> main,
      Map<String, String> variables,
      ProcessBuilder.Redirect in,
      String... args)
      throws IOException {
    List<String> words = new ArrayList<>(program);
    words.addAll(words(main, args));
    Path out = Files.createTempFile(folder, "out", ".txt");
    Path err = Files.createTempFile(folder, "err", ".txt");
    ProcessBuilder builder =
        new ProcessBuilder(words)
            .redirectInput(in)
            .redirectOutput(out.toFile())
            .redirectError(err.toFile());
    builder.environment().keySet().removeIf(name -> name.startsWith("MORTISE_"));
    builder.environment().put("TMPDIR", folder.toString());
    builder.environment().putAll(variables);
    return new CliProcess(builder.start(), out, err);
  }

  Process process() {
    return process;
  }

  /** Waits for the end and returns the status. */
  int status() throws InterruptedException {
    assertThat(process.waitFor(90, TimeUnit.SECONDS)).as("ended in time").isTrue();
    return process.exitValue();
  }

  String out() {
    return read(out);
  }

  String err() {
    return read(err);
  }

  /** Sends a signal to the tool alone. */
  void signal(String name) throws IOException, InterruptedException {
    signal(name, process.pid());
  }

  /** Sends a signal to a process, or with a negative number to a process group. */
  static void signal(String name, long pid) throws IOException, InterruptedException {
    new ProcessBuilder("sh", "-c", "kill -s " + name + " -- " + pid).start().waitFor();
  }

  /**
   * Skips the test if SIGINT is ignored, as in a background job of a script: children inherit that,
   * and a JVM respects it.
   */
  static void needsInterrupts() throws IOException {
    assumeFalse(isIn("SigIgn:", "self", 2), "This build ignores SIGINT.");
  }

  /** Whether a signal is in one of the sets that Linux reports for a process. */
  static boolean isIn(String set, String process, int signal) throws IOException {
    return Files.readAllLines(Path.of("/proc/" + process + "/status")).stream()
        .filter(line -> line.startsWith(set))
        .map(line -> Long.parseUnsignedLong(line.substring(set.length()).strip(), 16))
        .anyMatch(signals -> (signals >> (signal - 1) & 1) != 0);
  }

  /** Whether a process exists and is no zombie. */
  static boolean isAlive(long pid) {
    try {
      Process ps = new ProcessBuilder("ps", "-o", "stat=", "-p", Long.toString(pid)).start();
      String state =
          new String(ps.getInputStream().readAllBytes(), java.nio.charset.StandardCharsets.UTF_8);
      return !state.isBlank() && !state.startsWith("Z");
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }

  private static String read(Path file) {
    try {
      return Files.readString(file);
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }

  @Override
  public void close() {
    process.descendants().forEach(ProcessHandle::destroyForcibly);
    process.destroyForcibly();
  }
}
