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
 * A JVM on the class path of this one, controlled by lines of text, which can be paused and killed.
 * Ends with {@link #close()}, and with this process. For one thread.
 */
public final class ChildJvm implements AutoCloseable {
  private final Process process;
  private final Process lifeline;
  private final BufferedReader answers;
  private final BufferedWriter orders;

  /**
   * Starts a JVM.
   *
   * @param prefix prefix of the command, which may change the process's view of its host
   * @param options of the JVM, in addition to those for a fast start and small size
   * @param main its main class; gets no arguments, which other users could see
   * @param errors the file for its standard error
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
      // Its input ends with this process in any case: a paused child would stay for ever.
      lifeline = new ProcessBuilder("sh", "-c", "read _; kill -9 " + process.pid()).start();
      // The process id may be reused later.
      var unused = process.onExit().thenRun(lifeline::destroyForcibly);
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
    answers = process.inputReader();
    orders = process.outputWriter();
  }

  /** Absolute, hence independent of the working directory. */
  private static String classPath() {
    List<String> entries = new ArrayList<>();
    for (String entry : System.getProperty("java.class.path").split(File.pathSeparator, -1)) {
      entries.add(Path.of(entry).toAbsolutePath().toString());
    }
    return String.join(File.pathSeparator, entries);
  }

  /** Sends it a line. */
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

  /** Its process id. */
  public long pid() {
    return process.pid();
  }

  /** Sends SIGSTOP: it pauses, wherever it is. */
  public void pause() {
    signal("-STOP");
  }

  /** Sends SIGCONT: it resumes, unaware of the pause. */
  public void resume() {
    signal("-CONT");
  }

  /** Sends SIGKILL. */
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
