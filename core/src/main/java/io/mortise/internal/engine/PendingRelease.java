package io.mortise.internal.engine;

import io.mortise.LockName;
import io.mortise.internal.session.LiveSession;
import io.mortise.spi.AttemptId;
import io.mortise.spi.Reply;
import io.mortise.spi.Request;
import org.jspecify.annotations.Nullable;

/**
 * An attempt that is being ended in the store, and will be asked to end again until the store has
 * answered. Guarded by its stripe but for the outcome.
 */
final class PendingRelease {
  final LockName name;
  final LiveSession session;
  final AttemptId attempt;

  /** A request of the attempt may still be on its way, and be executed after the first end. */
  boolean doubtful;

  /** Takes back the at-least time of a grant that nobody used; sent before each abandon. */
  final Request.@Nullable Adjust waiver;

  /**
   * Somebody met the attempt, or handed the lock to it, while its end was on the way. It may have
   * been ended before and asked for again by a straggler, and nobody will be told of it twice.
   */
  boolean wanted;

  /**
   * When the hold began, in a store that tells only when it is given back whether others want it;
   * else null. Each grant of such a store says "wanted", so that is since when it is.
   */
  @Nullable Long heldSince;

  /** Neither somebody here nor, as far as is known, another process waits for it. */
  boolean later;

  int failures;

  /** The lease that was in somebody's hands, so that the store must still know of it; or null. */
  @Nullable LeaseImpl held;

  /** The store has answered, perhaps after its caller has given up. */
  boolean answered;

  /** It was a hold, and the store no longer knew it. */
  volatile boolean forgotten;

  private volatile Reply.@Nullable EndReason how;
  private @Nullable Runnable listener;

  PendingRelease(
      LockName name,
      LiveSession session,
      AttemptId attempt,
      boolean doubtful,
      Request.@Nullable Adjust waiver) {
    this.name = name;
    this.session = session;
    this.attempt = attempt;
    this.doubtful = doubtful;
    this.waiver = waiver;
  }

  /** What ended the attempt; null until that is known or given up. */
  Reply.@Nullable EndReason how() {
    return how;
  }

  /**
   * To be called when the outcome is known, with no lock held; at once if it is.
   *
   * @return whether it is known already, so that the listener was not kept
   */
  boolean whenKnown(Runnable wanted) {
    if (how != null) {
      return true;
    }
    listener = wanted;
    return false;
  }

  /** The first outcome counts. Returns who is to be told. */
  @Nullable Runnable known(Reply.EndReason outcome) {
    if (how != null) {
      return null;
    }
    how = outcome;
    Runnable told = listener;
    listener = null;
    return told;
  }
}
