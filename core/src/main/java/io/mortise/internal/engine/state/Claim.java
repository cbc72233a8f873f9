package io.mortise.internal.engine.state;

import io.mortise.HoldTerms;
import io.mortise.LockName;
import io.mortise.internal.session.LiveSession;
import io.mortise.internal.session.StoreOutage;
import io.mortise.internal.session.StoreSilence;
import io.mortise.internal.session.Validity;
import io.mortise.spi.AttemptId;
import io.mortise.spi.Mode;
import io.mortise.spi.Reply;
import io.mortise.spi.Request;
import io.mortise.spi.SessionId;
import java.util.Objects;
import org.jspecify.annotations.Nullable;

/**
 * A claim of this process on a lock: the threads that wait under it, and the one attempt that
 * stands for them in the store. Kept small, because a process may hold many: a claim that is merely
 * held has no queue and no contention state.
 *
 * <p>Passive: guarded by its stripe. Others call the named changes below, and write no field.
 */
public class Claim {
  private final LockName name;
  private final HoldTerms terms;
  private boolean joinable;

  /** The next claim in a chain of the {@link ClaimTable}. */
  private @Nullable Claim next;

  private Mode mode;

  private ClaimPhase phase = ClaimPhase.UNSENT;

  /** Session and number identify the attempt; a new attempt for the same waiters changes both. */
  private @Nullable LiveSession session;

  private long number;

  /** The next token to give out, and the number of tokens left. */
  private long token;

  private int tokensLeft;
  private @Nullable LeaseImpl holder;
  private boolean wanted;
  private boolean contended;
  private @Nullable WaitState wait;

  public enum ClaimPhase {
    /** Waits for a session. */
    UNSENT,
    /** Requested, perhaps queued. */
    ASKED,
    HELD,
    /** Over: no waiters and no hold. */
    DONE
  }

  /** The wait state of a claim; its waiters refer to it. */
  private static final class ClaimWaits extends WaitState {
    final Claim claim;

    ClaimWaits(Claim claim) {
      this.claim = claim;
    }
  }

  public Claim(LockName name, Mode mode, HoldTerms terms, boolean joinable) {
    this.name = name;
    this.mode = mode;
    this.terms = terms;
    this.joinable = joinable;
  }

  /** The claim under which a waiter stands; null if there is none. */
  public static @Nullable Claim of(Waiter waiter) {
    return waiter.ring() instanceof ClaimWaits own ? own.claim : null;
  }

  public LockName name() {
    return name;
  }

  public HoldTerms terms() {
    return terms;
  }

  public Mode mode() {
    return mode;
  }

  /** Narrows the hold's mode. */
  public void narrowed(Mode narrower) {
    mode = narrower;
  }

  @Nullable Claim next() {
    return next;
  }

  void next(@Nullable Claim claim) {
    next = claim;
  }

  /** Whether others of this process may join: the lock then passes between them without I/O. */
  public boolean isJoinable() {
    return joinable;
  }

  /** Excludes joins and local passes: the hold's mode now differs from that of its waiters. */
  public void isolate() {
    joinable = false;
  }

  /** Allows joins for a new attempt if the claim's kind does. */
  public void restoreJoinable() {
    joinable = mode.isExclusive() && mode.capacity() == Mode.SHARERS && !terms.isTimed();
  }

  public boolean isWanted() {
    return wanted;
  }

  /** Records that another waits for the lock; stays true as long as the attempt lives. */
  public void wanted(long now) {
    if (!wanted) {
      wanted = true;
      handoffState().wanted(now);
    }
  }

  /** Whether two or more local waiters have queued at the same time. */
  public boolean isContended() {
    return contended;
  }

  public void contended() {
    contended = true;
  }

  /** The open lease, or an evicted one that is not closed; null if there is none. */
  public @Nullable LeaseImpl holder() {
    return holder;
  }

  /** Sets the holder; the lease takes the next token if tokens are counted. */
  public void heldBy(LeaseImpl lease, boolean takesToken) {
    holder = lease;
    if (takesToken) {
      token++;
      tokensLeft--;
    }
  }

  public void free() {
    holder = null;
  }

  public long token() {
    return token;
  }

  public int tokensLeft() {
    return tokensLeft;
  }

  /** An exclusive upper bound of the claim's tokens. */
  public long tokenEnd() {
    return token + tokensLeft;
  }

  public void tokens(long first, int count) {
    token = first;
    tokensLeft = count;
  }

  public ClaimPhase phase() {
    return phase;
  }

  public void phase(ClaimPhase next) {
    boolean held = phase == ClaimPhase.HELD;
    boolean holds = next == ClaimPhase.HELD;
    phase = next;
    if (session != null && held && !holds) {
      session.holdEnds();
    } else if (session != null && holds && !held) {
      session.holdBegins();
    }
  }

  public @Nullable LiveSession session() {
    return session;
  }

  /** The session of a requested claim. */
  public LiveSession openSession() {
    return Objects.requireNonNull(session);
  }

  /** The attempt of a requested claim. */
  public AttemptId attempt() {
    return openSession().attempt(number);
  }

  public boolean isMarked() {
    return AttemptId.stickyNumber(number) == number;
  }

  /** Marks the claim as requested, with a new attempt. */
  public void asked(LiveSession through, long attempt) {
    session = through;
    number = attempt;
    phase(ClaimPhase.ASKED);
  }

  /** Postpones the request; the attempt has no number yet. */
  public void postponed() {
    phase(ClaimPhase.UNSENT);
    number = 0;
  }

  /** Clears all state of the previous attempt, for a new one with the same waiters. */
  public void beginAnew() {
    stopTimer();
    phase(ClaimPhase.UNSENT);
    wanted = false;
    if (wait != null) {
      wait.beginAnew();
    }
  }

  /** The longest waiting waiter. */
  public @Nullable Waiter head() {
    return wait == null ? null : wait.head();
  }

  /** The next waiter of the claim; null after the last. */
  public @Nullable Waiter after(Waiter waiter) {
    return wait == null ? null : wait.after(waiter);
  }

  /** Whether the attempt stands in the store's queue. */
  public boolean isQueued() {
    return wait != null && wait.isQueued();
  }

  /** How many attempts may be before this one in the store's queue, if it is queued. */
  public int ahead() {
    return wait == null ? 0 : wait.ahead();
  }

  /** Marks the attempt as queued, with the number of attempts that may be before it. */
  public void queued(int ahead) {
    waitState().queued(true, ahead);
  }

  /** Marks the attempt as no longer queued in the store. */
  public void leftQueue() {
    if (wait != null) {
      wait.queued(false, 0);
    }
  }

  public boolean isAsking() {
    return wait != null && wait.isAsking();
  }

  /**
   * Marks a request of the attempt as in flight.
   *
   * @param sent null for a judgement of another session
   */
  public void asks(@Nullable SentRequest sent) {
    waitState().asks(sent);
  }

  public void answered() {
    if (wait != null) {
      wait.answered();
      rest();
    }
  }

  public boolean isOutdated() {
    return wait != null && wait.isOutdated();
  }

  public void outdate() {
    waitState().outdate();
  }

  /** Records that a request of the attempt got no answer. */
  public void doubt() {
    waitState().doubt();
  }

  public boolean isInDoubt() {
    return wait != null && wait.isInDoubt();
  }

  /** Drops state that an idle hold does not need. */
  public void trim() {
    if (!isRefreshing()) {
      clearHandoffState();
    }
    rest();
  }

  /** Drops state that a merely held claim does not need. */
  private void rest() {
    if (phase == ClaimPhase.HELD && wait != null && !wait.isNeeded()) {
      wait = null;
    }
  }

  public boolean isAttempt(AttemptId id) {
    return number == id.number() && session != null && session.id().equals(id.session());
  }

  public boolean isOfSession(SessionId id) {
    return session != null && session.id().equals(id);
  }

  private WaitState waitState() {
    if (wait == null) {
      wait = new ClaimWaits(this);
    }
    return wait;
  }

  public HandoffState handoffState() {
    return waitState().handoffState();
  }

  public @Nullable HandoffState handoffStateOrNull() {
    return wait == null ? null : wait.handoffStateOrNull();
  }

  public void clearHandoffState() {
    if (wait != null) {
      wait.clearHandoffState();
    }
  }

  public boolean isRefreshing() {
    HandoffState present = handoffStateOrNull();
    return present != null && present.isRefreshing();
  }

  /** The sticky hold that a try waits for; null if there is none. */
  public @Nullable AttemptId calledBack() {
    return wait == null ? null : wait.calledBack();
  }

  public void calledBack(@Nullable AttemptId holder) {
    if (holder != null || wait != null) {
      waitState().calledBack(holder);
    }
  }

  public void saw(Reply.@Nullable Holder holder) {
    if (holder != null || wait != null) {
      waitState().saw(holder);
    }
  }

  /** An exclusive upper bound of all tokens known to be given out; 0 if none is known. */
  public long tokenFloor() {
    long own = tokenEnd();
    long seen = wait == null ? 0 : wait.seen();
    return seen == 0 ? own : Math.max(own, seen + Request.MAX_TOKENS);
  }

  /** The validity of its leases: the session's, or the part that a quorum's votes leave of it. */
  public @Nullable Validity validity() {
    return wait == null || wait.byQuorum() == null ? session : wait.byQuorum();
  }

  public void voted(Validity.ByQuorum validity) {
    waitState().voted(validity);
  }

  public int failures() {
    return wait == null ? 0 : wait.failures();
  }

  public void failures(int count) {
    if (count != failures()) {
      waitState().failures(count);
    }
  }

  /** Counts a grant that came after its at-most time was over; returns the count. */
  public int cameLate() {
    return waitState().cameLate();
  }

  /** Counts an answer that the lock is busy; returns the previous count. */
  public int poll() {
    return waitState().poll();
  }

  /** Clears the counters of the wait. */
  public void resetAfterGrant() {
    if (wait != null) {
      wait.granted();
    }
  }

  /** The store's latest failure; null since it answered. */
  public @Nullable Throwable storeFailure() {
    StoreOutage known = outageOrNull();
    return known == null ? null : known.failure();
  }

  /** Counts a proof that a session is dead. Returns how often in succession this one was. */
  public int judged(SessionId dead) {
    return waitState().judged(dead);
  }

  /** Records that a request sent at this time got no answer, or a refusal unrelated to the lock. */
  public void storeFailed(Throwable cause, long sentAt) {
    waitState().outage().failed(cause, sentAt);
  }

  /** The time since which the store is unfit for this claim; the present if it is not. */
  public long unfitSince(long now) {
    return waitState().outage().unfitSince(now);
  }

  public @Nullable StoreOutage outageOrNull() {
    return wait == null ? null : wait.outageOrNull();
  }

  /** Replaces the claim's timer. Returns the new one, which the caller starts. */
  public ClaimEffect.Timer timer(long delay, Runnable onDue) {
    stopTimer();
    ClaimEffect.Timer timer = new ClaimEffect.Timer(delay, onDue);
    waitState().timer(timer);
    return timer;
  }

  /**
   * The time since which the store owes an answer about the attempt; null if it does not.
   *
   * @param arrivedAt the begin of the waiter's wait
   * @param silence the store's silence; decides while the claim has sent nothing yet
   */
  public @Nullable Long silentSince(long arrivedAt, StoreSilence silence) {
    if (phase == ClaimPhase.UNSENT) {
      return isPostponed() ? null : silence.since(arrivedAt);
    }
    SentRequest sent = phase == ClaimPhase.ASKED && wait != null ? wait.sent() : null;
    return sent == null ? null : StoreOutage.later(sent.at(), arrivedAt);
  }

  public void add(Waiter waiter) {
    waitState().add(waiter);
  }

  public void remove(Waiter waiter) {
    showHolder(waiter);
    waitState().remove(waiter);
    rest();
  }

  /** Gives a waiter the holder that the store named last. */
  public void showHolder(Waiter waiter) {
    Reply.Holder named = phase == ClaimPhase.ASKED && wait != null ? wait.inTheWay() : null;
    waiter.noteHolder(
        named != null,
        named == null || isOfSession(named.attempt().session()) ? null : named.attempt());
  }

  public boolean hasSeveralWaiters() {
    return wait != null && wait.hasSeveral();
  }

  /** Whether there is a fair waiter, which no newcomer may pass. */
  public boolean hasFairWaiters() {
    return wait != null && wait.hasFair();
  }

  /** Whether its request is postponed: a timer will send it. */
  public boolean isPostponed() {
    return phase == ClaimPhase.UNSENT && wait != null && wait.hasTimer();
  }

  public void stopTimer() {
    if (wait != null) {
      wait.stopTimer();
    }
  }
}
