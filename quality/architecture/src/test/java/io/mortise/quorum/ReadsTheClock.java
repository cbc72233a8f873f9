package io.mortise.quorum;

/** Breaks a rule, for {@code RulesTest}. */
public final class ReadsTheClock {
  /** By the system's clock. */
  public long now() {
    return System.nanoTime();
  }
}
