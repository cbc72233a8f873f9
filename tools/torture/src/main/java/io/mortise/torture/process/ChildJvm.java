package io.mortise.torture.process;

import java.io.BufferedReader;
import java.io.BufferedWriter;
import java.io.File;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.TimeUnit;
import org.jspecify.annotations.Nullable;

/**
 * A JVM on the class path of this one, told lines and answering lines, which can be stopped and
 * killed like any process. Gone after {@link #close()}, and when this process ends. For one thread.
 */
public final class ChildJvm implements AutoCloseable {
  private final Process process;
  private final Process lifeline;
  private final BufferedReader answers;
  private final BufferedWriter orders;

  /**
   * Starts one.
   *
   * @param prefix what stands before the command, to change what it sees of its host
   * @param options of the JVM, besides those that make a small one start fast
   * @param main its main class; gets no arguments, which others could see
   * @param errors where its standard error goes
   */
  public ChildJvm(
      List<String> prefix, List<String> options, Class<?> main, ProcessBuilder.Redirect errors) {
    List<String> command = new ArrayList<>(prefix);
    command.add(Path.of(System.getProperty("java.home"), "bin", "java").toString());
    command.addAll(List.of("-XX:TieredStopAtLevel=1", "-XX:+UseSerialGC"));
    command.addAll(options);
    command.addAll(List.of("-cp", classPath(), main.getName()));
    try {
      process = new ProcessBuilder(command).redirectError(errors).start();
      // Its input ends with this process, however that ends: one that is stopped would stay for
      // ever.
      lifeline = new ProcessBuilder("sh", "-c", "read _; kill -9 " + process.pid()).start();
      // Its number may be another's later.
      var unused = process.onExit().thenRun(lifeline::destroyForcibly);
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
    answers = process.inputReader();
    orders = process.outputWriter();
  }

  /** Whatever folder the process is started in. */
  private static String classPath() {
    List<String> entries = new ArrayList<>();
    for (String entry : System.getProperty("java.class.path").split(File.pathSeparator, -1)) {
      entries.add(Path.of(entry).toAbsolutePath().toString());
    }
    return String.join(File.pathSeparator, entries);
  }

  /** Tells it a line. */
  public void tell(String line) {
    try {
      orders.write(line);
      orders.newLine();
      orders.flush();
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }

  /** Waits for its next line; null if it has ended. */
  public @Nullable String answer() {
    try {
      return answers.readLine();
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }

  /** Its number. */
  public long pid() {
    return process.pid();
  }

  /** SIGSTOP: it stands still, wherever it is. */
  public void pause() {
    signal("-STOP");
  }

  /** SIGCONT: it goes on, and knows nothing of the time between. */
  public void resume() {
    signal("-CONT");
  }

  /** SIGKILL. */
  public void kill() {
    process.destroyForcibly();
    try {
      process.waitFor(10, TimeUnit.SECONDS);
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
    }
  }

  private void signal(String signal) {
    try {
      int status = new ProcessBuilder("kill", signal, Long.toString(pid())).start().waitFor();
      if (status != 0) {
        throw new IllegalStateException("kill " + signal + " failed.");
      }
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
      throw new IllegalStateException(e);
    }
  }

  @Override
  public void close() {
    lifeline.destroyForcibly();
    kill();
  }
}
