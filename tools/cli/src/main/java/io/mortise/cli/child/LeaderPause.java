package io.mortise.cli.child;

import java.time.Duration;

/** The pauses of a leader between its terms. For one thread. */
public final class LeaderPause {
  private static final Duration SHORTEST = Duration.ofSeconds(1);

  /** The longest pause; a longer term is no sign of trouble. */
  private static final Duration LONGEST = Duration.ofSeconds(30);

  private Duration next = SHORTEST;

  /** Makes the next pause the shortest. */
  public void reset() {
    next = SHORTEST;
  }

  /** Returns the pause after a term of this duration; it doubles with each short term. */
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
