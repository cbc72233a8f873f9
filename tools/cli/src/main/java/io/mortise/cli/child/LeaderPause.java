package io.mortise.cli.child;

import java.time.Duration;

/** The pauses of a leader between its terms. For one thread. */
public final class LeaderPause {
  private static final Duration SHORTEST = Duration.ofSeconds(1);

  /** The longest pause; a term that took longer is no sign of trouble. */
  private static final Duration LONGEST = Duration.ofSeconds(30);

  private Duration next = SHORTEST;

  /** The next pause is the shortest. */
  public void reset() {
    next = SHORTEST;
  }

  /** The pause after a term that lasted so long: doubled with each short one. */
  public Duration after(Duration lasted) {
    if (lasted.compareTo(LONGEST) >= 0) {
      reset();
    }
    Duration pause = next;
    Duration doubled = next.multipliedBy(2);
    next = doubled.compareTo(LONGEST) <= 0 ? doubled : LONGEST;
    return pause;
  }
}
