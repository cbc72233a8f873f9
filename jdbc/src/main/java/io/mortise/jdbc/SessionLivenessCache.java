package io.mortise.jdbc;

import io.mortise.internal.table.LockRecord;
import io.mortise.jdbc.table.StoreConnection;
import io.mortise.spi.Renewal;
import java.time.Duration;
import org.jspecify.annotations.Nullable;

/**
 * What a session knows of its life in the store, so that not each acquire has to look. Until when
 * it lives, the last renewal said, and the store compares that with its own clock. What only a look
 * shows is that its row is gone although its time is not over, since somebody deleted it: that is
 * looked for once a second, and on each new connection, which may lead to a server that was set
 * back. Other processes would take such a session's locks over, those that it holds and those that
 * it is given in that second.
 */
final class SessionLivenessCache {
  /** So long a look is good for. */
  private static final long GOOD_NANOS = 1_000_000_000;

  /** Of the last renewal that was confirmed. */
  private volatile long inForce;

  /** By the store's clock; 0 if that is not known. */
  private volatile long until;

  // Used by the leader of the ConnectionExecutor only.
  private @Nullable StoreConnection lookedOn;
  private long lookedAt;

  /** A renewal is sent: it may end the session sooner than the last one said. */
  void renews(Duration ttl) {
    if (LockRecord.micros(ttl) < inForce) {
      until = 0;
    }
  }

  /** What came of it. */
  void renewed(Renewal renewal, Duration ttl) {
    if (renewal instanceof Renewal.Renewed renewed) {
      inForce = LockRecord.micros(ttl);
      until = renewed.storeMicros() + inForce;
    } else if (renewal instanceof Renewal.Lost) {
      until = 0;
    }
  }

  /** It ends. */
  void ends() {
    until = 0;
  }

  /** Until when it lives, if that need not be looked at on this connection; else 0. */
  long until(StoreConnection storeConnection, long now) {
    return lookedOn == storeConnection && now - lookedAt < GOOD_NANOS ? until : 0;
  }

  /** It was seen alive by a statement that was sent then. */
  void seen(StoreConnection storeConnection, long sent) {
    lookedOn = storeConnection;
    lookedAt = sent;
  }
}
