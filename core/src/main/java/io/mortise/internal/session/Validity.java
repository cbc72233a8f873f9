package io.mortise.internal.session;

import io.mortise.spi.Votes;
import org.jspecify.annotations.Nullable;

/** What a lease hangs on: valid for as long as this says. */
public interface Validity {
  /** On the engine's ticker; {@link Long#MIN_VALUE} once it is over for good. */
  long validUntil();

  /** What the lease is held through. */
  LiveSession session();

  /**
   * The session's validity, cut short by what the members of a quorum that granted vouch for. It
   * moves on with their renewals.
   */
  record ByQuorum(LiveSession session, Votes votes) implements Validity {
    @Override
    public long validUntil() {
      // The votes first: what is lost later shows in the session too, or in the next look.
      long from = votes.countedFrom();
      long until = session.validUntil();
      if (from == Long.MIN_VALUE || until == Long.MIN_VALUE) {
        return Long.MIN_VALUE;
      }
      long end = session.deadline(from);
      return until - end < 0 ? until : end;
    }
  }

  /**
   * Another validity, cut short by an at-most time.
   *
   * @param whole the session's, or that of the votes
   * @param suspendedNanos how long the host was known to have slept when the time began to run
   * @param shortest the shortest time that was asked for lately; null if none was
   */
  record Capped(
      LiveSession session,
      Validity whole,
      long deadline,
      long suspendedNanos,
      @Nullable RecentAtMost shortest)
      implements Validity {
    @Override
    public long validUntil() {
      long until = whole.validUntil();
      long end = atMostUntil();
      return until == Long.MIN_VALUE || until - end < 0 ? until : end;
    }

    /** When the at-most time itself is over. */
    public long atMostUntil() {
      return deadline - (session.suspendedNanos() - suspendedNanos);
    }
  }

  /**
   * The store may have forgotten the hold. Not valid until it has confirmed it.
   *
   * @param before what the lease hung on, and hangs on again then
   */
  record Unconfirmed(Validity before) implements Validity {
    @Override
    public long validUntil() {
      return Long.MIN_VALUE;
    }

    @Override
    public LiveSession session() {
      return before.session();
    }
  }

  /**
   * A request for an at-most time, on its way or not long ago. A straggler of it may yet count that
   * time anew, after a longer one was granted.
   */
  record RecentAtMost(long sentAt, long nanos) {
    /** When a hold is over for which this much was left, as was answered to a request. */
    public long deadline(long askedAt, long left) {
      if (askedAt - sentAt > 0) {
        return askedAt + Math.min(left, nanos);
      }
      // By difference, since the clock may pass the end of the numbers.
      long answered = askedAt + left;
      long feared = sentAt + nanos;
      return answered - feared < 0 ? answered : feared;
    }
  }
}
