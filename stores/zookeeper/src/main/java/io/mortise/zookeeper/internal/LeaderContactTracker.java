package io.mortise.zookeeper.internal;

import java.util.ArrayList;
import java.util.Iterator;
import java.util.List;

/**
 * Tracks the latest time at which the leader surely knew that this session was alive: the rule that
 * bounds how long a renewal lasts.
 *
 * <p><b>Why an answer alone is not enough.</b> Sessions are expired by the leader. A follower tells
 * it of the sessions that it has heard of in its answers to the leader's pings, twice a tick; a
 * request that it forwards is checked against the session, but does not prolong it. So a session
 * whose requests are answered may be about to expire.
 *
 * <p><b>The rule.</b> Three requests on one connection, each answered by the leader: one that was
 * sent at {@code t}; a second, sent at least a tick after the first was answered; a third, sent
 * after the second was answered. When the third is answered, the session lives until {@code t} plus
 * its timeout at least. Between the first two answers the leader sent a ping. The follower answered
 * it, with the note of the first request, before it passed on the second answer, since both reach
 * it in order. That note reached the leader before the third request, since both leave the follower
 * in order. The only timing assumption is that the leader, which pings twice a tick, does so at
 * least once. The time in flight does not matter; with fewer requests it would ({@code
 * LeaderContactModel}).
 *
 * <p>A renewal at {@code u} that promises a TTL from {@code u} needs such a {@code t} with {@code t
 * + timeout >= u + TTL}. With a timeout as long as the TTL it is itself the first of the three. If
 * the timeout is longer by the interval of two renewals, the previous renewal may be the first,
 * this one the second, and a read through the leader the third.
 *
 * <p>Times are those of the monotonic clock, in nanoseconds. Guarded by its session.
 */
final class LeaderContactTracker {
  /**
   * Requests that may still be proven, usually four. Beyond this number new ones are not
   * remembered, and the first ones are kept: they are proven after a tick and two more requests,
   * and without them nothing ever would be.
   */
  private static final int MOST = 16;

  private final long relay;
  private final List<UnprovenContact> unprovenContacts = new ArrayList<>();
  private long connection;
  private boolean isProven;
  private long proven;

  /** An answered request that the leader is not yet proven to know of. */
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
   * Starts without contacts.
   *
   * @param relay the time within which the leader surely pings its followers
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

  /** The leader answered a request that was sent on that connection. */
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

  /** Whether the session lives at least until {@code until}. */
  boolean reach(long until, long timeout) {
    return isProven && proven + timeout - until >= 0;
  }
}
