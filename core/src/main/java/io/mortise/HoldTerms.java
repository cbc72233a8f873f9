package io.mortise;

import java.time.Duration;
import java.util.Objects;
import org.jspecify.annotations.Nullable;

/**
 * Terms of a hold. The store keeps them, also after the holder's process has died; a store without
 * {@link io.mortise.spi.Capability#AT_MOST} leaves that time to the holder's engine.
 *
 * @param atMost the hold ends no later than this after the grant; null for no such limit
 * @param atLeast the lock is not free before this after the grant, even if the hold is released or
 *     the holder dies; null for none
 * @param label shown to people, at most 100 characters; never interpreted
 */
public record HoldTerms(@Nullable Duration atMost, @Nullable Duration atLeast, String label) {
  /** No limits, no label. */
  public static final HoldTerms NONE = new HoldTerms(null, null, "");

  private static final Duration SHORTEST = Duration.ofMillis(1);
  private static final Duration LONGEST = Duration.ofDays(3650);
  private static final int LABEL_LENGTH = 100;

  /**
   * Checks the times.
   *
   * @throws IllegalArgumentException if a time is below one millisecond or above ten years, if at
   *     least is longer than at most, or if the label is longer than 100 characters or holds a
   *     control character
   */
  public HoldTerms {
    Objects.requireNonNull(label, "label");
    check("at-most time", atMost);
    check("at-least time", atLeast);
    if (atMost != null && atLeast != null && atLeast.compareTo(atMost) > 0) {
      throw new IllegalArgumentException(
          "The at-least time "
              + text(atLeast)
              + " is longer than the at-most time "
              + text(atMost)
              + ". Shorten the first.");
    }
    if (label.length() > LABEL_LENGTH || label.chars().anyMatch(Character::isISOControl)) {
      throw new IllegalArgumentException(
          "A label has at most 100 characters and no control characters.");
    }
  }

  /** Whether the store has to keep a time for this hold. */
  public boolean isTimed() {
    return atMost != null || atLeast != null;
  }

  private static void check(String what, @Nullable Duration time) {
    if (time != null && (time.compareTo(SHORTEST) < 0 || time.compareTo(LONGEST) > 0)) {
      throw new IllegalArgumentException(
          "The " + what + " " + text(time) + " is not within 1ms and 10 years.");
    }
  }

  /** A duration to the millisecond, like {@code 1m1s500ms}, as messages of the SPI show it. */
  private static String text(Duration time) {
    if (time.isNegative()) {
      return "-" + text(time.negated());
    }
    String text =
        part(time.toDaysPart(), "d")
            + part(time.toHoursPart(), "h")
            + part(time.toMinutesPart(), "m")
            + part(time.toSecondsPart(), "s")
            + part(time.toMillisPart(), "ms");
    return text.isEmpty() ? "0s" : text;
  }

  private static String part(long number, String unit) {
    return number == 0 ? "" : number + unit;
  }
}
