package io.mortise.internal.engine.state;

import io.mortise.internal.session.LiveSession;
import io.mortise.spi.AttemptId;

/**
 * A request in flight.
 *
 * @param at its sending time
 * @param suspendedNanos the host's known time of suspension by then
 * @param incarnationChanges the number of doubts about the store's memory by then
 */
public record SentRequest(AttemptId attempt, long at, long suspendedNanos, int incarnationChanges) {
  /** A request of an attempt, sent now. */
  public static SentRequest now(LiveSession session, AttemptId attempt, long now) {
    return new SentRequest(attempt, now, session.suspendedNanos(), session.incarnationChanges());
  }
}
