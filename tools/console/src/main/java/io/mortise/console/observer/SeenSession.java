package io.mortise.console.observer;

import io.mortise.admin.LockParticipant.ClientInfo;
import java.time.Duration;
import java.time.Instant;
import org.jspecify.annotations.Nullable;

/**
 * A process as observed.
 *
 * @param client null if never reported
 * @param ttl zero if not reported
 * @param left the remaining time of its session without a renewal, when last seen
 * @param renewedAgo the age of its renewal when last seen, in a clockless store; null elsewhere
 * @param overSince the time when its session was first seen ended; null if it is not
 * @param first the time of the first sighting
 * @param seen when it was seen last
 */
public record SeenSession(
    String session,
    @Nullable ClientInfo client,
    Duration ttl,
    Duration left,
    @Nullable Duration renewedAgo,
    @Nullable Instant overSince,
    Instant first,
    Instant seen) {
  /** Whether its session is over. */
  public boolean over() {
    return overSince != null;
  }
}
