package io.mortise.support.internal.session;

import io.mortise.LockName;
import io.mortise.spi.AttemptId;
import io.mortise.spi.Mode;
import io.mortise.spi.Renewal;
import io.mortise.spi.Reply.EndReason;
import io.mortise.spi.Reply.RefusalReason;
import io.mortise.spi.Reply.Refused;

/**
 * The refusals of requests and renewals that several stores give, each with one message. {@link
 * io.mortise.spi.StoreProfile#refusal} refuses requests that need a missing capability; a store has
 * a refusal of its own only if no other store gives it.
 */
public final class Refusals {
  /** Refuses a renewal: the store ended the session, because its TTL had passed. */
  public static final Renewal.Lost SESSION_EXPIRED =
      new Renewal.Lost("the session expired in the store");

  /** Refuses a renewal: the store has another beat than the one that this process sent last. */
  public static final Renewal.Lost RENEWED_BY_ANOTHER =
      new Renewal.Lost("another process renews the same session");

  /** Refuses a renewal: this process closed the session. */
  public static final Renewal.Lost SESSION_CLOSED = new Renewal.Lost("the session was closed");

  private Refusals() {}

  /** The session expired in the store, or was never opened there. */
  public static Refused sessionGone(AttemptId attempt) {
    return new Refused(
        attempt,
        RefusalReason.SESSION_GONE,
        "The session of this attempt is not alive in the store.");
  }

  /** This process closed the session, and sends nothing more for it. */
  public static Refused sessionClosed(AttemptId attempt) {
    return new Refused(
        attempt, RefusalReason.SESSION_GONE, "The session of this attempt was closed.");
  }

  /** The store does not know, or does not report, the cause of the attempt's end. */
  public static Refused ended(AttemptId attempt) {
    return new Refused(attempt, RefusalReason.ENDED, "The attempt has ended.");
  }

  /** The store remembers the cause of the attempt's end. */
  public static Refused ended(AttemptId attempt, EndReason endReason) {
    return new Refused(
        attempt,
        endReason == EndReason.EVICTED ? RefusalReason.EVICTED : RefusalReason.ENDED,
        "The attempt has ended: " + endReason + ".");
  }

  /** An adjust of an attempt that has no hold, or none any more. */
  public static Refused notHeld(AttemptId attempt, LockName name) {
    return new Refused(
        attempt, RefusalReason.NOT_HELD, "The attempt does not hold lock '" + name + "'.");
  }

  /** An adjust to a greater weight than the hold has. */
  public static Refused cannotWiden(AttemptId attempt, LockName name) {
    return new Refused(
        attempt, RefusalReason.UNSUPPORTED, "A hold on lock '" + name + "' cannot be widened.");
  }

  /**
   * The lock was created with another capacity.
   *
   * @param present the present capacity
   * @param asked the capacity of the request
   */
  public static Refused capacityDiffers(AttemptId attempt, LockName name, int present, int asked) {
    return new Refused(
        attempt,
        RefusalReason.CAPACITY_DIFFERS,
        "Lock '%s' exists as %s, not as %s. Use it as that, or another name."
            .formatted(name, kind(present), kind(asked)));
  }

  /** As above, from a store that does not know the capacity of the request. */
  public static Refused capacityDiffers(AttemptId attempt, LockName name, int present) {
    return new Refused(
        attempt,
        RefusalReason.CAPACITY_DIFFERS,
        "Lock '%s' exists as %s. Use it as that, or another name.".formatted(name, kind(present)));
  }

  /** The kind of lock with this capacity, in messages. */
  private static String kind(int capacity) {
    return capacity == Mode.SHARERS ? "a lock" : "a semaphore of " + capacity + " permits";
  }
}
