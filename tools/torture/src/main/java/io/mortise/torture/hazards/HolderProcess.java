package io.mortise.torture.hazards;

import io.mortise.torture.process.ChildJvm;
import java.util.List;

/**
 * A holder in a separate process, which can be paused and killed. Ends with {@link #close()}, and
 * with this process. For one thread.
 */
final class HolderProcess implements AutoCloseable {
  private final ChildJvm process;

  /** Starts a holder, with the commands of {@link HolderMain}. */
  HolderProcess() {
    this(List.of());
  }

  /**
   * Starts a holder as above.
   *
   * @param prefix prefix of the command, which may change the process's view of its host
   */
  HolderProcess(List<String> prefix) {
    process =
        new ChildJvm(prefix, List.of("-Xmx64m"), HolderMain.class, ProcessBuilder.Redirect.DISCARD);
  }

  /** Sends a command and waits for the answer. */
  String ask(String... words) {
    process.tell(String.join(" ", words));
    String answer = process.answer();
    if (answer == null) {
      throw new IllegalStateException("The holder's process has ended.");
    }
    return answer;
  }

  long pid() {
    return process.pid();
  }

  /** Sends SIGSTOP: it pauses, wherever it is. */
  void stop() {
    process.pause();
  }

  /** Sends SIGCONT: it resumes, unaware of the pause. */
  void goOn() {
    process.resume();
  }

  /** Sends SIGKILL. */
  void kill() {
    process.kill();
  }

  @Override
  public void close() {
    process.close();
  }
}
