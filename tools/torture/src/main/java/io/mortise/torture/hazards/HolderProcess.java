package io.mortise.torture.hazards;

import io.mortise.torture.process.ChildJvm;
import java.util.List;

/**
 * A holder in a process of its own, which can be stopped and killed like any other. Gone after
 * {@link #close()}, and when this process ends. For one thread.
 */
final class HolderProcess implements AutoCloseable {
  private final ChildJvm process;

  /** Starts one; it answers what {@link HolderMain} says. */
  HolderProcess() {
    this(List.of());
  }

  /**
   * The same.
   *
   * @param prefix what stands before the command, to change what it sees of its host
   */
  HolderProcess(List<String> prefix) {
    process =
        new ChildJvm(prefix, List.of("-Xmx64m"), HolderMain.class, ProcessBuilder.Redirect.DISCARD);
  }

  /** Gives an order and waits for the answer. */
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

  /** SIGSTOP: it stands still, wherever it is. */
  void stop() {
    process.pause();
  }

  /** SIGCONT: it goes on, and knows nothing of the time between. */
  void goOn() {
    process.resume();
  }

  /** SIGKILL. */
  void kill() {
    process.kill();
  }

  @Override
  public void close() {
    process.close();
  }
}
