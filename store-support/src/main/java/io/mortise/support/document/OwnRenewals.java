package io.mortise.support.document;

import io.mortise.spi.Renewal;
import io.mortise.spi.SessionId;
import io.mortise.support.table.LockRecord;
import java.time.Duration;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import java.util.function.LongSupplier;

/**
 * How long no process may end the sessions of this process, by the renewals that it sent. Others
 * count from their observation of a renewal, and the store's clock from its write: both are later.
 * So a step need not read its requester's session. Thread-safe.
 */
final class OwnRenewals {
  private final Map<SessionId, LastSent> renewals = new ConcurrentHashMap<>();
  private final LongSupplier micros;

  /**
   * The last renewal of a session.
   *
   * @param number the number of renewals sent so far, including this one
   * @param end no process may end the session before; in the past if that is not known
   */
  private record LastSent(long number, long end) {}

  /**
   * An instance that knows no session yet.
   *
   * @param micros the clock of sessions: the store's, or that of this process including the time
   *     for which its host was suspended
   */
  OwnRenewals(LongSupplier micros) {
    this.micros = micros;
  }

  /** Records a renewal sent now. It counts once answered; until then the previous one does. */
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

  /** Forgets a closed session. */
  void forget(SessionId id) {
    renewals.remove(id);
  }

  /** For how many microseconds no process may end the session; 0 if that is not known. */
  long left(SessionId id) {
    LastSent last = renewals.get(id);
    return last == null ? 0 : Math.max(0, last.end() - micros.getAsLong());
  }

  /** A renewal in flight. */
  final class SentRenewal {
    private final SessionId id;
    private final long number;
    private final long end;

    private SentRenewal(SessionId id, long number, long end) {
      this.id = id;
      this.number = number;
      this.end = end;
    }

    /** Records and returns its answer. The answer of an earlier renewal proves nothing. */
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
