package io.mortise.cli;

import org.jspecify.annotations.Nullable;

/** What a user is told of a lock that was lost while its command ran. */
final class LossText {
  private LossText() {}

  /**
   * One paragraph.
   *
   * @param token of the hold; empty if there is none
   * @param timeOver whether the at-most time ended the hold
   * @param lost why the release says that it was lost, or empty; null if it was released
   */
  static String of(
      String name,
      Supervisor.RunResult runResult,
      String token,
      boolean timeOver,
      @Nullable String lost) {
    if (runResult.cause() == Supervisor.EndCause.ENDED_IN_TIME) {
      return "Lock '"
          + name
          + "' could not be kept: "
          + (timeOver ? "its at-most time is over" : "its renewal was overdue")
          + ". The command was ended (status "
          + runResult.status()
          + ") before anybody else could have the lock.";
    }
    return "Lock '"
        + name
        + "' was lost while the command ran"
        + (lost == null || lost.isEmpty() ? "" : ": " + lost)
        + "; the command "
        + (runResult.cause() == Supervisor.EndCause.ITSELF ? "has ended" : "was ended")
        + " (status "
        + runResult.status()
        + "). Its last work may overlap with the next holder's: check what was written"
        + (token.isEmpty() ? "." : " with token " + token + ".");
  }
}
