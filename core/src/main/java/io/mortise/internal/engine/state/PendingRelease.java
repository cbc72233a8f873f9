package io.mortise.internal.engine.state;

import io.mortise.LockName;
import io.mortise.internal.session.LiveSession;
import io.mortise.spi.AttemptId;
import io.mortise.spi.Reply.EndReason;
import io.mortise.spi.Request;
import org.jspecify.annotations.Nullable;

/**
 * An attempt that is being ended in the store, with retries until the store has answered. Guarded
 * by its stripe except for the outcome.
 */
public final class PendingRelease {
  private final LockName name;
  private final LiveSession session;
  private final AttemptId attempt;
  private final Request.@Nullable Adjust waiver;

  /** A request of the attempt may still be in flight, and be executed after the first end. */
  private boolean doubtful;

  /**
   * Another attempt met this one, or handed the lock to it, while its end was in flight. It may
   * have been ended before and granted again by a straggler, and the store leaves no second note.
   */
  private boolean wanted;

  /**
   * The begin of the hold, in a store that reports only in the answer to a release whether others
   * want it; else null. Each grant of such a store says "wanted", so the hold is wanted since its
   * begin.
   */
  private @Nullable Long heldSince;

  /** No caller of this process and no known other process waits for it. */
  private boolean later;

  private int failures;

  /** A lease of it was given to a caller, so the store must still know the hold. */
  private boolean leased;

  /** The token of that lease. */
  private long token;

  /** The store has answered, perhaps after the caller has given up. */
  private boolean answered;

  /** It was a hold, and the store no longer knew it. */
  private volatile boolean forgotten;

  private volatile @Nullable EndReason how;
  private @Nullable Runnable listener;

  /**
   * An end that has not been sent yet.
   *
   * @param doubtful whether a request of the attempt may be executed after the first end
   * @param waiver resets the at-least time of an unused grant; sent before each abandon
   * @param later whether it may share a message with the next request
   */
  public PendingRelease(
      LockName name,
      LiveSession session,
      AttemptId attempt,
      boolean doubtful,
      Request.@Nullable Adjust waiver,
      boolean later) {
    this.name = name;
    this.session = session;
    this.attempt = attempt;
    this.doubtful = doubtful;
    this.waiver = waiver;
    this.later = later;
  }

  public LockName name() {
    return name;
  }

  public LiveSession session() {
    return session;
  }

  public AttemptId attempt() {
    return attempt;
  }

  public Request.@Nullable Adjust waiver() {
    return waiver;
  }

  /** Merges another end of the same attempt, which may be in doubt by now. */
  public void merge(PendingRelease other) {
    doubtful |= other.doubtful;
  }

  /** Records that another attempt met this one while its end was in flight. */
  public void wanted() {
    wanted = true;
  }

  /** Sets the time since which the hold was wanted; null if its end cannot show that it was. */
  public void heldSince(@Nullable Long since) {
    heldSince = since;
  }

  /** Records that a lease had this token. */
  public void leased(long leaseToken) {
    leased = true;
    token = leaseToken;
  }

  /** The token of its lease. */
  public long token() {
    return token;
  }

  /** Whether the next request may share a message with a later one; true once at most. */
  public boolean takeLater() {
    boolean was = later;
    later = false;
    return was;
  }

  /** Whether the store may not have received the end. */
  public boolean isUnheard() {
    return failures > 0;
  }

  /** Counts a missing answer of the store. Returns the previous count. */
  public int failed() {
    return failures++;
  }

  /**
   * Records that the store has ended the attempt.
   *
   * @return whether its caller had given up by now, so that a loss has to be reported
   */
  public boolean ended(EndReason reason) {
    // Otherwise an earlier request, whose answer was lost, may have ended it.
    forgotten |=
        leased
            && failures == 0
            && !answered
            && reason == EndReason.UNKNOWN
            && session.mayBeForgotten();
    boolean unreported = !answered && how != null && leased;
    answered = true;
    return unreported;
  }

  /** Whether {@link #takeWantedSince} has a result. */
  public boolean tellsWanted() {
    return heldSince != null;
  }

  /** The time since which others are known to want the lock; null if they do not. */
  public @Nullable Long takeWantedSince() {
    Long since = wanted ? heldSince : null;
    // Otherwise the abandon would be sent again.
    wanted = false;
    return since;
  }

  /** Whether others wanted the end; true once for all of them. */
  public boolean takeWanted() {
    boolean was = wanted;
    wanted = false;
    return was;
  }

  /** Whether the attempt is to be ended once more after the longest time in flight; true once. */
  public boolean takeDoubt() {
    boolean was = doubtful;
    doubtful = false;
    return was;
  }

  /** Whether it was a hold that the store no longer knew. */
  public boolean isForgotten() {
    return forgotten;
  }

  /** The cause of the attempt's end; null until that is known or given up. */
  public @Nullable EndReason how() {
    return how;
  }

  /**
   * Registers a callback for the outcome, called with no lock held.
   *
   * @return whether the outcome is known already, so that the callback was not kept
   */
  public boolean whenKnown(Runnable told) {
    if (how != null) {
      return true;
    }
    listener = told;
    return false;
  }

  /** Sets the outcome; the first one counts. Returns the callback to run. */
  public @Nullable Runnable known(EndReason outcome) {
    if (how != null) {
      return null;
    }
    how = outcome;
    Runnable told = listener;
    listener = null;
    return told;
  }
}
