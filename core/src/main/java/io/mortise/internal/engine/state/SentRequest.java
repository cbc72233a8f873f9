package io.mortise.internal.engine.state;

import io.mortise.internal.session.LiveSession;
import io.mortise.spi.AttemptId;

/**
 * A request on its way.
 *
 * @param at when it left
 * @param suspendedNanos how long the host was known to have slept by then
 * @param incarnationChanges how often the store was known to may have forgotten by then
 */
public record SentRequest(AttemptId attempt, long at, long suspendedNanos, int incarnationChanges) {
  /** A request of an attempt that leaves now. */
  public static SentRequest now(LiveSession session, AttemptId attempt, long now) {
    return new SentRequest(attempt, now, session.suspendedNanos(), session.incarnationChanges());
  }
}
