package io.mortise.cli;

import io.mortise.event.LeaseEnd;
import org.jspecify.annotations.Nullable;

/** What a user is told of a lock that was lost while its command ran. */
final class LossText {
  private LossText() {}

  /**
   * One paragraph.
   *
   * @param token of the hold; empty if there is none
   * @param lost what ended the lease, by its release; null if it was released
   * @param stillShut whether nobody else has had the lock, see {@link
   *     io.mortise.cli.view.LossInspector}
   */
  static String of(
      String name,
      Supervisor.RunResult runResult,
      String token,
      @Nullable LeaseEnd lost,
      boolean stillShut) {
    boolean atMostOver = runResult.cause() == Supervisor.EndCause.ENDED_AT_MOST;
    if (atMostOver || runResult.cause() == Supervisor.EndCause.ENDED_IN_TIME) {
      return "Lock '"
          + name
          + "' could not be kept: "
          + (atMostOver ? "its at-most time is over" : "its renewal was overdue")
          + ". The command was ended (status "
          + runResult.status()
          + ") before anybody else could have the lock.";
    }
    String what =
        "Lock '"
            + name
            + "' was lost while the command ran"
            + (lost == null ? "" : ": " + reason(lost))
            + "; the command "
            + (runResult.cause() == Supervisor.EndCause.ITSELF ? "has ended" : "was ended")
            + " (status "
            + runResult.status()
            + ")";
    if (stillShut) {
      return what + " before anybody else could have the lock.";
    }
    return what
        + ". Its last work may overlap with the next holder's: check what was written"
        + (token.isEmpty() ? "." : " with token " + token + ".");
  }

  private static String reason(LeaseEnd end) {
    return switch (end) {
      case NOT_RENEWED ->
          "it was not renewed in time, since the store was silent or this process stood still";
      case FORGOTTEN -> "the store no longer knew it";
      case AT_MOST -> "its at-most time is over";
      case EVICTED -> "an operator evicted it";
      case CLIENT_CLOSED -> "its client was closed";
      case RELEASED -> throw new IllegalArgumentException("A released lease is not lost.");
    };
  }
}
