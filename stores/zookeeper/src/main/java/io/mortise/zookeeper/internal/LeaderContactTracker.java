package io.mortise.zookeeper.internal;

import java.util.ArrayList;
import java.util.Iterator;
import java.util.List;

/**
 * When this session was surely heard of by the leader: the rule that says what a renewal is worth.
 *
 * <p><b>Why an answer alone is not enough.</b> Sessions are expired by the leader. A follower tells
 * it of the sessions that it has heard of in its answers to the leader's pings, twice a tick; a
 * request that it forwards is checked against the session, but does not prolong it. So a session
 * whose requests are answered may be about to expire.
 *
 * <p><b>The rule.</b> Three requests on one connection, each answered by the leader: one that was
 * sent at {@code t}; a second, sent at least a tick after the first was answered; a third, sent
 * after the second was answered. When the third is answered, the session lives until {@code t} plus
 * its timeout at least. For between the two first answers the leader sent a ping, and the follower
 * has answered it, with the note of the first request, before it passed on the answer to the
 * second: both come to it in order. And the note came to the leader before the third request: both
 * leave the follower in order. Of times only this matters: the leader, which pings twice a tick,
 * does so once at least. How long anything is on its way does not; with fewer requests it would
 * ({@code LeaderContactModel}).
 *
 * <p>A renewal at {@code u} that promises a TTL from {@code u} needs such a {@code t} with {@code t
 * + timeout >= u + TTL}. With a timeout as long as the TTL it is itself the first of the three.
 * With one that is longer by what lies between two renewals, the renewal before may be the first,
 * this one the second, and a read that goes through the leader the third.
 *
 * <p>Times are those of the monotonic clock, in nanoseconds. Guarded by its session.
 */
final class LeaderContactTracker {
  /**
   * Requests that may yet be proven. There are four of them as a rule. When there are more, those
   * that come are not remembered, for the first ones must not be forgotten: in a tick and two more
   * requests they are proven, and without them nothing ever would be.
   */
  private static final int MOST = 16;

  private final long relay;
  private final List<UnprovenContact> unprovenContacts = new ArrayList<>();
  private long connection;
  private boolean isProven;
  private long proven;

  /** An answered request of which it is not yet proven that the leader knows. */
  private static final class UnprovenContact {
    final long sentAt;
    final long answeredAt;

    /** Whether a second request was answered, and when. */
    boolean isFollowed;

    long followedAt;

    UnprovenContact(long sentAt, long answeredAt) {
      this.sentAt = sentAt;
      this.answeredAt = answeredAt;
    }
  }

  /**
   * No touches yet.
   *
   * @param relay in how long the leader surely pings its followers
   */
  LeaderContactTracker(long relay) {
    this.relay = relay;
  }

  long relay() {
    return relay;
  }

  /** The leader heard of the session after that time. */
  void heard(long after) {
    if (!isProven || after - proven > 0) {
      isProven = true;
      proven = after;
    }
  }

  /** A request that was sent on that connection was answered by the leader. */
  void answered(long sentAt, long answeredAt, long on) {
    if (on != connection) {
      connection = on;
      unprovenContacts.clear();
    }
    for (Iterator<UnprovenContact> each = unprovenContacts.iterator(); each.hasNext(); ) {
      UnprovenContact unprovenContact = each.next();
      if (unprovenContact.isFollowed && sentAt - unprovenContact.followedAt >= 0) {
        heard(unprovenContact.sentAt);
        each.remove();
      } else if (!unprovenContact.isFollowed && sentAt - unprovenContact.answeredAt >= relay) {
        unprovenContact.isFollowed = true;
        unprovenContact.followedAt = answeredAt;
      }
    }
    if (unprovenContacts.size() < MOST) {
      unprovenContacts.add(new UnprovenContact(sentAt, answeredAt));
    }
  }

  /** Whether one more answer proves that the session lives until {@code until}. */
  boolean isNear(long until, long timeout) {
    return unprovenContacts.stream()
        .anyMatch(
            unprovenContact ->
                unprovenContact.isFollowed && unprovenContact.sentAt + timeout - until >= 0);
  }

  /** Whether the session lives until {@code until} at least. */
  boolean reach(long until, long timeout) {
    return isProven && proven + timeout - until >= 0;
  }
}
