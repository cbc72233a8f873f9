package io.mortise.spi.document;

import io.mortise.internal.liveness.HeartbeatMonitor;
import io.mortise.internal.table.LockRecord;
import io.mortise.internal.table.SessionDocument;
import io.mortise.spi.AttemptId;
import io.mortise.spi.SessionId;
import io.mortise.spi.time.Ticker;
import java.time.Duration;

/**
 * Replaces the clock of a server that has none. A session ends when this process has seen its
 * renewals stand still for a whole TTL. A hold that an operator has closed ends when this process
 * has seen it for so long. Thread-safe.
 *
 * <p>It counts renewals, not beats: a renewal whose answer was lost is sent again with the same
 * beat, and its owner counts from when it sent the last of them (invariants.md#validity-from-send).
 */
final class BeatObserver {
  private final HeartbeatMonitor<SessionId> renewals;
  private final HeartbeatMonitor<AttemptId> evictions;

  BeatObserver(Ticker ticker) {
    this.renewals = new HeartbeatMonitor<>(ticker);
    this.evictions = new HeartbeatMonitor<>(ticker);
  }

  /** Takes in a session that was read just now; to be called after it was received. */
  void observe(SessionId id, SessionDocument session) {
    if (!session.hasEnded()) {
      session.observed(renewals.left(id, session.renewals(), session.ttl()));
    }
  }

  /**
   * Takes in a hold that is closed and was read just now.
   *
   * @param ttl of its session: its owner hears of the eviction by its next renewal, or believes for
   *     no longer than that; zero if it is gone, or not known yet
   * @return for how many microseconds it stands yet
   */
  long shutFor(AttemptId hold, Duration ttl) {
    return ttl.isZero() ? LockRecord.NEVER : LockRecord.micros(evictions.left(hold, 0, ttl));
  }
}
