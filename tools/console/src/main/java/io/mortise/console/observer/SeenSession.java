package io.mortise.console.observer;

import io.mortise.admin.LockParticipant.ClientInfo;
import java.time.Duration;
import java.time.Instant;
import org.jspecify.annotations.Nullable;

/**
 * A process as it was seen.
 *
 * @param client null if it was never told
 * @param ttl zero if it was not told
 * @param left of its session without a renewal, when it was seen last
 * @param renewedAgo when it was seen last, in a clockless store; null elsewhere
 * @param overSince when its session was first seen to be over; null if it is not
 * @param first when it was seen first
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
