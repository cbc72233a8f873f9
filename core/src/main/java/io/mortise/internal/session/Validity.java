package io.mortise.internal.session;

import io.mortise.spi.Votes;
import java.util.OptionalLong;
import org.jspecify.annotations.Nullable;

/** The validity of a lease. */
public interface Validity {
  /** Its end without an extension, on the engine's ticker: not after the present if it is over. */
  long validUntil();

  /** The remaining time in nanoseconds; zero or less if it is over. */
  default long leftNanos() {
    // The clock is read last: a thread paused in between sees less remaining time, not more.
    long until = validUntil();
    return until - session().now();
  }

  /** Whether it is over. */
  default boolean isOver() {
    return leftNanos() <= 0;
  }

  /** The session of the lease. */
  LiveSession session();

  /**
   * The session's validity, limited by the members of a quorum that confirm the grant. It moves on
   * with their renewals.
   */
  record ByQuorum(LiveSession session, Votes votes) implements Validity {
    @Override
    public long validUntil() {
      // The votes first: a later loss shows in the session too, or at the next check.
      OptionalLong from = votes.countedFrom();
      return from.isEmpty()
          ? session.now()
          : earlier(session.validUntil(), session.deadline(from.getAsLong()));
    }
  }

  /**
   * Another validity, limited by an at-most time.
   *
   * @param whole the validity of the session, or of the votes
   * @param suspendedNanos the host's known suspension when the time began to run
   * @param shortest the shortest time requested lately; null if there is none
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

    /** Whether the at-most time itself is over, and not only the validity below it. */
    public boolean isAtMostOver() {
      return atMostUntil() - session.now() <= 0;
    }
  }

  /**
   * The validity of a hold that the store may have forgotten: none until the store has confirmed
   * it.
   *
   * @param before the validity before, and again after the confirmation
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
   * A recent request for an at-most time. A straggler of it may still restart that time, after a
   * longer one was granted.
   */
  record RecentAtMost(long sentAt, long nanos) {
    /** The end of a hold with this rest of its time in the answer to a request. */
    public long deadline(long askedAt, long left) {
      if (askedAt - sentAt > 0) {
        return askedAt + Math.min(left, nanos);
      }
      return earlier(askedAt + left, sentAt + nanos);
    }
  }

  private static long earlier(long one, long other) {
    // By difference, because the clock may overflow.
    return one - other < 0 ? one : other;
  }
}
