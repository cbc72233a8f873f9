package io.mortise.testkit.server;

import java.io.BufferedReader;
import java.io.IOException;
import java.io.OutputStream;
import java.io.UncheckedIOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;

/**
 * Another process that runs a main class of the tests, on the class path of this JVM. It prints
 * lines, and gets commands by its standard input, which ends with this JVM; the main class has to
 * exit then. For one thread.
 */
public final class JvmProcess implements AutoCloseable {
  private final Process process;
  private final BufferedReader output;

  private JvmProcess(Process process) {
    this.process = process;
    this.output = process.inputReader(StandardCharsets.UTF_8);
  }

  /**
   * Starts a JVM. Its standard error goes to that of this JVM.
   *
   * @throws UncheckedIOException if it cannot be started
   */
  public static JvmProcess start(Class<?> main, String... arguments) {
    return start(List.of(), main, arguments);
  }

  /**
   * Starts a JVM as above.
   *
   * @param prefix prefix of the command, which may change the process's view of its host
   * @throws UncheckedIOException if it cannot be started
   */
  public static JvmProcess start(List<String> prefix, Class<?> main, String... arguments) {
    List<String> command = new ArrayList<>(prefix);
    command.addAll(command("-Xmx64m"));
    command.add(main.getName());
    command.addAll(List.of(arguments));
    try {
      return new JvmProcess(
          new ProcessBuilder(command).redirectError(ProcessBuilder.Redirect.INHERIT).start());
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }

  /** A JVM on the class path of this one that starts fast, up to the name of its main class. */
  public static List<String> command(String... options) {
    List<String> command = new ArrayList<>();
    command.add(Path.of(System.getProperty("java.home"), "bin", "java").toString());
    command.addAll(List.of("-XX:+UseSerialGC", "-XX:TieredStopAtLevel=1"));
    command.addAll(List.of(options));
    command.add("-cp");
    command.add(
        System.getProperty("surefire.test.class.path", System.getProperty("java.class.path")));
    return command;
  }

  /**
   * For a main class that takes no commands: halts this process when its standard input ends, with
   * its parent. Returns the thread that waits for that.
   */
  public static Thread endWithParent() {
    Thread parent =
        new Thread(
            () -> {
              try {
                System.in.transferTo(OutputStream.nullOutputStream());
              } catch (IOException e) {
                // The parent is gone, too.
              }
              Runtime.getRuntime().halt(3);
            });
    parent.setDaemon(true);
    parent.start();
    return parent;
  }

  /** The process itself. */
  public Process process() {
    return process;
  }

  /**
   * The next line that it prints. Blocks.
   *
   * @throws AssertionError if it has ended
   */
  public String line() {
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

  /** Sends an empty line, upon which it continues. */
  public void goOn() {
    try {
      process.getOutputStream().write('\n');
      process.getOutputStream().flush();
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }

  /** Sends SIGSTOP: it pauses, and its connections stay open. */
  public void pause() {
    signal("-STOP");
  }

  /** Sends SIGCONT. */
  public void resume() {
    signal("-CONT");
  }

  private void signal(String signal) {
    try {
      new ProcessBuilder("kill", signal, Long.toString(process.pid())).start().waitFor();
    } catch (IOException | InterruptedException e) {
      throw new AssertionError(e);
    }
  }

  /** Sends SIGKILL and waits for its end. */
  @Override
  public void close() {
    process.destroyForcibly().onExit().join();
  }
}
