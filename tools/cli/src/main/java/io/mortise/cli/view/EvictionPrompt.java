package io.mortise.cli.view;

import io.mortise.admin.LockInfo;
import io.mortise.admin.LockParticipant;
import io.mortise.console.view.LockFormatter;
import io.mortise.console.view.OutputSanitizer;
import io.mortise.spi.time.DurationText;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Objects;

/** Warnings to an operator before a hold or a wait is ended, or a lock is opened. */
public final class EvictionPrompt {
  private static final String GOES_ON =
      " is shut for may still go on: a command that outlived its mortise, say.";

  /** The warning about a shut lock without a holder. */
  public static final String MAY_GO_ON = "What it" + GOES_ON;

  /** Asks whether such a lock is to be opened. */
  public static final String OPEN = "Open it at once?";

  private EvictionPrompt() {}

  /**
   * Describes the participant, the action and its consequences.
   *
   * @param party the holder or waiter
   * @param now whether the lock is to be free at once
   */
  public static List<String> lines(LockInfo lock, LockParticipant party, boolean now) {
    boolean holds = lock.holders().contains(party);
    List<String> lines = new ArrayList<>();
    lines.add(
        LockFormatter.client(party)
            + (holds ? " has held" : " has waited for")
            + " lock "
            + quoted(lock.name())
            + (party.since().isZero() ? "" : " for " + DurationText.format(party.since()))
            + (party.label().isEmpty() ? "." : " (" + OutputSanitizer.text(party.label()) + ")."));
    if (!holds) {
      return lines;
    }
    boolean dead = LockFormatter.isGone(party);
    if (dead) {
      lines.add(
          "Its process is gone."
              + (now && !lock.shutFor().isZero() ? " What the lock" + GOES_ON : ""));
    } else if (now) {
      lines.add("It may go on working until it hears of it, while another holds the lock already.");
    } else {
      lines.add(
          "It is told to let go"
              + (party.renewedAgo() == null
                  ? ". Until it does, the lock stays shut: for "
                      + DurationText.format(
                          Objects.requireNonNullElse(party.sessionLeft(), party.sessionTtl()))
                      + " at most if its process is gone or cut off."
                  : ", if it still runs. Until it does, the lock stays shut; if its process is gone or"
                      + " cut off, until a waiter has seen no renewal for "
                      + DurationText.format(party.sessionTtl())
                      + "."));
    }
    lines.add(
        lock.waiters().isEmpty()
            ? "Nobody waits for the lock."
            : "Next is "
                + LockFormatter.client(lock.waiters().get(0))
                + "; "
                + lock.waiterCount()
                + (lock.waiterCount() == 1 ? " waits." : " wait."));
    return lines;
  }

  /** The question whether to proceed. */
  public static String question(boolean atOnce) {
    return "Evict it" + (atOnce ? " at once" : "") + "?";
  }

  /** The text for a shut lock whose holder is gone: only opening it at once helps. */
  public static String outlived(LockInfo lock) {
    return "Of lock "
        + quoted(lock.name())
        + " "
        + LockFormatter.gone(lock)
        + ". A command may have outlived its mortise.";
  }

  /** The text for a lock without a holder. */
  public static String nobody(String name, Duration shutFor) {
    return "Nobody holds lock "
        + quoted(name)
        + (shutFor.isZero()
            ? "."
            : ", but it is shut for another " + DurationText.format(shutFor) + ".");
  }

  private static String quoted(String name) {
    return "'" + OutputSanitizer.text(name) + "'";
  }
}
