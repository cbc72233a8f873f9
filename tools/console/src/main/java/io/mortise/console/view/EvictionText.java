package io.mortise.console.view;

import io.mortise.admin.EvictionResult;
import io.mortise.admin.LockParticipant;
import io.mortise.spi.time.DurationText;

/** The result of an eviction, in a sentence or two. */
public final class EvictionText {
  private EvictionText() {}

  /**
   * Returns the result for people.
   *
   * @param party as seen before
   * @param now whether the lock had to be free at once
   * @param dead whether the holder's process was already gone
   */
  public static String of(
      EvictionResult result, String name, LockParticipant party, boolean now, boolean dead) {
    String who = LockFormatter.client(party);
    return switch (result) {
      case HOLD_ENDED ->
          dead
              ? "Ended the hold of a process that is gone; lock '" + name + "' is free."
              : now
                  ? "Took lock '" + name + "' from " + who + ", which may not know yet."
                  : party.renewedAgo() == null
                      ? "Told "
                          + who
                          + " to let go of lock '"
                          + name
                          + "'. It stays shut until then, or until its session is over."
                      : "Evicted "
                          + who
                          + " from lock '"
                          + name
                          + "'. It stays shut until that process lets go, or until a waiter has seen no renewal for "
                          + DurationText.format(party.sessionTtl())
                          + ".";
      case WAIT_ENDED -> "Ended the wait of " + who + " for lock '" + name + "'.";
      case NOT_THERE ->
          "Nothing was done: " + who + " had no part in lock '" + name + "' any more.";
    };
  }

  /** Returns the result of opening a lock. */
  public static String opened(String name, boolean opened) {
    return opened ? "Opened lock '" + name + "'." : "Lock '" + name + "' was open by then.";
  }
}
