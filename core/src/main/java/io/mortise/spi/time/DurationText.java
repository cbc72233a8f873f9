package io.mortise.spi.time;

import java.time.Duration;
import java.time.format.DateTimeParseException;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/**
 * Durations in the form that people write: {@code 500ms}, {@code 30s}, {@code 5m}, {@code 2h},
 * {@code 1d}, {@code 1h30m}, or ISO 8601.
 */
public final class DurationText {
  private static final Pattern PART = Pattern.compile("(\\d{1,12})(ms|s|m|h|d)");

  private DurationText() {}

  /**
   * Reads a duration.
   *
   * @throws IllegalArgumentException if it has another form, no unit, or is negative
   */
  public static Duration parse(String text) {
    if (text.equals("0")) {
      return Duration.ZERO;
    }
    if (text.startsWith("P")) {
      try {
        Duration duration = Duration.parse(text);
        if (!duration.isNegative()) {
          return duration;
        }
      } catch (DateTimeParseException e) {
        throw wrong(text);
      }
    }
    Duration sum = Duration.ZERO;
    Matcher part = PART.matcher(text);
    int end = 0;
    while (part.find() && part.start() == end) {
      long number = Long.parseLong(part.group(1));
      sum =
          sum.plus(
              switch (part.group(2)) {
                case "ms" -> Duration.ofMillis(number);
                case "s" -> Duration.ofSeconds(number);
                case "m" -> Duration.ofMinutes(number);
                case "h" -> Duration.ofHours(number);
                default -> Duration.ofDays(number);
              });
      end = part.end();
    }
    if (end == 0 || end != text.length()) {
      throw wrong(text);
    }
    return sum;
  }

  /** The shortest text with at most two units, rounded down; {@code 0s} below a millisecond. */
  public static String format(Duration duration) {
    if (duration.isNegative()) {
      return "-" + format(duration.negated());
    }
    long seconds = duration.toSeconds();
    int millis = duration.toMillisPart();
    if (seconds == 0) {
      return millis == 0 ? "0s" : millis + "ms";
    }
    if (seconds < 10 && millis >= 100) {
      return seconds + "." + millis / 100 + "s";
    }
    if (seconds < 60) {
      return seconds + "s";
    }
    if (seconds < 3600) {
      return seconds / 60 + "m" + (seconds % 60 == 0 ? "" : seconds % 60 + "s");
    }
    if (seconds < 86_400) {
      return seconds / 3600 + "h" + (seconds % 3600 < 60 ? "" : seconds % 3600 / 60 + "m");
    }
    return seconds / 86_400 + "d" + (seconds % 86_400 < 3600 ? "" : seconds % 86_400 / 3600 + "h");
  }

  /**
   * The text from which {@link #parse} reads the same duration, to the millisecond, rounded down:
   * for exact limits, such as {@code 1s250ms} where {@link #format} rounds to {@code 1.2s}.
   */
  public static String formatExact(Duration duration) {
    if (duration.isNegative()) {
      return "-" + formatExact(duration.negated());
    }
    String text =
        part(duration.toDaysPart(), "d")
            + part(duration.toHoursPart(), "h")
            + part(duration.toMinutesPart(), "m")
            + part(duration.toSecondsPart(), "s")
            + part(duration.toMillisPart(), "ms");
    return text.isEmpty() ? "0s" : text;
  }

  private static String part(long number, String unit) {
    return number == 0 ? "" : number + unit;
  }

  private static IllegalArgumentException wrong(String text) {
    return new IllegalArgumentException(
        "'" + text + "' is not a duration. Write it like 500ms, 30s, 5m, 2h or 1h30m.");
  }
}
