package io.mortise.spi;

import io.mortise.LockName;

/**
 * Tells a session of an action of another. Delivered at least once, by {@link StoreSession#renew};
 * also pushed as a hint if the store can, which may be lost, late or repeated.
 */
public sealed interface SessionNotification {
  /** The lock. */
  LockName name();

  /** The session's attempt that is concerned. */
  AttemptId attempt();

  /**
   * The waiting attempt was handed the lock; fields as in {@link Reply.Granted}. {@code timed}: the
   * hold has an at-most time, or must be confirmed by an acquire for another reason.
   */
  record HoldGranted(
      LockName name, AttemptId attempt, long token, int tokens, boolean wanted, boolean timed)
      implements SessionNotification {
    /** The notification, not to be trusted until a repeated acquire confirms it. */
    public HoldGranted unconfirmed() {
      return new HoldGranted(name, attempt, token, tokens, wanted, true);
    }
  }

  /**
   * Another attempt met this hold and has to wait. A store without {@link Capability#SESSION} may
   * send it as a hint only, before it answers the {@link Request.Abandon} of the hold.
   */
  record Contended(LockName name, AttemptId attempt) implements SessionNotification {}

  /**
   * The hold (or wait) was or will be ended by another client. With {@link Reply.EndReason#EVICTED}
   * the hold may still be shut in the store, waiting for its owner to abandon it.
   */
  record HoldEnded(LockName name, AttemptId attempt, Reply.EndReason how)
      implements SessionNotification {}

  /**
   * The lock that the attempt was refused may have become free: retry. A hint only, from stores
   * without a queue; never delivered by a renewal.
   */
  record MayBeFree(LockName name, AttemptId attempt) implements SessionNotification {}

  /**
   * The outer lock of this hold was lost ({@link io.mortise.OuterLocks}). The hold stays in the
   * store. A hint of the client itself, which no store sends.
   */
  record OuterLost(LockName name, AttemptId attempt) implements SessionNotification {}
}
