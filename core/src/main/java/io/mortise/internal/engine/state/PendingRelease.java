package io.mortise.internal.engine.state;

import io.mortise.LockName;
import io.mortise.internal.session.LiveSession;
import io.mortise.spi.AttemptId;
import io.mortise.spi.Reply.EndReason;
import io.mortise.spi.Request;
import org.jspecify.annotations.Nullable;

/**
 * An attempt that is being ended in the store, and will be asked to end again until the store has
 * answered. Guarded by its stripe but for the outcome.
 */
public final class PendingRelease {
  private final LockName name;
  private final LiveSession session;
  private final AttemptId attempt;
  private final Request.@Nullable Adjust waiver;

  /** A request of the attempt may still be on its way, and be executed after the first end. */
  private boolean doubtful;

  /**
   * Somebody met the attempt, or handed the lock to it, while its end was on the way. It may have
   * been ended before and asked for again by a straggler, and nobody will be told of it twice.
   */
  private boolean wanted;

  /**
   * When the hold began, in a store that tells only when it is given back whether others want it;
   * else null. Each grant of such a store says "wanted", so that is since when it is.
   */
  private @Nullable Long heldSince;

  /** Neither somebody here nor, as far as is known, another process waits for it. */
  private boolean later;

  private int failures;

  /** A lease of it was in somebody's hands, so that the store must still know of it. */
  private boolean leased;

  /** The token of that lease. */
  private long token;

  /** The store has answered, perhaps after its caller has given up. */
  private boolean answered;

  /** It was a hold, and the store no longer knew it. */
  private volatile boolean forgotten;

  private volatile @Nullable EndReason how;
  private @Nullable Runnable listener;

  /**
   * An end that nobody has asked the store for yet.
   *
   * @param doubtful whether a request of the attempt may be executed after the first end
   * @param waiver takes back the at-least time of a grant that nobody used; sent before each
   *     abandon
   * @param later whether it may travel with what is sent next
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

  /** The same attempt is being ended once more, and may be in doubt by now. */
  public void merge(PendingRelease other) {
    doubtful |= other.doubtful;
  }

  /** Somebody met the attempt while its end was on the way. */
  public void wanted() {
    wanted = true;
  }

  /** Since when the hold was wanted, if its end tells that it was; null if it may not tell. */
  public void heldSince(@Nullable Long since) {
    heldSince = since;
  }

  /** A lease with this token hung on the hold. */
  public void leased(long leaseToken) {
    leased = true;
    token = leaseToken;
  }

  /** The token of the lease that hung on it. */
  public long token() {
    return token;
  }

  /** Whether the next request may travel with what is sent next; true once at most. */
  public boolean takeLater() {
    boolean was = later;
    later = false;
    return was;
  }

  /** Whether the store may not have heard of the end. */
  public boolean isUnheard() {
    return failures > 0;
  }

  /** The store did not answer. Returns how often that was so before. */
  public int failed() {
    return failures++;
  }

  /**
   * The store has ended the attempt.
   *
   * @return whether its caller had given up by now, so that a loss has to be reported
   */
  public boolean ended(EndReason reason) {
    // Else an earlier request, whose answer was lost, may have ended it.
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

  /** Whether {@link #takeWantedSince} tells something. */
  public boolean tellsWanted() {
    return heldSince != null;
  }

  /** Since when others are known to want the lock; null if they do not. */
  public @Nullable Long takeWantedSince() {
    Long since = wanted ? heldSince : null;
    // Else the abandon would be sent again.
    wanted = false;
    return since;
  }

  /** Whether the end was asked for by others; true once for all of them. */
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

  /** What ended the attempt; null until that is known or given up. */
  public @Nullable EndReason how() {
    return how;
  }

  /**
   * To be called when the outcome is known, with no lock held; at once if it is.
   *
   * @return whether it is known already, so that the listener was not kept
   */
  public boolean whenKnown(Runnable told) {
    if (how != null) {
      return true;
    }
    listener = told;
    return false;
  }

  /** The first outcome counts. Returns who is to be told. */
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
