package io.mortise.quorum;

import io.mortise.spi.time.WallClock;
import java.time.Instant;

/** Breaks a rule, for {@code RulesTest}. */
public final class ChoosesTheClock {
  /** By the system's clock. */
  public Instant now() {
    return WallClock.SYSTEM.instant();
  }
}
