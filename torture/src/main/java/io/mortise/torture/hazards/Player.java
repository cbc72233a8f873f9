package io.mortise.torture.hazards;

import java.io.BufferedReader;
import java.io.BufferedWriter;
import java.io.File;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.TimeUnit;

/**
 * A holder in a process of its own, which can be stopped and killed like any other. Gone after
 * {@link #close()}, and when this process ends. For one thread.
 */
final class Player implements AutoCloseable {
  private final Process process;
  private final Process lifeline;
  private final BufferedReader answers;
  private final BufferedWriter orders;

  /** Starts one; it answers what {@link PlayerMain} says. */
  Player() {
    this(List.of());
  }

  /**
   * The same.
   *
   * @param prefix what stands before the command, to change what it sees of its host
   */
  Player(List<String> prefix) {
    List<String> command = new ArrayList<>(prefix);
    command.add(Path.of(System.getProperty("java.home"), "bin", "java").toString());
    command.addAll(List.of("-XX:TieredStopAtLevel=1", "-XX:+UseSerialGC", "-Xmx64m"));
    command.addAll(List.of("-cp", classPath(), PlayerMain.class.getName()));
    try {
      process = new ProcessBuilder(command).redirectError(ProcessBuilder.Redirect.DISCARD).start();
      // Its input ends with this process, however that ends: one that is stopped would stay for
      // ever.
      lifeline = new ProcessBuilder("sh", "-c", "read _; kill -9 " + process.pid()).start();
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

  /** Gives an order and waits for the answer. */
  String ask(String... words) {
    try {
      orders.write(String.join(" ", words));
      orders.newLine();
      orders.flush();
      String answer = answers.readLine();
      if (answer == null) {
        throw new IllegalStateException("The holder's process has ended.");
      }
      return answer;
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }

  long pid() {
    return process.pid();
  }

  /** SIGSTOP: it stands still, wherever it is. */
  void stop() {
    signal("-STOP");
  }

  /** SIGCONT: it goes on, and knows nothing of the time between. */
  void goOn() {
    signal("-CONT");
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
