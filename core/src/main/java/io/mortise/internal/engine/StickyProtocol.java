package io.mortise.internal.engine;

import io.mortise.LockName;
import io.mortise.internal.engine.Claim.ClaimPhase;
import io.mortise.internal.engine.IdleClaims.StickyClaim;
import io.mortise.internal.engine.Waiter.WaiterState;
import io.mortise.internal.event.LeaseTrace;
import io.mortise.internal.runtime.IdleLimit;
import io.mortise.internal.session.LiveSession;
import io.mortise.spi.AttemptId;
import io.mortise.spi.Capability;
import io.mortise.spi.Reply;
import java.time.Duration;
import java.util.OptionalLong;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicLong;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Keeps grants that nobody of this process uses, so that the next acquire needs no I/O, and calls
 * back those of other processes.
 *
 * <p><b>States.</b> A marked attempt ({@link AttemptId#isSticky()}) is asked for, held, idle, held
 * again, and ended at last. Whether it is held or idle is known here only: changing between the two
 * is a change of the claim under its stripe's lock, and no I/O.
 *
 * <p><b>Called back.</b> A contender's acquire leaves the note that it leaves for every holder, and
 * the store pushes it. The store notes that once for an attempt, so a note ends the attempt: an
 * idle one at once, one in use when its lease is closed (invariants.md#called-back-ends). Nothing
 * makes {@code wanted} false while an attempt lives. A note that comes before its grant is kept,
 * and the waiter for which the grant was made has its turn first.
 *
 * <p><b>Never in the way.</b> An idle grant ends when its time is over, when its client or session
 * ends, when this process asks for the same lock in another mode, and when there are more than the
 * client's limit: the one that was used longest ago first. While pushes may be missed, no idle
 * grant is taken, and none is given back: that would be a request for each, to a store that does
 * not answer. The renewal that follows a reconnect brings the notes. When the store may have
 * forgotten its grants, idle ones are over: they are given back together, behind the questions
 * about open leases. A session that pushes never reach keeps nothing idle.
 *
 * <p><b>A host that slept.</b> Its clock stood still, and until the next renewal a session that is
 * over looks valid. So a grant that was idle for a while is taken only after a look at the clock
 * that counts the sleep.
 *
 * <p><b>When it does not pay.</b> A grant that is called back before it was taken again {@value
 * #MIN_RETAKES} times has cost a contender a detour for little. Its name is not sticky for 2 s.
 *
 * <p><b>A try</b> that meets a marked holder would find a free lock busy. So it queues, which hands
 * the lock over in one step, and gives up after five round trips: its place in the queue, the
 * call-back, the release and the grant take three. But at least after 50 ms, for which a process
 * that collects garbage or waits for a processor does not run, and at most after 250 ms. A holder
 * that did not come in time is in use: later tries are told so at once for as long as its attempt
 * lives.
 */
final class StickyProtocol implements IdleLimit.IdleOwner {
  private static final Logger log = LoggerFactory.getLogger(StickyProtocol.class);

  private static final int MIN_RETAKES = 4;
  private static final long PAUSE_NANOS = 2_000_000_000;
  private static final long LEAST_CALL_NANOS = 50_000_000;
  private static final long MOST_CALL_NANOS = 250_000_000;

  /** Between two looks for what is over: at least so long, and ten times as long as one took. */
  private static final long CHECK_NANOS = 20_000_000;

  /**
   * A grant that was idle for so long is taken only after a look whether the host slept. The look
   * costs some microseconds, which a lock that is taken again and again does not pay.
   */
  private static final long LOOK_NANOS = 20_000_000;

  private static final long NEVER = Long.MAX_VALUE;

  private final Engine engine;
  private final boolean canCallBack;

  /** Shared by all parts of the store. */
  private final IdleLimit idleLimit;

  private final AtomicBoolean saidUnreached = new AtomicBoolean();

  /** When is looked for what is over. */
  private final AtomicLong nextCheck = new AtomicLong(NEVER);

  StickyProtocol(Engine engine, IdleLimit idleLimit) {
    this.engine = engine;
    this.canCallBack =
        engine.acquireProtocol.canQueue() && engine.store.profile().can(Capability.CALL_BACK);
    this.idleLimit = idleLimit;
    idleLimit.add(this);
  }

  static boolean isIdle(@Nullable Claim claim) {
    return claim instanceof StickyClaim sticky && sticky.isIdle();
  }

  // ---- Everything below up to the timer: under the stripe's lock ----

  /** The number of the claim's next attempt, with the mark if its grant may be kept. */
  long nextNumber(Stripe stripe, Claim claim, LiveSession session) {
    long number = session.nextAttempt();
    Waiter head = claim.head();
    if (!(claim instanceof StickyClaim sticky) || head == null || head.options.sticky() == null) {
      return number;
    }
    sticky.retakes = 0;
    boolean pays =
        isCallable(stripe, session) && !stripe.idleClaims.isPaused(claim.name, engine.env.now());
    // A store that cannot call back refuses the mark by name.
    return claim.joinable && (pays || !canCallBack) ? AttemptId.stickyNumber(number) : number;
  }

  private boolean isCallable(Stripe stripe, LiveSession session) {
    if (canCallBack && !session.receivesPushes() && saidUnreached.compareAndSet(false, true)) {
      stripe.afterUnlock(
          () ->
              log.warn(
                  "Sticky locks are given back at once: nothing that store {} pushes reaches this"
                      + " process, so that no other could call an idle lock back.",
                  engine.storeName()));
    }
    return session.isCallable();
  }

  /** A waiter has taken the claim's hold. */
  void taken(Claim claim, Waiter waiter) {
    if (claim instanceof StickyClaim sticky) {
      Duration idle = waiter.options.sticky();
      sticky.keepNanos = idle == null ? 0 : idle.toNanos();
      if (engine.hasTokens
          && sticky.isMarked()
          && claim.joinable
          && claim.tokensLeft <= sticky.refillAt
          && !claim.isRefreshing()) {
        engine.localHandoff.refresh(engine.stripe(claim.name), claim);
      }
    }
  }

  /** The claim has a new block of tokens. */
  void refilled(Claim claim) {
    if (claim instanceof StickyClaim sticky) {
      sticky.refillAt = engine.hasTokens ? claim.tokensLeft / 2 : 0;
    }
  }

  /** The store has no more tokens for the claim. It is not asked again before the last was used. */
  void notRefilled(Claim claim) {
    if (claim instanceof StickyClaim sticky) {
      sticky.refillAt = 0;
    }
  }

  /** The claim's lease was closed. Returns false if the grant is to be given back. */
  boolean keep(Stripe stripe, Claim claim, LeaseImpl lease) {
    if (!(claim instanceof StickyClaim sticky) || !mayKeep(sticky)) {
      return false;
    }
    LeaseTrace trace = lease.trace();
    if (trace != null) {
      trace.staysIdle(Duration.ofNanos(sticky.keepNanos));
    }
    claim.trim();
    stripe.idleClaims.add(sticky, engine.env.now());
    if (idleLimit.begins()) {
      stripe.afterUnlock(idleLimit::trim);
    }
    checkAt(sticky.idleUntil());
    return true;
  }

  private boolean mayKeep(StickyClaim claim) {
    LiveSession session = claim.session;
    return canCallBack
        && claim.keepNanos > 0
        && claim.isMarked()
        && claim.joinable
        && !(claim.wanted && engine.env.rules().keepsOnlyUnwanted())
        && claim.validity() == session
        && session != null
        && isUsable(session);
  }

  private static boolean isUsable(LiveSession session) {
    return session.isCallable() && !session.isOver() && !session.hasEnded();
  }

  /**
   * The store may have forgotten the claim's grant. It is not taken any more; {@link #endForgotten}
   * gives it back.
   */
  void forgotten(Claim claim) {
    if (claim instanceof StickyClaim sticky) {
      sticky.keepNanos = 0;
    }
  }

  /** With no lock held: gives back what {@link #forgotten} has found. */
  void endForgotten() {
    checkAt(engine.env.now());
  }

  /**
   * Takes the idle grant of the waiter's lock, or ends it: it must not be in the way of what is
   * asked for next.
   *
   * @param common whether the waiter may have it
   * @return whether the waiter stands under its claim now
   */
  boolean take(Stripe stripe, Waiter waiter, boolean common) {
    if (!(stripe.common(waiter.name) instanceof StickyClaim claim) || !claim.isIdle()) {
      return false;
    }
    if (!common || !mayTake(claim)) {
      engine.transitions.release(stripe, claim, true);
      return false;
    }
    unlink(stripe, claim);
    claim.retakes++;
    if (claim.tokensLeft > 0) {
      engine.localHandoff.take(claim, waiter);
    } else {
      claim.add(waiter);
      engine.localHandoff.handOff(stripe, claim);
    }
    return true;
  }

  private boolean mayTake(StickyClaim claim) {
    LiveSession session = claim.session;
    long now = engine.env.now();
    if (session == null || claim.idleUntil() - now <= 0) {
      return false;
    } else if (!engine.env.rules().takesIdleOfValidSession()) {
      return true;
    }
    if (now - claim.idleSince() >= LOOK_NANOS) {
      engine.noteSuspension(session);
    }
    return isUsable(session);
  }

  /** For how long the attempt's grant is kept idle from now on; null if it is not idle. */
  @Nullable Duration idleLeft(Stripe stripe, LockName name, AttemptId attempt) {
    return stripe.find(name, attempt) instanceof StickyClaim claim && claim.isIdle()
        ? Duration.ofNanos(Math.max(0, claim.idleUntil() - engine.env.now()))
        : null;
  }

  /** Another process wants the claim's hold. */
  void wanted(Stripe stripe, Claim claim) {
    engine.localHandoff.wanted(claim);
    if (isIdle(claim) && engine.env.rules().givesBackIdleWhenCalled()) {
      engine.transitions.release(stripe, claim);
    }
  }

  /** The claim's attempt is being ended. */
  void ends(Stripe stripe, Claim claim) {
    unlink(stripe, claim);
    if (claim instanceof StickyClaim sticky
        && claim.wanted
        && sticky.isMarked()
        && sticky.retakes < MIN_RETAKES) {
      stripe.idleClaims.pause(claim.name, engine.env.now() + PAUSE_NANOS);
    }
  }

  /** The claim is not idle any more, if it was. */
  void unlink(Stripe stripe, Claim claim) {
    if (claim instanceof StickyClaim sticky && sticky.isIdle()) {
      stripe.idleClaims.remove(sticky);
      idleLimit.ends();
    }
  }

  // ---- Idle grants that are too many or too old ----

  @Override
  public OptionalLong oldestSince() {
    Stripe stripe = engine.stripes.withOldestIdle();
    return stripe == null ? OptionalLong.empty() : OptionalLong.of(stripe.idleClaims.oldestSince());
  }

  @Override
  public void endOldest(long since) {
    Stripe stripe = engine.stripes.withOldestIdle();
    if (stripe == null) {
      return;
    }
    stripe.lock();
    try {
      StickyClaim oldest = stripe.idleClaims.oldest();
      // Else it was taken meanwhile, and another is the oldest.
      if (oldest != null && oldest.idleSince() - since <= 0) {
        engine.transitions.release(stripe, oldest, true);
      }
    } finally {
      stripe.unlock();
    }
  }

  private void checkAt(long due) {
    long known = nextCheck.get();
    while (known == NEVER || due - known < 0) {
      if (nextCheck.compareAndSet(known, due)) {
        long delay = Math.max(0, due - engine.env.now());
        engine.env.timers().schedule(delay, () -> check(due));
        return;
      }
      known = nextCheck.get();
    }
  }

  private void check(long due) {
    if (!nextCheck.compareAndSet(due, NEVER)) {
      return;
    }
    long now = engine.env.now();
    long[] left = {NEVER};
    engine.stripes.forEach(stripe -> left[0] = Math.min(left[0], endOver(stripe, now)));
    long pauseNanos = CHECK_NANOS + 10 * (engine.env.now() - now);
    if (left[0] != NEVER) {
      checkAt(now + Math.max(left[0], pauseNanos));
    }
  }

  /** Ends what is over. Returns in how many nanoseconds the next one will be. */
  private long endOver(Stripe stripe, long now) {
    long next = NEVER;
    StickyClaim claim = stripe.idleClaims.oldest();
    while (claim != null) {
      StickyClaim newer = claim.newer;
      long left = claim.idleUntil() - now;
      if (left > 0 || claim.session == null || claim.session.isUnconfirmed()) {
        next = Math.min(next, Math.max(0, left));
      } else {
        engine.transitions.release(stripe, claim, true);
      }
      claim = newer;
    }
    return next;
  }

  // ---- Tries ----

  /**
   * A try was told that the lock is busy. Returns whether it is to be asked again, to stand in the
   * queue while the holder is called back.
   */
  boolean callsBack(Stripe stripe, Claim claim, Reply.@Nullable Holder holder, long sentAt) {
    Waiter head = claim.head();
    LiveSession session = claim.session;
    if (!canCallBack
        || holder == null
        || session == null
        || head == null
        || !head.tryOnly
        || claim.calledBack() != null
        || !holder.attempt().isSticky()
        || stripe.idleClaims.isKnownBusy(claim.name, holder.attempt())) {
      return false;
    }
    claim.calledBack(holder.attempt());
    AttemptId attempt = session.attempt(claim.number);
    long trip = Math.max(engine.acquireProtocol.roundTripNanos(), engine.env.now() - sentAt);
    engine
        .env
        .timers()
        .schedule(
            Math.min(MOST_CALL_NANOS, Math.max(LEAST_CALL_NANOS, 5 * trip)),
            () -> {
              stripe.lock();
              try {
                if (claim.isAttempt(attempt)
                    && claim.phase() == ClaimPhase.ASKED
                    && claim.calledBack() != null) {
                  stripe.idleClaims.rememberBusy(claim.name, holder.attempt());
                  endTry(stripe, claim);
                }
              } finally {
                stripe.unlock();
              }
            });
    return true;
  }

  /** Whether a try that stands in the queue still waits for the holder that it has called back. */
  boolean waitsForCalled(Claim claim, Reply.Queued queued) {
    Reply.Holder holder = queued.holder();
    return claim.calledBack() != null
        && queued.ahead() == 0
        && (holder == null || holder.attempt().equals(claim.calledBack()));
  }

  private void endTry(Stripe stripe, Claim claim) {
    claim.calledBack(null);
    engine.acquireProtocol.completeTryWaiters(stripe, claim, WaiterState.BUSY, null);
    if (claim.head() == null) {
      engine.transitions.giveUp(stripe, claim);
    }
  }
}
