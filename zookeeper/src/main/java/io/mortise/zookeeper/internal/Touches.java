package io.mortise.zookeeper.internal;

/**
 * When this session was surely heard of by the leader: the rule that says what a renewal is worth.
 *
 * <p><b>Why an answer alone is not enough.</b> Sessions are expired by the leader. A follower tells
 * it of the sessions that it has heard of in its answers to the leader's pings, twice a tick; a
 * request that it forwards is checked against the session, but does not prolong it. So a session
 * whose requests are answered may be about to expire.
 *
 * <p><b>The rule.</b> Three requests on one connection: one that was sent at {@code t}; a second,
 * sent at least a tick after the first was answered; a third, sent after the second was answered.
 * When the third is answered, the session lives until {@code t} plus its timeout at least. For
 * between the two first answers the leader sent a ping, and the follower has answered it, with the
 * note of the first request, before it passed on the answer to the second: both come to it in
 * order. And the note came to the leader before the third request: both leave the follower in
 * order. No part of this rests on how long anything takes; with fewer requests it would ({@code
 * TouchesModel}).
 *
 * <p>A renewal at {@code u} that promises a TTL from {@code u} needs such a {@code t} with {@code t
 * + timeout >= u + TTL}: the server's timeout is longer than the TTL by what lies between two
 * renewals. The renewal before is the first request, the renewal itself the second, and a read that
 * goes through the leader the third.
 *
 * <p>Times are those of the monotonic clock, in nanoseconds. Guarded by its session.
 */
final class Touches {
  private static final int KEPT = 16;

  private final long[] sent = new long[KEPT];
  private final long[] answered = new long[KEPT];
  private int count;
  private long connection;
  private final long relay;
  private boolean isProven;
  private long proven;

  /**
   * No touches yet.
   *
   * @param relay in how long the leader surely pings its followers
   */
  Touches(long relay) {
    this.relay = relay;
  }

  long relay() {
    return relay;
  }

  /** The leader made the session after that time. */
  void began(long at) {
    isProven = true;
    proven = at;
  }

  /** A request that was sent on that connection was answered by the leader. */
  void answered(long sentAt, long answeredAt, long on) {
    if (on != connection) {
      connection = on;
      count = 0;
    }
    for (int i = oldest(); i < count; i++) {
      if (isFollowed(i, sentAt)) {
        prove(sent[i % KEPT]);
      }
    }
    sent[count % KEPT] = sentAt;
    answered[count % KEPT] = answeredAt;
    count++;
  }

  private int oldest() {
    return Math.max(0, count - KEPT);
  }

  /** Whether another request came after that one, and was answered before {@code then}. */
  private boolean isFollowed(int first, long then) {
    for (int i = first + 1; i < count; i++) {
      boolean waited = sent[i % KEPT] - answered[first % KEPT] >= relay;
      if (waited && then - answered[i % KEPT] >= 0) {
        return true;
      }
    }
    return false;
  }

  private void prove(long at) {
    if (!isProven || at - proven > 0) {
      isProven = true;
      proven = at;
    }
  }

  /** Whether the session lives until {@code until} at least. */
  boolean reach(long until, long timeout) {
    return isProven && proven + timeout - until >= 0;
  }
}
