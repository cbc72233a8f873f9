package io.mortise.internal.engine;

import io.mortise.LockName;
import io.mortise.internal.engine.state.Claim;
import io.mortise.internal.engine.state.ClaimEffect;
import io.mortise.internal.engine.state.EngineSettings;
import io.mortise.internal.engine.state.IdleClaims;
import io.mortise.internal.engine.state.IdleClaims.StickyClaim;
import io.mortise.internal.engine.state.LeaseImpl;
import io.mortise.internal.engine.state.Stripe;
import io.mortise.internal.engine.state.Waiter;
import io.mortise.internal.event.LeaseTrace;
import io.mortise.internal.runtime.IdleLimit;
import io.mortise.internal.session.LiveSession;
import io.mortise.spi.AttemptId;
import io.mortise.spi.Reply;
import java.time.Duration;
import java.util.concurrent.atomic.AtomicBoolean;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Keeps grants that this process does not use at present, so that the next acquire needs no I/O,
 * and calls back those of other processes.
 *
 * <p><b>States.</b> A marked attempt ({@link AttemptId#isSticky()}) is requested, held, idle, held
 * again, and finally ended. Only this process knows whether it is held or idle: the change between
 * the two happens under the stripe's lock, without I/O.
 *
 * <p><b>Called back.</b> A contender's acquire leaves the usual note for the holder, and the store
 * pushes it. The store leaves one note per attempt, so a note ends the attempt: an idle one at
 * once, one in use when its lease is closed (invariants.md#called-back-ends). {@code wanted} stays
 * true while an attempt lives. A note that comes before its grant is kept, and the waiter of that
 * grant has its turn first.
 *
 * <p><b>End of an idle grant.</b> It ends when its time is over, when its client or session ends,
 * when this process acquires the same lock in another mode, and when there are more than the
 * client's limit: the least recently used first. While pushes may be missed, no idle grant is
 * taken, and none is released: that would send a request for each to a store that does not answer.
 * The renewal after a reconnect brings the notes. When the store may have forgotten its grants,
 * idle ones are over: they are released together, behind the requests about open leases. A session
 * that pushes never reach keeps nothing idle. {@link CallBackPoll} finds notes whose push was lost,
 * and all notes where none is pushed.
 *
 * <p><b>A suspended host.</b> Its monotonic clock stood still, and until the next renewal an
 * expired session looks valid. So a grant that was idle for a while is taken only after a check of
 * the clock that counts suspension.
 *
 * <p><b>Little benefit.</b> A grant that is called back before it was taken again {@value
 * #MIN_RETAKES} times has delayed a contender for little. Its name is not sticky for 2 s.
 *
 * <p><b>A try</b> that meets a marked holder would find a free lock busy. So it queues, which hands
 * the lock over in one step, and gives up after five round trips: its place in the queue, the
 * call-back, the release and the grant take three. It waits at least 50 ms, as a process may pause
 * that long for garbage collection or for a processor, and at most 250 ms. A holder that did not
 * release in time is in use: later tries fail at once for as long as its attempt lives. Where
 * holders look for notes, a try waits for the pause between two looks besides, asks for its turn,
 * and waits as long as before; it does so each time, as a holder in use does not look.
 *
 * <p>Everything here runs under the stripe's lock, and decides; {@link ClaimTransitions} sends
 * requests and releases.
 */
final class StickyProtocol {
  private static final Logger log = LoggerFactory.getLogger(StickyProtocol.class);

  private static final int MIN_RETAKES = 4;
  private static final long PAUSE_NANOS = 2_000_000_000;
  private static final long LEAST_CALL_NANOS = 50_000_000;
  private static final long MOST_CALL_NANOS = 250_000_000;

  /**
   * A grant idle for longer than this is taken only after a check for a suspension of the host. The
   * check costs some microseconds, too much for a lock that is taken again and again.
   */
  private static final long LOOK_NANOS = 20_000_000;

  private final EngineSettings settings;
  private final EngineSessions sessions;

  /** Shared by all parts of the store. */
  private final IdleLimit idleLimit;

  private final AtomicBoolean saidUnreached = new AtomicBoolean();

  StickyProtocol(EngineSettings settings, EngineSessions sessions, IdleLimit idleLimit) {
    this.settings = settings;
    this.sessions = sessions;
    this.idleLimit = idleLimit;
  }

  /** The number of the claim's next attempt, with the mark if its grant may be kept. */
  long nextNumber(Stripe stripe, StickyClaim claim, LiveSession session) {
    long number = session.nextAttempt();
    Waiter head = claim.head();
    if (head == null || head.options().sticky() == null) {
      return number;
    }
    claim.resetRetakes();
    boolean pays =
        isCallable(stripe, session) && !stripe.idleClaims().isPaused(claim.name(), settings.now());
    // A store that cannot call back refuses the mark by name.
    return claim.isJoinable() && (pays || !settings.canCallBack())
        ? AttemptId.stickyNumber(number)
        : number;
  }

  private boolean isCallable(Stripe stripe, LiveSession session) {
    if (settings.canCallBack()
        && !session.receivesPushes()
        && saidUnreached.compareAndSet(false, true)) {
      stripe.emit(
          new ClaimEffect.NotifyListeners(
              () ->
                  log.warn(
                      "Sticky locks are given back at once: nothing that store {} pushes reaches this"
                          + " process, so that no other could call an idle lock back.",
                      settings.storeName())));
    }
    return session.isCallable();
  }

  /**
   * Records that a waiter has taken the claim's hold.
   *
   * @return whether a fresh block of tokens is to be requested
   */
  boolean taken(Claim claim, Waiter waiter) {
    if (!(claim instanceof StickyClaim sticky)) {
      return false;
    }
    Duration idle = waiter.options().sticky();
    sticky.keepFor(idle == null ? 0 : idle.toNanos());
    return settings.hasTokens()
        && sticky.isMarked()
        && claim.isJoinable()
        && claim.tokensLeft() <= sticky.refillAt()
        && !claim.isRefreshing();
  }

  /** Records the claim's new block of tokens. */
  void refilled(Claim claim) {
    if (claim instanceof StickyClaim sticky) {
      sticky.refillAt(settings.hasTokens() ? claim.tokensLeft() / 2 : 0);
    }
  }

  /** The store has no more tokens for the claim. The next request comes after the last was used. */
  void notRefilled(Claim claim) {
    if (claim instanceof StickyClaim sticky) {
      sticky.refillAt(0);
    }
  }

  /**
   * Handles the close of the claim's lease.
   *
   * @return the claim if its grant is idle now; null if that is to be released
   */
  @Nullable StickyClaim keep(Stripe stripe, Claim claim, LeaseImpl lease) {
    if (!(claim instanceof StickyClaim sticky) || !mayKeep(sticky)) {
      return null;
    }
    LeaseTrace trace = lease.trace();
    if (trace != null) {
      trace.staysIdle(Duration.ofNanos(sticky.keepNanos()));
    }
    claim.trim();
    stripe.idleClaims().add(sticky, settings.now());
    if (idleLimit.begins()) {
      stripe.emit(new ClaimEffect.NotifyListeners(idleLimit::trim));
    }
    return sticky;
  }

  private boolean mayKeep(StickyClaim claim) {
    LiveSession session = claim.session();
    return settings.canCallBack()
        && claim.keepNanos() > 0
        && claim.isMarked()
        && claim.isJoinable()
        && !(claim.isWanted() && settings.rules().keepsOnlyUnwanted())
        && claim.validity() == session
        && session != null
        && isUsable(session);
  }

  private static boolean isUsable(LiveSession session) {
    return session.isCallable() && !session.isOver() && !session.hasEnded();
  }

  /** Marks a grant that the store may have forgotten. It is not taken any more. */
  void forgotten(Claim claim) {
    if (claim instanceof StickyClaim sticky) {
      sticky.keepFor(0);
    }
  }

  /** Whether an idle grant may be taken again. */
  boolean mayTake(StickyClaim claim) {
    LiveSession session = claim.session();
    long now = settings.now();
    if (session == null || claim.idleUntil() - now <= 0) {
      return false;
    } else if (!settings.rules().takesIdleOfValidSession()) {
      return true;
    }
    if (now - claim.idleSince() >= LOOK_NANOS) {
      sessions.noteSuspension(session);
    }
    return isUsable(session);
  }

  /** How long the attempt's grant will be kept idle; null if it is not idle. */
  @Nullable Duration idleLeft(Stripe stripe, LockName name, AttemptId attempt) {
    return stripe.find(name, attempt) instanceof StickyClaim claim && claim.isIdle()
        ? Duration.ofNanos(Math.max(0, claim.idleUntil() - settings.now()))
        : null;
  }

  /** Handles that another process wants the hold; returns whether it was idle, and is released. */
  boolean givesBack(Claim claim) {
    return IdleClaims.isIdle(claim) && settings.rules().givesBackIdleWhenCalled();
  }

  /** Handles the end of the claim's attempt. */
  void ends(Stripe stripe, Claim claim) {
    unlink(stripe, claim);
    if (claim instanceof StickyClaim sticky
        && claim.isWanted()
        && sticky.isMarked()
        && sticky.retakes() < MIN_RETAKES) {
      stripe.idleClaims().pause(claim.name(), settings.now() + PAUSE_NANOS);
    }
  }

  /** Removes the claim from the idle ones, if it is there. */
  void unlink(Stripe stripe, Claim claim) {
    if (claim instanceof StickyClaim sticky && sticky.isIdle()) {
      stripe.idleClaims().remove(sticky);
      idleLimit.ends();
    }
  }

  // ---- Tries ----

  /** Decides on a try that found the lock busy: whether it calls the holder back, and queues. */
  boolean callsBack(Stripe stripe, Claim claim, Reply.Holder holder) {
    Waiter head = claim.head();
    if (!settings.canCallBack()
        || head == null
        || !head.isTry()
        || claim.calledBack() != null
        || !holder.attempt().isSticky()
        || stripe.idleClaims().isKnownBusy(claim.name(), holder.attempt())) {
      return false;
    }
    claim.calledBack(holder.attempt());
    return true;
  }

  /** How long a try waits for a holder that it has called back. */
  static long callNanos(long roundTripNanos) {
    return Math.min(MOST_CALL_NANOS, Math.max(LEAST_CALL_NANOS, 5 * roundTripNanos));
  }

  /** The pause of holders between two looks for call-backs; 0 if those are pushed. */
  static long callBackNanos(Claim claim) {
    return claim.openSession().store().callBackDelay().toNanos();
  }

  /** Handles a holder that did not release in time: whether a try still waits for it. */
  boolean callIsOver(Stripe stripe, Claim claim, AttemptId holder) {
    if (claim.calledBack() == null) {
      return false;
    }
    if (callBackNanos(claim) == 0) {
      // Elsewhere its grant may be idle from its close to its next look.
      stripe.idleClaims().rememberBusy(claim.name(), holder);
    }
    claim.calledBack(null);
    return true;
  }

  /** Whether a try that stands in the queue still waits for the holder that it has called back. */
  boolean waitsForCalled(Claim claim, Reply.Queued queued) {
    Reply.Holder holder = queued.holder();
    return claim.calledBack() != null
        && queued.ahead() == 0
        && (holder == null || holder.attempt().equals(claim.calledBack()));
  }
}
