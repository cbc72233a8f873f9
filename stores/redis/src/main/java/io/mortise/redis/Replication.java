package io.mortise.redis;

import io.mortise.spi.StoreUrl;
import io.mortise.spi.time.DurationText;
import java.time.Duration;

/**
 * How many replicas must have a grant or renewal before it counts.
 *
 * @param replicas the number; 0 for none, {@link #ALL} for those connected at that time
 * @param timeout how long to wait for them
 */
record Replication(int replicas, Duration timeout) {
  static final int ALL = -1;
  static final Replication NONE = new Replication(0, Duration.ofMillis(500));

  private static final int MOST = 100;

  boolean isRequired() {
    return replicas != 0;
  }

  /**
   * Reads {@code wait-replicas} and {@code wait-timeout}.
   *
   * @param answer how long any answer may take
   * @throws IllegalArgumentException if one of them is wrong
   */
  static Replication of(StoreUrl url, Duration answer) {
    String text = url.parameter("wait-replicas", "0");
    int replicas;
    if (text.equals("all")) {
      replicas = ALL;
    } else if (text.matches("\\d{1,3}") && Integer.parseInt(text) <= MOST) {
      replicas = Integer.parseInt(text);
    } else {
      throw new IllegalArgumentException(
          "Parameter 'wait-replicas' of store URL '%s' is '%s'. Expected a number up to %s, or all."
              .formatted(url, text, MOST));
    }
    Duration half = answer.dividedBy(2);
    // A request may have to wait for another's replicas before it waits for its own.
    Duration quarter = answer.dividedBy(4);
    Duration usual = NONE.timeout().compareTo(quarter) < 0 ? NONE.timeout() : quarter;
    Duration timeout = url.duration("wait-timeout", usual);
    if (timeout.toMillis() < 1 || timeout.compareTo(half) > 0) {
      throw new IllegalArgumentException(
          "Parameter 'wait-timeout' of store URL '%s' is not within 1ms and half of 'timeout', which is %s."
              .formatted(url, DurationText.formatExact(answer)));
    }
    return new Replication(replicas, timeout);
  }
}
