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
 * stands for them in the store. Kept small, for a process may hold many: a claim that is merely
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

  /** Session and number are the attempt; a new attempt for the same waiters changes both. */
  private @Nullable LiveSession session;

  private long number;

  /** The next token to give out, and how many are left. */
  private long token;

  private int tokensLeft;
  private @Nullable LeaseImpl holder;
  private boolean wanted;
  private boolean contended;
  private @Nullable WaitState wait;

  public enum ClaimPhase {
    /** Waits for a session. */
    UNSENT,
    /** Asked for, perhaps queued. */
    ASKED,
    HELD,
    /** Nothing stands under it any more. */
    DONE
  }

  /** The waiters of a claim know it by this. */
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

  /** The claim under which a waiter stands; null if it stands under none. */
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

  /** The hold was narrowed. */
  public void narrowed(Mode narrower) {
    mode = narrower;
  }

  @Nullable Claim next() {
    return next;
  }

  void next(@Nullable Claim claim) {
    next = claim;
  }

  /**
   * Whether others of this process may stand under it: then it goes from hand to hand without I/O.
   */
  public boolean isJoinable() {
    return joinable;
  }

  /** The hold is no longer like those that wait for it: it is not passed on, but released. */
  public void isolate() {
    joinable = false;
  }

  /** It begins anew: others may stand under it again if its kind allows that. */
  public void restoreJoinable() {
    joinable = mode.isExclusive() && mode.capacity() == Mode.SHARERS && !terms.isTimed();
  }

  public boolean isWanted() {
    return wanted;
  }

  /** Somebody else waits for the lock, for as long as the attempt lives. */
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

  /** The lease that is open, or evicted and not closed; null if nobody of this process holds. */
  public @Nullable LeaseImpl holder() {
    return holder;
  }

  /** A lease takes the next token, if tokens are counted. */
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

  /** Every token of the claim is less. */
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

  /** The session of a claim that was asked for. */
  public LiveSession openSession() {
    return Objects.requireNonNull(session);
  }

  /** The attempt of a claim that was asked for. */
  public AttemptId attempt() {
    return openSession().attempt(number);
  }

  public boolean isMarked() {
    return AttemptId.stickyNumber(number) == number;
  }

  /** A new attempt is asked for. */
  public void asked(LiveSession through, long attempt) {
    session = through;
    number = attempt;
    phase(ClaimPhase.ASKED);
  }

  /** It is asked for later, as an attempt that has no number yet. */
  public void postponed() {
    phase(ClaimPhase.UNSENT);
    number = 0;
  }

  /** A new attempt for the same waiters: of the one before, nothing counts any more. */
  public void beginAnew() {
    stopTimer();
    phase(ClaimPhase.UNSENT);
    wanted = false;
    if (wait != null) {
      wait.beginAnew();
    }
  }

  /** The one who has waited longest. */
  public @Nullable Waiter head() {
    return wait == null ? null : wait.head();
  }

  /** The waiter that came after another of the claim; null after the last. */
  public @Nullable Waiter after(Waiter waiter) {
    return wait == null ? null : wait.after(waiter);
  }

  /** Whether the attempt stands in the store's queue. */
  public boolean isQueued() {
    return wait != null && wait.isQueued();
  }

  /** How many may be before the attempt in the store's queue, if it is queued. */
  public int ahead() {
    return wait == null ? 0 : wait.ahead();
  }

  /** The attempt stands in the store's queue, and so many may be before it. */
  public void queued(int ahead) {
    waitState().queued(true, ahead);
  }

  /** The attempt does not stand in the store's queue any more. */
  public void leftQueue() {
    if (wait != null) {
      wait.queued(false, 0);
    }
  }

  public boolean isAsking() {
    return wait != null && wait.isAsking();
  }

  /**
   * A request of the attempt is on its way.
   *
   * @param sent null if it asks after somebody else
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

  /** A request of the attempt got no answer. */
  public void doubt() {
    waitState().doubt();
  }

  public boolean isInDoubt() {
    return wait != null && wait.isInDoubt();
  }

  /** Lets go of what an idle hold has no use for. */
  public void trim() {
    if (!isRefreshing()) {
      clearHandoffState();
    }
    rest();
  }

  /** Lets go of what a claim that is merely held has no use for. */
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

  /** The sticky hold that a try waits for; null if none does. */
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

  /** Every token that is known to have been given out is less; 0 if none is. */
  public long tokenFloor() {
    long own = tokenEnd();
    long seen = wait == null ? 0 : wait.seen();
    return seen == 0 ? own : Math.max(own, seen + Request.MAX_TOKENS);
  }

  /** What its holders' leases hang on: the session, or what the votes of a quorum leave of it. */
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

  /** Counts a grant that came when its at-most time was over; returns how many there were. */
  public int cameLate() {
    return waitState().cameLate();
  }

  /** Counts an answer that it is busy; returns how many there were before. */
  public int poll() {
    return waitState().poll();
  }

  /** Clears what was counted while it waited. */
  public void resetAfterGrant() {
    if (wait != null) {
      wait.granted();
    }
  }

  /** Why the store could not be asked lately; null since it answered. */
  public @Nullable Throwable storeFailure() {
    StoreOutage known = outageOrNull();
    return known == null ? null : known.failure();
  }

  /** A session in the way was proven dead. Returns how often that has been so in succession. */
  public int judged(SessionId dead) {
    return waitState().judged(dead);
  }

  /** A request that was sent then got no answer, or a refusal that says nothing of the lock. */
  public void storeFailed(Throwable cause, long sentAt) {
    waitState().outage().failed(cause, sentAt);
  }

  /** Since when the store is unfit, as far as the claim knows; the present if it is not. */
  public long unfitSince(long now) {
    return waitState().outage().unfitSince(now);
  }

  public @Nullable StoreOutage outageOrNull() {
    return wait == null ? null : wait.outageOrNull();
  }

  /** Replaces the claim's timer. Returns the one that is to be started. */
  public ClaimEffect.Timer timer(long delay, Runnable onDue) {
    stopTimer();
    ClaimEffect.Timer timer = new ClaimEffect.Timer(delay, onDue);
    waitState().timer(timer);
    return timer;
  }

  /**
   * Since when the store owes an answer about the attempt; null if it does not.
   *
   * @param arrivedAt when the asking waiter came
   * @param silence of the store; decides while the claim has sent nothing yet
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

  /** Tells a waiter which holder the store has last named. */
  public void showHolder(Waiter waiter) {
    Reply.Holder named = phase == ClaimPhase.ASKED && wait != null ? wait.inTheWay() : null;
    waiter.noteHolder(
        named != null,
        named == null || isOfSession(named.attempt().session()) ? null : named.attempt());
  }

  public boolean hasSeveralWaiters() {
    return wait != null && wait.hasSeveral();
  }

  /** Whether there is a waiter that nobody may pass. */
  public boolean hasFairWaiters() {
    return wait != null && wait.hasFair();
  }

  /** Whether it is not sent by choice: a timer will send it. */
  public boolean isPostponed() {
    return phase == ClaimPhase.UNSENT && wait != null && wait.hasTimer();
  }

  public void stopTimer() {
    if (wait != null) {
      wait.stopTimer();
    }
  }
}
