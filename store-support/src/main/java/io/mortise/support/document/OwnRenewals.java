package io.mortise.support.document;

import io.mortise.spi.Renewal;
import io.mortise.spi.SessionId;
import io.mortise.support.table.LockRecord;
import java.time.Duration;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import java.util.function.LongSupplier;

/**
 * For how long nobody may end the sessions of this process, by the renewals that it sent. Others
 * count from when they have seen a renewal, and the store's clock from when it was written: both
 * are later. So a step need not read the session of its requester. Thread-safe.
 */
final class OwnRenewals {
  private final Map<SessionId, LastSent> renewals = new ConcurrentHashMap<>();
  private final LongSupplier micros;

  /**
   * The last renewal of a session.
   *
   * @param number how many were sent before, and this one
   * @param end nobody may end the session before; in the past if that is not known
   */
  private record LastSent(long number, long end) {}

  /**
   * Knows no session yet.
   *
   * @param micros the clock by which sessions live: the store's, or that of this process with the
   *     time for which its host was suspended
   */
  OwnRenewals(LongSupplier micros) {
    this.micros = micros;
  }

  /** A renewal that is sent now. It counts when it was answered; until then the one before does. */
  SentRenewal sent(SessionId id, Duration ttl) {
    long now = micros.getAsLong();
    long end = now + LockRecord.micros(ttl);
    LastSent last =
        renewals.merge(
            id,
            new LastSent(1, now),
            // It may have a shorter TTL, and may be executed without an answer.
            (before, first) -> new LastSent(before.number() + 1, Math.min(before.end(), end)));
    return new SentRenewal(id, last.number(), end);
  }

  /** Of a session that is closed, nothing is known any more. */
  void forget(SessionId id) {
    renewals.remove(id);
  }

  /** For how many microseconds nobody may end the session; 0 if that is not known. */
  long left(SessionId id) {
    LastSent last = renewals.get(id);
    return last == null ? 0 : Math.max(0, last.end() - micros.getAsLong());
  }

  /** A renewal, until it is answered. */
  final class SentRenewal {
    private final SessionId id;
    private final long number;
    private final long end;

    private SentRenewal(SessionId id, long number, long end) {
      this.id = id;
      this.number = number;
      this.end = end;
    }

    /** Takes in its answer, and returns it. That of a renewal before the last one says nothing. */
    Renewal answered(Renewal renewal) {
      if (renewal instanceof Renewal.Renewed) {
        renewals.computeIfPresent(
            id, (unused, last) -> last.number() == number ? new LastSent(number, end) : last);
      } else {
        renewals.remove(id);
      }
      return renewal;
    }
  }
}
