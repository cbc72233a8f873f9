package io.mortise.zookeeper.internal;

/**
 * When this session was surely heard of by the leader: the rule that says what a renewal is worth.
 *
 * <p><b>Why an answer alone is not enough.</b> Sessions are expired by the leader. A follower tells
 * it of the sessions that it has heard of in its answers to the leader's pings, twice a tick; a
 * request that it forwards is checked against the session, but does not prolong it. So a session
 * whose requests are answered may be about to expire.
 *
 * <p><b>The rule.</b> A request that was sent at {@code t} is noted by the server at once. If
 * another one, sent on the same connection at least a tick later, is answered after it went through
 * the leader, the note has reached the leader before it, for both travel on one connection in
 * order. The session then lives until {@code t} plus its timeout at least. A renewal at {@code u}
 * that promises a TTL from {@code u} needs such a {@code t} with {@code t + timeout >= u + TTL}:
 * the server's timeout is longer than the TTL by what lies between two renewals. Where none is
 * found, the renewal is completed by a second request, a tick later.
 *
 * <p>Times are those of the monotonic clock, in nanoseconds. Guarded by its session.
 */
final class Touches {
  private static final int KEPT = 16;

  private final long[] times = new long[KEPT];
  private int count;
  private long connection;
  private final long relay;

  /**
   * No touches yet.
   *
   * @param relay after how long what a follower has heard has reached the leader
   */
  Touches(long relay) {
    this.relay = relay;
  }

  long relay() {
    return relay;
  }

  /** A request was sent on that connection, and answered. */
  void add(long sentAt, long on) {
    if (on != connection) {
      connection = on;
      count = 0;
    }
    times[count++ % KEPT] = sentAt;
  }

  /**
   * Whether an answer to what was sent at {@code sentAt} proves that the session lives until {@code
   * until} at least.
   */
  boolean prove(long sentAt, long on, long timeout, long until) {
    if (on != connection) {
      return false;
    }
    for (int i = Math.max(0, count - KEPT); i < count; i++) {
      long touch = times[i % KEPT];
      if (sentAt - touch >= relay && touch + timeout - until >= 0) {
        return true;
      }
    }
    return false;
  }
}
