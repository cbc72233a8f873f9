package io.mortise.internal.session;

import io.mortise.spi.Votes;
import java.util.OptionalLong;
import org.jspecify.annotations.Nullable;

/** What a lease hangs on: valid for as long as this says. */
public interface Validity {
  /**
   * When it is over if it is not extended, on the engine's ticker: not after the present if it is
   * over.
   */
  long validUntil();

  /** How long it lasts from now on, in nanoseconds; zero or less if it is over. */
  default long leftNanos() {
    // The clock last: a thread that stands still in between sees less, not more.
    long until = validUntil();
    return until - session().now();
  }

  /** Whether it is over. */
  default boolean isOver() {
    return leftNanos() <= 0;
  }

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
      OptionalLong from = votes.countedFrom();
      return from.isEmpty()
          ? session.now()
          : earlier(session.validUntil(), session.deadline(from.getAsLong()));
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
      return earlier(whole.validUntil(), atMostUntil());
    }

    private long atMostUntil() {
      return deadline - (session.suspendedNanos() - suspendedNanos);
    }

    /** Whether the at-most time itself is over, not only what it cuts short. */
    public boolean isAtMostOver() {
      return atMostUntil() - session.now() <= 0;
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
      return session().now();
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
      return earlier(askedAt + left, sentAt + nanos);
    }
  }

  private static long earlier(long one, long other) {
    // By difference, since the clock may pass the end of the numbers.
    return one - other < 0 ? one : other;
  }
}
