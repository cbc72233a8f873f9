package io.mortise.field.rolling;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.TimeUnit;
import java.util.stream.Stream;

/**
 * A process on a host. It ends by {@link #close()}, and with this JVM at the latest. Thread-safe.
 */
final class HostProcess implements AutoCloseable {
  private final Process process;
  private final Process lifeline;
  private final Path log;

  HostProcess(List<String> command, Path log) throws IOException {
    this.log = log;
    process =
        new ProcessBuilder(command)
            .redirectErrorStream(true)
            .redirectOutput(ProcessBuilder.Redirect.appendTo(log.toFile()))
            .start();
    lifeline = Lifeline.attach("kill -9 " + process.pid());
    // The process id may be reused later.
    var unused = process.onExit().thenRun(lifeline::destroyForcibly);
  }

  boolean isAlive() {
    return process.isAlive();
  }

  long pid() {
    return process.pid();
  }

  Path log() {
    return log;
  }

  /** Threads of the process. */
  long threads() {
    return count("task");
  }

  /** Its open files and connections. */
  long descriptors() {
    return count("fd");
  }

  private long count(String folder) {
    try (Stream<Path> entries = Files.list(Path.of("/proc/" + pid() + "/" + folder))) {
      return entries.count();
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }

  /** Waits for its end, and returns the status; -1 if it did not end in time and was killed. */
  int awaitEnd(long seconds) throws InterruptedException {
    int status = process.waitFor(seconds, TimeUnit.SECONDS) ? process.exitValue() : -1;
    close();
    return status;
  }

  /** Sends SIGSTOP to it and to its descendants. */
  void pause() {
    signal("-STOP");
  }

  /** Sends SIGCONT to the same processes. */
  void resume() {
    signal("-CONT");
  }

  void terminate() {
    process.destroy();
  }

  private void signal(String signal) {
    List<String> command = new ArrayList<>(List.of("kill", signal, Long.toString(pid())));
    process.descendants().forEach(child -> command.add(Long.toString(child.pid())));
    SimulatedHost.run(command.toArray(String[]::new));
  }

  @Override
  public void close() {
    process.destroyForcibly();
    lifeline.destroyForcibly();
  }
}
