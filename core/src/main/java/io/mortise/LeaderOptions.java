package io.mortise;

import java.time.Duration;
import java.util.Objects;
import org.jspecify.annotations.Nullable;

/** Options of a leadership candidate. Immutable and thread-safe; start from {@link #DEFAULTS}. */
public final class LeaderOptions {
  private static final Duration LONGEST = Duration.ofDays(3650);

  /** No minimum term, close waits for the TTL, no label. */
  public static final LeaderOptions DEFAULTS = new LeaderOptions(Duration.ZERO, null, "");

  private final Duration minimumTerm;
  private final @Nullable Duration closeTimeout;
  private final String label;

  private LeaderOptions(Duration minimumTerm, @Nullable Duration closeTimeout, String label) {
    this.minimumTerm = minimumTerm;
    this.closeTimeout = closeTimeout;
    this.label = label;
  }

  /**
   * The shortest time from the begin of a term to its hand-over, if the leader ends the term of its
   * own accord, by {@link Leadership#stepDown()} or by the end of its task. A loss and {@link
   * Leadership#close()} do not wait for it.
   */
  public Duration minimumTerm() {
    return minimumTerm;
  }

  /**
   * How long {@link Leadership#close()} waits for the task to end; null for the TTL of the client's
   * session.
   */
  public @Nullable Duration closeTimeout() {
    return closeTimeout;
  }

  /**
   * The label of this candidate in {@link Leadership#current()} and {@link LockClient#admin}; never
   * interpreted.
   */
  public String label() {
    return label;
  }

  /**
   * See {@link #minimumTerm()}.
   *
   * @throws IllegalArgumentException if it is negative or above ten years
   */
  public LeaderOptions withMinimumTerm(Duration value) {
    Objects.requireNonNull(value, "value");
    check("minimum term", value);
    return new LeaderOptions(value, closeTimeout, label);
  }

  /**
   * See {@link #closeTimeout()}.
   *
   * @throws IllegalArgumentException if it is negative or above ten years
   */
  public LeaderOptions withCloseTimeout(@Nullable Duration value) {
    if (value != null) {
      check("close timeout", value);
    }
    return new LeaderOptions(minimumTerm, value, label);
  }

  /**
   * See {@link #label()}.
   *
   * @throws IllegalArgumentException if it is longer than 100 characters or has a control character
   */
  public LeaderOptions withLabel(String value) {
    Objects.requireNonNull(value, "value");
    return new LeaderOptions(minimumTerm, closeTimeout, new HoldTerms(null, null, value).label());
  }

  private static void check(String what, Duration time) {
    if (time.isNegative() || time.compareTo(LONGEST) > 0) {
      throw new IllegalArgumentException(
          "The " + what + " " + time + " is not within 0 and 10 years.");
    }
  }

  @Override
  public boolean equals(@Nullable Object other) {
    return other instanceof LeaderOptions that
        && minimumTerm.equals(that.minimumTerm)
        && Objects.equals(closeTimeout, that.closeTimeout)
        && label.equals(that.label);
  }

  @Override
  public int hashCode() {
    return Objects.hash(minimumTerm, closeTimeout, label);
  }

  @Override
  public String toString() {
    return "LeaderOptions[minimumTerm="
        + minimumTerm
        + ", closeTimeout="
        + closeTimeout
        + ", label="
        + label
        + "]";
  }
}
