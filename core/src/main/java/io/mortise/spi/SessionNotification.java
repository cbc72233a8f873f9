package io.mortise.spi;

import io.mortise.LockName;

/**
 * What a session should know of what others did. Delivered at least once, by {@link
 * StoreSession#renew}; also pushed as a hint where the store can, which may be lost, late or
 * repeated.
 */
public sealed interface SessionNotification {
  /** The lock. */
  LockName name();

  /** The session's attempt that the notification is about. */
  AttemptId attempt();

  /**
   * The waiting attempt was handed the lock; fields as in {@link Reply.Granted}. {@code timed}: it
   * has an at-most time, or for another reason has to be asked for.
   */
  record HoldGranted(
      LockName name, AttemptId attempt, long token, int tokens, boolean wanted, boolean timed)
      implements SessionNotification {
    /** The same, not to be believed before an acquire that is sent again says so too. */
    public HoldGranted unconfirmed() {
      return new HoldGranted(name, attempt, token, tokens, wanted, true);
    }
  }

  /**
   * Somebody else met this hold and cannot go on. A store without {@link Capability#SESSION} may
   * tell it as a hint only, before it answers the {@link Request.Abandon} of the hold.
   */
  record Contended(LockName name, AttemptId attempt) implements SessionNotification {}

  /**
   * The hold (or wait) was or will be ended by somebody else. With {@link Reply.EndReason#EVICTED}
   * the hold may still be shut in the store, waiting for its owner to abandon it.
   */
  record HoldEnded(LockName name, AttemptId attempt, Reply.EndReason how)
      implements SessionNotification {}

  /**
   * The lock that the attempt was refused may have become free: ask again. A hint only, from stores
   * without a queue; never told by a renewal.
   */
  record MayBeFree(LockName name, AttemptId attempt) implements SessionNotification {}
}
