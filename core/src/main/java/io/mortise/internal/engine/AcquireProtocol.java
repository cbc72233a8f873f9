package io.mortise.internal.engine;

import io.mortise.LockException;
import io.mortise.StoreUnavailableException;
import io.mortise.StoreUnfitException;
import io.mortise.UnsupportedByStoreException;
import io.mortise.internal.engine.Claim.ClaimPhase;
import io.mortise.internal.engine.Waiter.WaiterState;
import io.mortise.internal.runtime.CompletionStages;
import io.mortise.internal.session.LiveSession;
import io.mortise.internal.session.OutageLog;
import io.mortise.internal.session.StoreOutage;
import io.mortise.spi.AttemptId;
import io.mortise.spi.Capability;
import io.mortise.spi.Reply;
import io.mortise.spi.Reply.RefusalReason;
import io.mortise.spi.Request;
import io.mortise.spi.SessionId;
import io.mortise.spi.SessionVerdict;
import java.time.Duration;
import java.util.Objects;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Asks the store for a {@link Claim}. A claim has one attempt in the store at a time, and one
 * request of it under way. A poll is the same request again. Each answer says when to ask again; a
 * push may come earlier. A holder whose session has run out is judged by the store, in a step of
 * its own, and the request repeated with the proof.
 */
final class AcquireProtocol {
  private static final Logger log = LoggerFactory.getLogger(AcquireProtocol.class);

  private static final int JUDGEMENTS = 16;
  static final long POLL_NANOS = 20_000_000;
  static final long MOST_POLL_NANOS = 500_000_000;

  /** Enough for a few local passes; so few that no rate of grants outruns a clock in µs. */
  private static final int SMALL_BLOCK = 8;

  /** For a lock that threads of this process contend for; one that uses it up gets a larger one. */
  private static final int BLOCK = 1_024;

  private final Engine engine;
  private final boolean canQueue;

  /** Whether a holder in a store without a queue is notified of waiters during its hold. */
  private final boolean isToldWhileHolding;

  private final boolean takesFloor;

  /** How long the store took to answer lately; a moving average. Losing an update does no harm. */
  private volatile long roundTripNanos;

  private final OutageLog outages;

  AcquireProtocol(Engine engine) {
    this.engine = engine;
    this.outages = new OutageLog(engine.storeName(), engine.env.ticker(), log::warn, log::info);
    this.canQueue = engine.store.profile().can(Capability.QUEUE);
    this.isToldWhileHolding = !canQueue && engine.store.profile().can(Capability.SESSION);
    this.takesFloor = engine.store.profile().can(Capability.TOKEN_FLOOR);
  }

  boolean canQueue() {
    return canQueue;
  }

  boolean isToldWhileHolding() {
    return isToldWhileHolding;
  }

  /**
   * Begins a new attempt as soon as there is a session. A pause goes before it if this process gave
   * the lock back while others wanted it.
   */
  void begin(Stripe stripe, Claim claim) {
    long pause = canQueue ? 0 : stripe.pauseLeft(claim.name, engine.env.now());
    if (pause > 0 && claim.head() != null && !claim.head().tryOnly) {
      claim.beginAnew();
      engine.transitions.beginLater(stripe, claim, pause);
    } else {
      beginNow(stripe, claim);
    }
  }

  private void beginNow(Stripe stripe, Claim claim) {
    engine.queueProtocol.left(stripe, claim);
    claim.beginAnew();
    LiveSession session = engine.sessionFor(claim);
    if (session != null) {
      claim.session = session;
      claim.number = engine.stickyProtocol.nextNumber(stripe, claim, session);
      claim.phase(ClaimPhase.ASKED);
      ask(stripe, claim, null);
    }
  }

  private void ask(Stripe stripe, Claim claim, @Nullable SessionId provenDead) {
    LiveSession session = Objects.requireNonNull(claim.session);
    AttemptId attempt = session.attempt(claim.number);
    boolean tries = claim.head() != null && claim.head().tryOnly && !claim.hasSeveralWaiters();
    boolean queue = canQueue && (!tries || claim.calledBack() != null);
    int tokens = claim.joinable ? claim.contended || attempt.isSticky() ? BLOCK : SMALL_BLOCK : 1;
    SentRequest sent =
        new SentRequest(
            attempt, engine.env.now(), session.suspendedNanos(), session.incarnationChanges());
    claim.asks(sent);
    session.sent(sent.at());
    stripe.send(
        session,
        new Request.Acquire(
            claim.name,
            attempt,
            claim.mode,
            queue,
            claim.terms,
            tokens,
            takesFloor && session.incarnationChanges() > 0 ? claim.tokenFloor() : 0,
            provenDead),
        reply -> {
          if (!(reply instanceof Reply.Failed)) {
            session.heard();
          }
          answered(stripe, claim, sent, reply);
        });
  }

  /**
   * Asks once more for a wait that ends soon, unless an answer is due: so that at its end it is
   * known whether the lock is busy or the store is silent. A pause ends by then.
   */
  void pollBeforeDeadline(Stripe stripe, Claim claim) {
    if (claim.phase() == ClaimPhase.ASKED && !claim.isAsking()) {
      ask(stripe, claim, null);
    } else if (claim.isPostponed()) {
      beginNow(stripe, claim);
    }
  }

  /** How long the store takes to answer. */
  long roundTripNanos() {
    return roundTripNanos;
  }

  /**
   * A request on its way.
   *
   * @param at when it left
   * @param suspendedNanos how long the host was known to have slept by then
   * @param incarnationChanges how often the store was known to may have forgotten by then
   */
  record SentRequest(AttemptId attempt, long at, long suspendedNanos, int incarnationChanges) {}

  /** Asks now, or as soon as the answer that is under way has come. */
  void pollNow(Stripe stripe, Claim claim) {
    if (!claim.isAsking()) {
      ask(stripe, claim, null);
    } else {
      claim.outdate();
    }
  }

  void askLater(Stripe stripe, Claim claim, long delay, @Nullable SessionId provenDead) {
    claim.stopTimer();
    if (!engine.env.rules().repeatsAcquire()) {
      return;
    }
    AttemptId attempt = Objects.requireNonNull(claim.session).attempt(claim.number);
    long most = engine.env.ttlNanos() / 3;
    claim.timer(
        engine
            .env
            .timers()
            .schedule(
                Math.min(delay, engine.env.jittered(most)),
                () -> {
                  stripe.lock();
                  try {
                    if (claim.phase() == ClaimPhase.ASKED
                        && claim.isAttempt(attempt)
                        && !claim.isAsking()) {
                      ask(stripe, claim, provenDead);
                    }
                  } finally {
                    stripe.unlock();
                  }
                }));
  }

  private void answered(Stripe stripe, Claim claim, SentRequest sent, Reply reply) {
    AttemptId attempt = sent.attempt();
    long trip = roundTripNanos;
    roundTripNanos = trip + (engine.env.now() - sent.at() - trip) / 8;
    stripe.lock();
    try {
      if (!claim.isAttempt(attempt) || claim.phase() == ClaimPhase.DONE) {
        if (reply instanceof Reply.Granted) {
          engine.endUnknown(stripe, claim.name, attempt);
        }
        return;
      }
      claim.answered();
      if (reply instanceof Reply.Failed failed && failed.mayHaveRun()) {
        claim.doubt();
      }
      if (claim.phase() == ClaimPhase.HELD
          && reply instanceof Reply.Granted granted
          && granted.wanted()) {
        // A push was faster than this answer, but knew less.
        engine.stickyProtocol.wanted(stripe, claim);
      }
      if (claim.phase() != ClaimPhase.ASKED) {
        return;
      }
      StoreOutage outage = claim.outageOrNull();
      if (outage != null && tellsOfLock(reply)) {
        outage.answered(engine.env.now());
      }
      if (!(reply instanceof Reply.Failed)) {
        outages.served();
      }
      if (reply instanceof Reply.Granted
          && sent.incarnationChanges() != incarnationChanges(claim)) {
        // By a server, perhaps, that has been replaced since.
        ask(stripe, claim, null);
      } else if (reply instanceof Reply.Granted granted) {
        engine.queueProtocol.left(stripe, claim);
        engine.transitions.granted(stripe, claim, sent, granted);
      } else if (reply instanceof Reply.Queued && claim.isOutdated()) {
        ask(stripe, claim, null);
      } else if (reply instanceof Reply.Queued queued) {
        claim.failures(0);
        engine.queueProtocol.joined(stripe, claim, queued.ahead());
        Reply.Holder holder = queued.holder();
        claim.saw(holder);
        engine.waits(Objects.requireNonNull(claim.session));
        if ((holder == null || !holder.sessionLeft().isZero())
            && !engine.stickyProtocol.waitsForCalled(claim, queued)) {
          // They asked together with others who wait.
          completeTryWaiters(stripe, claim, WaiterState.BUSY, null);
          engine.queueLimit.check(stripe, claim, queued.ahead());
        }
        if (claim.head() == null) {
          engine.transitions.giveUp(stripe, claim);
          return;
        }
        engine.events.queued(stripe, claim, queued.ahead());
        engine.localHandoff.splitFairWaiters(stripe, claim);
        if (Objects.requireNonNull(claim.queue()).isResting(claim)) {
          claim.stopTimer();
          return;
        }
        engine.queueProtocol.callUnheard(stripe, claim, holder);
        inTheWay(
            stripe,
            claim,
            holder,
            engine.queueProtocol.retryAfter(queued.retryAfter(), queued.ahead()));
      } else if (reply instanceof Reply.Busy busy) {
        busy(stripe, claim, busy, sent.at());
      } else if (reply instanceof Reply.Refused refused) {
        refused(stripe, claim, refused);
      } else if (reply instanceof Reply.Failed failed) {
        failed(stripe, claim, failed.cause(), failed.mayHaveRun(), sent.at());
      }
    } finally {
      stripe.unlock();
    }
  }

  private static boolean tellsOfLock(Reply reply) {
    return !(reply instanceof Reply.Failed)
        && !(reply instanceof Reply.Refused refused && refused.why() == RefusalReason.SESSION_GONE);
  }

  private static int incarnationChanges(Claim claim) {
    return Objects.requireNonNull(claim.session).incarnationChanges();
  }

  private void inTheWay(
      Stripe stripe, Claim claim, Reply.@Nullable Holder holder, Duration retryAfter) {
    if (holder == null || (!holder.sessionLeft().isZero() && engine.env.rules().letsStoreJudge())) {
      askLater(stripe, claim, retryAfter.toNanos(), null);
    } else if (engine.env.rules().letsStoreJudge()) {
      judge(stripe, claim, holder.attempt().session());
    } else {
      askLater(stripe, claim, holder.sessionLeft().toNanos(), holder.attempt().session());
    }
  }

  private void busy(Stripe stripe, Claim claim, Reply.Busy busy, long sentAt) {
    Reply.Holder holder = busy.holder();
    claim.saw(holder);
    if (holder != null && !claim.isOfSession(holder.attempt().session())) {
      stripe.endPause(claim.name);
    }
    if (holder != null && holder.sessionLeft().isZero() && claim.failures() < JUDGEMENTS) {
      claim.failures(claim.failures() + 1);
      judge(stripe, claim, holder.attempt().session());
      return;
    }
    if (claim.failures() < JUDGEMENTS
        && engine.releaseProtocol.resendUnanswered(stripe, claim.name, holder)) {
      // Nobody has it: our own release was lost, or is late.
      claim.failures(claim.failures() + 1);
      ask(stripe, claim, null);
      return;
    }
    boolean callsBack = engine.stickyProtocol.callsBack(stripe, claim, holder, sentAt);
    if (!callsBack) {
      completeTryWaiters(stripe, claim, WaiterState.BUSY, null);
    }
    if (claim.head() == null) {
      engine.transitions.discard(stripe, claim);
    } else if (canQueue) {
      ask(stripe, claim, null);
    } else {
      Duration again = busy.retryAfter();
      long backoff = backoff(claim);
      inTheWay(
          stripe,
          claim,
          holder,
          again.toNanos() < backoff ? again : Duration.ofNanos(engine.env.jittered(backoff)));
    }
  }

  /**
   * Where nobody calls and nobody stands in a queue: often at first, then as seldom as a quarter of
   * the time that was waited already, so that many who wait long do not keep the store busy.
   */
  private static long backoff(Claim claim) {
    int polls = claim.poll();
    double nanos = POLL_NANOS * Math.pow(1.25, Math.min(polls, 20));
    return Math.min((long) nanos, MOST_POLL_NANOS);
  }

  /** Those who wanted an answer get it; the others go on waiting. */
  void completeTryWaiters(
      Stripe stripe, Claim claim, WaiterState waiterState, @Nullable RuntimeException failure) {
    Waiter waiter = claim.head();
    while (waiter != null) {
      Waiter next = waiter.next == claim.head() ? null : waiter.next;
      if (waiter.tryOnly) {
        claim.remove(waiter);
        waiter.failure = failure;
        waiter.waiterState = waiterState;
        stripe.afterUnlock(waiter::wake);
      }
      waiter = next;
    }
  }

  private void judge(Stripe stripe, Claim claim, SessionId holder) {
    AttemptId attempt = Objects.requireNonNull(claim.session).attempt(claim.number);
    claim.asks(null);
    stripe.afterUnlock(
        () ->
            CompletionStages.start(() -> engine.store.judge(holder))
                .whenComplete(
                    (sessionVerdict, error) ->
                        judged(stripe, claim, attempt, holder, sessionVerdict, error)));
  }

  private void judged(
      Stripe stripe,
      Claim claim,
      AttemptId attempt,
      SessionId holder,
      @Nullable SessionVerdict sessionVerdict,
      @Nullable Throwable error) {
    stripe.lock();
    try {
      if (!claim.isAttempt(attempt) || claim.phase() == ClaimPhase.DONE) {
        return;
      }
      claim.answered();
      if (claim.phase() != ClaimPhase.ASKED) {
        return;
      }
      if (sessionVerdict instanceof SessionVerdict.SessionEnded) {
        if (claim.judged(holder) <= JUDGEMENTS) {
          ask(stripe, claim, holder);
        } else {
          // The store does not act on its own verdict.
          askLater(stripe, claim, engine.env.jittered(MOST_POLL_NANOS), holder);
        }
      } else if (sessionVerdict instanceof SessionVerdict.Alive alive) {
        completeTryWaiters(stripe, claim, WaiterState.BUSY, null);
        if (claim.isQueued()) {
          engine.queueLimit.check(stripe, claim, claim.ahead());
        }
        if (claim.head() == null) {
          engine.transitions.giveUp(stripe, claim);
        } else if (canQueue && !claim.isQueued()) {
          // Sent for a caller that would not wait; the waiters that joined it will.
          ask(stripe, claim, null);
        } else {
          Duration again = engine.queueProtocol.retryAfter(alive.left().plusMillis(1), 0);
          askLater(stripe, claim, again.toNanos(), null);
        }
      } else {
        failed(
            stripe,
            claim,
            error == null ? new IllegalStateException("no verdict") : error,
            true,
            engine.env.now());
      }
    } finally {
      stripe.unlock();
    }
  }

  private void refused(Stripe stripe, Claim claim, Reply.Refused refused) {
    switch (refused.why()) {
      case SESSION_GONE -> {
        LiveSession session = Objects.requireNonNull(claim.session);
        stripe.afterUnlock(() -> engine.sessionGone(session));
        claim.asks(null); // until the session's end sorts it out
      }
      case ENDED, NOT_HELD -> {
        if (claim.isInDoubt()) {
          // An earlier request of this attempt got no answer, and may be granted yet.
          LiveSession session = Objects.requireNonNull(claim.session);
          AttemptId ended = session.attempt(claim.number);
          engine.releaseProtocol.end(
              stripe, new PendingRelease(claim.name, session, ended, true, null));
        }
        engine.transitions.beginAgain(stripe, claim);
      }
      case EVICTED -> engine.transitions.evicted(stripe, claim);
      case STORE_FULL, TOKENS_USED_UP ->
          failed(
              stripe,
              claim,
              new StoreUnavailableException(refused.message()),
              false,
              engine.env.now());
      case UNSUPPORTED ->
          engine.transitions.fail(
              stripe, claim, new UnsupportedByStoreException(refused.message()));
      case CAPACITY_DIFFERS ->
          engine.transitions.fail(stripe, claim, new LockException(refused.message()));
    }
  }

  /** Under the lock: no session could be opened, so nothing was asked. */
  void openFailed(Stripe stripe, Claim claim, Throwable cause) {
    claim.outage().failed(cause, engine.env.now());
    completeTryWaiters(stripe, claim, WaiterState.FAILED, engine.unavailable(claim.name, cause));
    if (claim.head() == null) {
      engine.transitions.discard(stripe, claim);
    } else {
      outages.failed(claim.name, cause);
    }
  }

  private void failed(
      Stripe stripe, Claim claim, Throwable cause, boolean mayHaveRun, long sentAt) {
    claim.outage().failed(cause, sentAt);
    outages.failed(claim.name, cause);
    if (claim.head() != null && claim.head().tryOnly) {
      completeTryWaiters(stripe, claim, WaiterState.FAILED, engine.unavailable(claim.name, cause));
    }
    if (mayHaveRun) {
      claim.doubt();
    }
    if (claim.head() == null) {
      engine.transitions.giveUp(stripe, claim);
      return;
    }
    StoreUnfitException unfit = StoreOutage.unfit(cause);
    if (unfit != null && isUnfitForLockAlone(claim)) {
      engine.transitions.end(stripe, claim);
      engine.transitions.fail(stripe, claim, unfit);
      return;
    }
    claim.failures(Math.min(claim.failures() + 1, 20));
    long backoff = Math.min(1_000_000_000L, 20_000_000L << Math.min(claim.failures(), 6));
    askLater(stripe, claim, engine.env.jittered(backoff), null);
  }

  /**
   * Whether the store was unfit for the lock for a while, and has served another request of the
   * session meanwhile. A store that serves none may be failing over; the end of the session or the
   * next answer decides then.
   */
  private boolean isUnfitForLockAlone(Claim claim) {
    LiveSession session = Objects.requireNonNull(claim.session);
    long now = engine.env.now();
    long unfit = now - claim.outage().unfitSince(now);
    // Silence begins here at the latest: an answer that came before the first failure proves
    // nothing.
    session.sent(now);
    return unfit >= SessionEventHandler.FAILOVER_NANOS && engine.silence().nanos(now) + 1 < unfit;
  }
}
