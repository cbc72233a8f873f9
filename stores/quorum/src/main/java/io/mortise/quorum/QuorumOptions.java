package io.mortise.quorum;

import io.mortise.spi.time.DurationText;
import java.time.Duration;

/**
 * QuorumOptions of a quorum.
 *
 * @param memberTimeout how long to wait for members' answers; never longer than a quarter of the
 *     session's TTL. 10 ms to one minute
 * @param quarantine how long a member that may have forgotten its grants has no vote: at least the
 *     longest TTL of any client of the same members; a client with a longer one is refused. Zero is
 *     for members that never forget, not by {@code kill -9} and not by a power cut; it excludes
 *     none. At most one day
 */
public record QuorumOptions(Duration memberTimeout, Duration quarantine) {
  /** 200 ms, one minute. */
  public static final QuorumOptions DEFAULT =
      new QuorumOptions(Duration.ofMillis(200), Duration.ofMinutes(1));

  /**
   * Checks the values.
   *
   * @throws IllegalArgumentException if a value is not as described above
   */
  public QuorumOptions {
    if (memberTimeout.compareTo(Duration.ofMillis(10)) < 0
        || memberTimeout.compareTo(Duration.ofMinutes(1)) > 0) {
      throw new IllegalArgumentException(
          "The member timeout "
              + DurationText.formatExact(memberTimeout)
              + " is not within 10ms and 1m.");
    }
    if (quarantine.isNegative() || quarantine.compareTo(Duration.ofDays(1)) > 0) {
      throw new IllegalArgumentException(
          "The quarantine " + DurationText.formatExact(quarantine) + " is not within 0s and 1d.");
    }
  }

  /** The same with this timeout. */
  public QuorumOptions withMemberTimeout(Duration other) {
    return new QuorumOptions(other, quarantine);
  }

  /** The same with this quarantine. */
  public QuorumOptions withQuarantine(Duration other) {
    return new QuorumOptions(memberTimeout, other);
  }
}
