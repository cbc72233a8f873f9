package io.mortise.cli;

import java.time.Duration;

/** The pauses of a leader between its terms. For one thread. */
final class LeaderPause {
  private static final Duration SHORTEST = Duration.ofSeconds(1);

  /** The longest pause; a term that took longer is no sign of trouble. */
  private static final Duration LONGEST = Duration.ofSeconds(30);

  private Duration next = SHORTEST;

  /** The next pause is the shortest. */
  void reset() {
    next = SHORTEST;
  }

  /** The pause after a term that lasted so long: doubled with each short one. */
  Duration after(Duration lasted) {
    if (lasted.compareTo(LONGEST) >= 0) {
      reset();
    }
    Duration pause = next;
    next = Supervisor.min(next.multipliedBy(2), LONGEST);
    return pause;
  }
}
