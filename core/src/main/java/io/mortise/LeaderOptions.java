package io.mortise;

import java.time.Duration;
import java.util.Objects;
import org.jspecify.annotations.Nullable;

/**
 * How to stand for leadership. Immutable; start from {@link #DEFAULTS}.
 *
 * @param minimumTerm a term that its leader ends of its own accord, by {@link
 *     Leadership#stepDown()} or by the end of its task, is handed over no sooner than this after it
 *     began. A loss and {@link Leadership#close()} do not wait for it
 * @param closeTimeout how long {@link Leadership#close()} waits for the task to end; null for the
 *     TTL of the client's session
 * @param label what {@link Leadership#current()} and {@link LockClient#admin} show about this
 *     candidate, at most 100 characters; never interpreted
 */
public record LeaderOptions(Duration minimumTerm, @Nullable Duration closeTimeout, String label) {
  private static final Duration LONGEST = Duration.ofDays(3650);

  /** No minimum term, close waits for the TTL, no label. */
  public static final LeaderOptions DEFAULTS = new LeaderOptions(Duration.ZERO, null, "");

  /**
   * Checks the times.
   *
   * @throws IllegalArgumentException if a time is negative or above ten years, or the label is
   *     longer than 100 characters or has a control character
   */
  public LeaderOptions {
    check("minimum term", Objects.requireNonNull(minimumTerm, "minimumTerm"));
    if (closeTimeout != null) {
      check("close timeout", closeTimeout);
    }
    Terms checked = new Terms(null, null, Objects.requireNonNull(label, "label"));
    label = checked.label();
  }

  private static void check(String what, Duration time) {
    if (time.isNegative() || time.compareTo(LONGEST) > 0) {
      throw new IllegalArgumentException(
          "The " + what + " " + time + " is not within 0 and 10 years.");
    }
  }

  /** See {@link #minimumTerm()}. */
  public LeaderOptions withMinimumTerm(Duration value) {
    return new LeaderOptions(Objects.requireNonNull(value, "minimumTerm"), closeTimeout, label);
  }

  /** See {@link #closeTimeout()}. */
  public LeaderOptions withCloseTimeout(@Nullable Duration value) {
    return new LeaderOptions(minimumTerm, value, label);
  }

  /** See {@link #label()}. */
  public LeaderOptions withLabel(String value) {
    return new LeaderOptions(minimumTerm, closeTimeout, Objects.requireNonNull(value, "label"));
  }
}
