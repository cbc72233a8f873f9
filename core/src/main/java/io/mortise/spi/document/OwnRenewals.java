package io.mortise.spi.document;

import io.mortise.internal.table.LockRecord;
import io.mortise.spi.Renewal;
import io.mortise.spi.SessionId;
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
  private final Map<SessionId, Long> ends = new ConcurrentHashMap<>();
  private final LongSupplier micros;

  /**
   * Knows no session yet.
   *
   * @param micros the clock by which sessions live: the store's, or this process's own monotonic
   *     one
   */
  OwnRenewals(LongSupplier micros) {
    this.micros = micros;
  }

  /** A renewal that is sent now. It counts when it was answered; until then the one before does. */
  SentRenewal sent(SessionId id, Duration ttl) {
    long end = micros.getAsLong() + LockRecord.micros(ttl);
    // It may have a shorter TTL, and may be executed without an answer.
    ends.computeIfPresent(id, (unused, before) -> Math.min(before, end));
    return new SentRenewal(id, end);
  }

  /** Of a session that is closed, nothing is known any more. */
  void forget(SessionId id) {
    ends.remove(id);
  }

  /** For how many microseconds nobody may end the session; 0 if that is not known. */
  long left(SessionId id) {
    Long end = ends.get(id);
    return end == null ? 0 : Math.max(0, end - micros.getAsLong());
  }

  /** A renewal, until it is answered. */
  final class SentRenewal {
    private final SessionId id;
    private final long end;

    SentRenewal(SessionId id, long end) {
      this.id = id;
      this.end = end;
    }

    /** Takes in its answer, and returns it. */
    Renewal answered(Renewal renewal) {
      if (renewal instanceof Renewal.Renewed) {
        ends.put(id, end);
      } else {
        ends.remove(id);
      }
      return renewal;
    }
  }
}
