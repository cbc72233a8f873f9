package io.mortise.internal.engine;

import io.mortise.LockException;
import io.mortise.StoreUnavailableException;
import io.mortise.UnsupportedByStoreException;
import io.mortise.internal.engine.Claim.Passing;
import io.mortise.internal.engine.Claim.Phase;
import io.mortise.internal.engine.Waiter.State;
import io.mortise.spi.AttemptId;
import io.mortise.spi.Capability;
import io.mortise.spi.Reply;
import io.mortise.spi.Reply.Why;
import io.mortise.spi.Request;
import io.mortise.spi.SessionId;
import io.mortise.spi.Terms;
import io.mortise.spi.Verdict;
import java.time.Duration;
import java.util.Objects;
import java.util.concurrent.Callable;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import org.jspecify.annotations.Nullable;

/**
 * What becomes of a {@link Claim}: asked for, queued, held, passed on, given up. Everything here
 * runs under the stripe's lock of the claim's name; what it decides to send or to call goes out
 * when that lock is let go.
 *
 * <p><b>Asking.</b> A claim has one attempt in the store at a time, and one request of it under
 * way. A poll is the same request again. Each answer says when to ask again; a push may come
 * earlier. A holder whose session has run out is judged by the store, in a step of its own, and the
 * request repeated with the proof.
 *
 * <p><b>Passing on.</b> When a holder lets go and others of this process wait, the next one gets
 * the lock and the next token without I/O. The head is woken, and until it comes a newcomer may
 * take the lock, at most 8 times and for 1 ms: the processor is kept busy while a thread wakes. A
 * fair waiter lets nobody pass. Once another process is known to wait, at most 64 passes and 5 ms
 * go by before the lock goes back to the store, with the remaining waiters as a new attempt at the
 * queue's end.
 *
 * <p><b>Fair.</b> While this process stands in the store's queue, and once it is known that another
 * does, each fair waiter gets an attempt of its own, so that the store's queue decides. Those who
 * already waited when the note arrived go first: they came before it, or while it travelled.
 */
final class Claims {
  private static final int BARGES = 8;
  private static final long BARGE_NANOS = 1_000_000;
  private static final int PASSES = 64;
  private static final long PASS_NANOS = 5_000_000;
  private static final int JUDGEMENTS = 16;
  private static final long POLL_NANOS = 20_000_000;
  private static final long MOST_POLL_NANOS = 500_000_000;
  private static final int SHORT_GRANTS = 3;

  /** Enough for a few local passes; so few that no rate of grants outruns a clock in µs. */
  private static final int SMALL_BLOCK = 8;

  private final Engine engine;
  private final boolean canQueue;

  /** Whether a waiter hears of its grant. If not, it asks often. */
  private final boolean isCalled;

  Claims(Engine engine) {
    this.engine = engine;
    this.canQueue = engine.store.profile().can(Capability.QUEUE);
    this.isCalled = canQueue && engine.store.profile().can(Capability.PUSH);
  }

  // ---- Joining and leaving ----

  void join(Stripe stripe, Claim claim, Waiter waiter) {
    if (claim.phase == Phase.HELD && claim.holder == null && mayBarge(claim)) {
      claim.passing().barges++;
      take(claim, waiter);
    } else if (waiter.once) {
      waiter.state = State.BUSY;
    } else {
      claim.contended = true;
      claim.add(waiter);
    }
  }

  private boolean mayBarge(Claim claim) {
    Passing passing = claim.passingOrNull();
    return passing != null
        && passing.offered
        && passing.barges < BARGES
        && passing.bargeUntil - engine.env.now() > 0
        && canPass(claim);
  }

  /** A waiter ends its wait. Returns false if it is too late, since the wait has ended. */
  boolean leave(Stripe stripe, Waiter waiter) {
    Claim claim = waiter.claim;
    if (waiter.isDone() || claim == null) {
      return false;
    }
    waiter.trouble = claim.trouble();
    waiter.state = State.CANCELLED;
    boolean wasHead = claim.head == waiter;
    claim.remove(waiter);
    if (wasHead) {
      resetOffer(claim);
    }
    if (claim.head == null && claim.phase != Phase.HELD) {
      giveUp(stripe, claim);
    } else if (claim.phase == Phase.HELD
        && claim.holder == null
        && wasHead
        && !claim.isRefreshing()) {
      pass(stripe, claim);
    }
    return true;
  }

  /** Nobody stands under a claim that does not hold. */
  private void giveUp(Stripe stripe, Claim claim) {
    LiveSession session = claim.session;
    if (claim.phase == Phase.ASKED && session != null && engine.env.rules().cancelsInStore()) {
      end(stripe, claim);
    }
    discard(stripe, claim);
  }

  /** Ends the claim's attempt in the store. */
  Ending end(Stripe stripe, Claim claim) {
    LiveSession session = Objects.requireNonNull(claim.session);
    AttemptId attempt = session.attempt(claim.number);
    Request.Adjust waiver = null;
    if (claim.phase != Phase.HELD && claim.terms.atLeast() != null) {
      // If it was granted after all, nobody has used it: it must not keep the lock shut.
      waiver =
          new Request.Adjust(
              claim.name, attempt, claim.mode, new Terms(null, Duration.ofMillis(1), ""), 0);
    }
    return engine.endings.end(
        stripe, new Ending(claim.name, session, attempt, claim.isInDoubt(), waiver));
  }

  void discard(Stripe stripe, Claim claim) {
    claim.stopTimer();
    claim.phase = Phase.DONE;
    stripe.remove(claim);
  }

  // ---- Asking ----

  /** Begins a new attempt as soon as there is a session. */
  void begin(Stripe stripe, Claim claim) {
    claim.stopTimer();
    claim.phase = Phase.UNSENT;
    claim.asking = false;
    claim.queued = false;
    claim.doubt = false;
    claim.outdated = false;
    claim.wanted = false;
    claim.stopPassing();
    LiveSession session = engine.sessionFor(claim);
    if (session != null) {
      claim.session = session;
      claim.number = session.nextAttempt();
      claim.phase = Phase.ASKED;
      ask(stripe, claim, null);
    }
  }

  private void ask(Stripe stripe, Claim claim, @Nullable SessionId provenDead) {
    LiveSession session = Objects.requireNonNull(claim.session);
    AttemptId attempt = session.attempt(claim.number);
    boolean queue =
        canQueue && !(claim.head != null && claim.head.once && !claim.hasSeveralWaiters());
    int tokens = claim.shared ? claim.contended ? Request.MAX_TOKENS : SMALL_BLOCK : 1;
    Sent sent = new Sent(attempt, engine.env.now(), session.asleep());
    claim.asking = true;
    claim.outdated = false;
    stripe.send(
        session,
        new Request.Acquire(
            claim.name, attempt, claim.mode, queue, claim.terms, tokens, 0, provenDead),
        reply -> answered(stripe, claim, sent, reply));
  }

  /** A request on its way: when it left, and how long the host was known to have slept by then. */
  record Sent(AttemptId attempt, long at, long asleep) {}

  /** Asks now, or as soon as the answer that is under way has come. */
  void askNow(Stripe stripe, Claim claim) {
    if (!claim.asking) {
      ask(stripe, claim, null);
    } else {
      claim.outdated = true;
    }
  }

  private void askLater(Stripe stripe, Claim claim, long delay, @Nullable SessionId provenDead) {
    claim.stopTimer();
    if (!engine.env.rules().asksAgain()) {
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
                    if (claim.phase == Phase.ASKED && claim.isAttempt(attempt) && !claim.asking) {
                      ask(stripe, claim, provenDead);
                    }
                  } finally {
                    stripe.unlock();
                  }
                }));
  }

  private void answered(Stripe stripe, Claim claim, Sent sent, Reply reply) {
    AttemptId attempt = sent.attempt();
    stripe.lock();
    try {
      if (!claim.isAttempt(attempt) || claim.phase == Phase.DONE) {
        if (reply instanceof Reply.Granted) {
          engine.endUnknown(stripe, claim.name, attempt);
        }
        return;
      }
      claim.asking = false;
      if (claim.phase == Phase.HELD && reply instanceof Reply.Granted granted && granted.wanted()) {
        // A push was faster than this answer, but knew less.
        wanted(claim);
      }
      if (claim.phase != Phase.ASKED) {
        return;
      }
      if (!(reply instanceof Reply.Failed)) {
        claim.trouble(null);
      }
      if (reply instanceof Reply.Granted granted) {
        granted(stripe, claim, sent, granted);
      } else if (reply instanceof Reply.Queued && claim.outdated) {
        ask(stripe, claim, null);
      } else if (reply instanceof Reply.Queued queued) {
        claim.failures(0);
        claim.queued = true;
        spreadFair(stripe, claim);
        inTheWay(stripe, claim, queued.holder(), askAgain(queued.askAgain(), queued.ahead()));
      } else if (reply instanceof Reply.Busy busy) {
        busy(stripe, claim, busy);
      } else if (reply instanceof Reply.Refused refused) {
        refused(stripe, claim, refused);
      } else if (reply instanceof Reply.Failed failed) {
        failed(stripe, claim, failed.cause(), failed.mayHaveRun());
      }
    } finally {
      stripe.unlock();
    }
  }

  /** When the store says, or soon if nobody calls: 20 ms for each who is ahead, 500 ms at most. */
  private Duration askAgain(Duration told, int ahead) {
    if (isCalled) {
      return told;
    }
    long soon = engine.env.jittered(Math.min(POLL_NANOS * (1L + ahead), MOST_POLL_NANOS));
    return told.toNanos() < soon ? told : Duration.ofNanos(soon);
  }

  private void inTheWay(
      Stripe stripe, Claim claim, Reply.@Nullable Holder holder, Duration askAgain) {
    if (holder == null || (!holder.sessionLeft().isZero() && engine.env.rules().letsStoreJudge())) {
      askLater(stripe, claim, askAgain.toNanos(), null);
    } else if (engine.env.rules().letsStoreJudge()) {
      judge(stripe, claim, holder.attempt().session());
    } else {
      askLater(stripe, claim, holder.sessionLeft().toNanos(), holder.attempt().session());
    }
  }

  private void busy(Stripe stripe, Claim claim, Reply.Busy busy) {
    Reply.Holder holder = busy.holder();
    if (holder != null && holder.sessionLeft().isZero() && claim.failures() < JUDGEMENTS) {
      claim.failures(claim.failures() + 1);
      judge(stripe, claim, holder.attempt().session());
      return;
    }
    dismissTriers(stripe, claim, State.BUSY, null);
    if (claim.head == null) {
      discard(stripe, claim);
    } else if (canQueue) {
      ask(stripe, claim, null);
    } else {
      inTheWay(stripe, claim, holder, askAgain(busy.askAgain(), 0));
    }
  }

  /** Those who wanted an answer get it; the others go on waiting. */
  void dismissTriers(Stripe stripe, Claim claim, State state, @Nullable RuntimeException failure) {
    Waiter waiter = claim.head;
    while (waiter != null) {
      Waiter next = waiter.next == claim.head ? null : waiter.next;
      if (waiter.once) {
        claim.remove(waiter);
        waiter.failure = failure;
        waiter.state = state;
        stripe.afterwards(waiter::wake);
      }
      waiter = next;
    }
  }

  private void judge(Stripe stripe, Claim claim, SessionId holder) {
    AttemptId attempt = Objects.requireNonNull(claim.session).attempt(claim.number);
    claim.asking = true;
    stripe.afterwards(
        () ->
            stage(() -> engine.store.judge(holder))
                .whenComplete(
                    (verdict, error) -> judged(stripe, claim, attempt, holder, verdict, error)));
  }

  private void judged(
      Stripe stripe,
      Claim claim,
      AttemptId attempt,
      SessionId holder,
      @Nullable Verdict verdict,
      @Nullable Throwable error) {
    stripe.lock();
    try {
      if (!claim.isAttempt(attempt) || claim.phase == Phase.DONE) {
        return;
      }
      claim.asking = false;
      if (claim.phase != Phase.ASKED) {
        return;
      }
      if (verdict instanceof Verdict.SessionEnded) {
        ask(stripe, claim, holder);
      } else if (verdict instanceof Verdict.Alive alive) {
        if (claim.head != null && claim.head.once) {
          dismissTriers(stripe, claim, State.BUSY, null);
        }
        if (claim.head == null) {
          giveUp(stripe, claim);
        } else {
          askLater(stripe, claim, alive.left().toNanos() + 1_000_000, null);
        }
      } else {
        failed(
            stripe, claim, error == null ? new IllegalStateException("no verdict") : error, true);
      }
    } finally {
      stripe.unlock();
    }
  }

  static <T> CompletionStage<T> stage(Callable<CompletionStage<T>> call) {
    try {
      return call.call();
    } catch (Exception e) {
      return CompletableFuture.failedFuture(e);
    }
  }

  private void refused(Stripe stripe, Claim claim, Reply.Refused refused) {
    switch (refused.why()) {
      case SESSION_GONE -> {
        LiveSession session = Objects.requireNonNull(claim.session);
        stripe.afterwards(() -> engine.sessionGone(session));
      }
      case ENDED, NOT_HELD -> begin(stripe, claim);
      case STORE_FULL ->
          failed(stripe, claim, new StoreUnavailableException(refused.message()), false);
      case UNSUPPORTED -> fail(stripe, claim, new UnsupportedByStoreException(refused.message()));
      case CAPACITY_DIFFERS -> fail(stripe, claim, new LockException(refused.message()));
    }
    if (refused.why() == Why.SESSION_GONE) {
      claim.asking = true; // until the session's end sorts it out
    }
  }

  /** Ends all waits of a claim that does not hold. */
  void fail(Stripe stripe, Claim claim, LockException failure) {
    while (claim.head != null) {
      Waiter waiter = claim.head;
      claim.remove(waiter);
      waiter.fail(failure);
      stripe.afterwards(waiter::wake);
    }
    discard(stripe, claim);
  }

  private void failed(Stripe stripe, Claim claim, Throwable cause, boolean mayHaveRun) {
    claim.trouble(cause);
    if (claim.head != null && claim.head.once) {
      dismissTriers(stripe, claim, State.FAILED, engine.unavailable(claim.name, cause));
    }
    claim.doubt |= mayHaveRun;
    if (claim.head == null) {
      giveUp(stripe, claim);
      return;
    }
    claim.failures(Math.min(claim.failures() + 1, 20));
    long backoff = Math.min(1_000_000_000L, 20_000_000L << Math.min(claim.failures(), 6));
    askLater(stripe, claim, engine.env.jittered(backoff), null);
  }

  // ---- Holding ----

  private void granted(Stripe stripe, Claim claim, Sent sent, Reply.Granted granted) {
    LiveSession session = Objects.requireNonNull(claim.session);
    Bond bond = session;
    Duration atMost = granted.atMostLeft();
    if (atMost != null) {
      bond = timed(session, sent, atMost);
    }
    held(stripe, claim, bond, granted.token(), granted.tokens(), granted.wanted());
  }

  Bond.Timed timed(LiveSession session, Sent sent, Duration atMost) {
    long nanos = atMost.toNanos();
    long from = engine.env.rules().validFrom(sent.at(), engine.env.now());
    return new Bond.Timed(
        session, from + nanos - engine.env.rules().safetyMargin(nanos), sent.asleep());
  }

  /** The store granted the claim's attempt, by reply or by push. */
  void held(Stripe stripe, Claim claim, Bond bond, long token, int tokens, boolean wanted) {
    long now = engine.env.now();
    long until = bond.validUntil();
    if (engine.env.rules().checksGrant() && (until == Long.MIN_VALUE || until - now <= 0)) {
      tooLate(stripe, claim, bond);
      return;
    }
    claim.stopTimer();
    claim.phase = Phase.HELD;
    claim.queued = false;
    claim.failures(0);
    claim.token = token;
    claim.tokensLeft = tokens;
    Waiter head = claim.head;
    if (head == null) {
      // Cannot be: a claim without waiters was given up. If it is, the lock must not be kept.
      release(stripe, claim);
      return;
    }
    take(claim, head, bond);
    stripe.afterwards(head::wake);
    if (bond instanceof Bond.Timed timed) {
      claim.shared = false;
      watch(stripe, claim, timed);
    }
    if (wanted) {
      wanted(claim);
      spreadFair(stripe, claim);
    }
  }

  /** A grant that nobody can believe in any more is given back. */
  private void tooLate(Stripe stripe, Claim claim, Bond bond) {
    end(stripe, claim);
    claim.failures(claim.failures() + 1);
    if (bond instanceof Bond.Timed && claim.failures() >= SHORT_GRANTS) {
      fail(
          stripe,
          claim,
          new LockException(
              "The at-most time of lock '"
                  + claim.name
                  + "' was over each time before the grant arrived. Choose one longer than a round trip to the store."));
      return;
    }
    claim.phase = Phase.UNSENT;
    claim.number = 0;
    claim.timer(
        engine
            .env
            .timers()
            .schedule(
                10_000_000,
                () -> {
                  stripe.lock();
                  try {
                    if (claim.phase == Phase.UNSENT) {
                      begin(stripe, claim);
                    }
                  } finally {
                    stripe.unlock();
                  }
                }));
  }

  /** Loses the lease when its at-most time is over. */
  void watch(Stripe stripe, Claim claim, Bond.Timed bond) {
    claim.stopTimer();
    AttemptId attempt = Objects.requireNonNull(claim.session).attempt(claim.number);
    claim.timer(
        engine
            .env
            .timers()
            .schedule(
                bond.deadline() - engine.env.now(),
                () -> {
                  stripe.lock();
                  try {
                    if (claim.phase == Phase.HELD && claim.isAttempt(attempt)) {
                      engine.lose(stripe, claim, "its at-most time is over");
                      release(stripe, claim);
                    }
                  } finally {
                    stripe.unlock();
                  }
                }));
  }

  private void take(Claim claim, Waiter waiter) {
    take(claim, waiter, Objects.requireNonNull(claim.session));
    if (claim.wanted) {
      claim.passing().passes++;
    }
  }

  private void take(Claim claim, Waiter waiter, Bond bond) {
    if (waiter.claim == claim) {
      claim.remove(waiter);
    }
    LeaseImpl lease = new LeaseImpl(claim, bond, claim.token, waiter);
    if (engine.env.rules().takesFreshToken()) {
      claim.token++;
      claim.tokensLeft--;
    }
    claim.holder = lease;
    waiter.lease = lease;
    waiter.state = State.GRANTED;
  }

  void wanted(Claim claim) {
    if (!claim.wanted) {
      claim.wanted = true;
      Passing passing = claim.passing();
      passing.passes = 0;
      passing.passUntil = engine.env.now() + PASS_NANOS;
    }
  }

  private boolean mustYield(Claim claim) {
    Passing passing = claim.passingOrNull();
    return claim.wanted
        && passing != null
        && engine.env.rules().boundsPasses()
        && (passing.passes >= PASSES || passing.passUntil - engine.env.now() <= 0);
  }

  private boolean canPass(Claim claim) {
    LiveSession session = claim.session;
    return claim.shared
        && claim.tokensLeft > 0
        && session != null
        && session.validUntil() != Long.MIN_VALUE
        && session.validUntil() - engine.env.now() > 0;
  }

  // ---- Passing on ----

  /** The claim holds and nobody of this process does. */
  void pass(Stripe stripe, Claim claim) {
    Waiter head = claim.head;
    if (head == null || !claim.shared || mustYield(claim)) {
      release(stripe, claim);
    } else if (claim.tokensLeft == 0) {
      refresh(stripe, claim);
    } else if (!canPass(claim)) {
      release(stripe, claim);
    } else {
      offer(stripe, claim, head);
    }
  }

  private void offer(Stripe stripe, Claim claim, Waiter head) {
    Passing passing = claim.passing();
    long now = engine.env.now();
    if (passing.bargeUntil == 0) {
      passing.bargeUntil = now + BARGE_NANOS;
    }
    boolean waits = head.isThread() && !head.options.fair();
    if (waits && passing.barges < BARGES && passing.bargeUntil - now > 0) {
      if (!passing.offered) {
        passing.offered = true;
        stripe.afterwards(head::wake);
      }
    } else {
      resetOffer(claim);
      take(claim, head);
      stripe.afterwards(head::wake);
    }
  }

  private static void resetOffer(Claim claim) {
    Passing passing = claim.passingOrNull();
    if (passing != null) {
      passing.offered = false;
      passing.barges = 0;
      passing.bargeUntil = 0;
    }
  }

  /** A woken thread comes for the lock; it may find that another passed it. */
  void come(Waiter waiter) {
    Claim claim = waiter.claim;
    if (claim == null || waiter.isDone() || claim.head != waiter || claim.phase != Phase.HELD) {
      return;
    }
    Passing passing = claim.passingOrNull();
    if (passing == null || !passing.offered) {
      return;
    }
    if (claim.holder == null && !claim.isRefreshing() && canPass(claim)) {
      resetOffer(claim);
      take(claim, waiter);
    } else {
      passing.offered = false;
    }
  }

  /**
   * The store has the lock again; what still waits under the claim asks anew, behind those who wait
   * elsewhere.
   */
  Ending release(Stripe stripe, Claim claim) {
    Ending ending = end(stripe, claim);
    spreadFair(stripe, claim);
    if (claim.head == null) {
      discard(stripe, claim);
    } else {
      claim.shared = isCommon(claim);
      begin(stripe, claim);
    }
    return ending;
  }

  private static boolean isCommon(Claim claim) {
    return claim.mode.isExclusive()
        && claim.mode.capacity() == io.mortise.spi.Mode.SHARERS
        && !claim.terms.isTimed();
  }

  /**
   * Gives each fair waiter an attempt of its own, but for the one whom the claim's attempt is for.
   */
  private void spreadFair(Stripe stripe, Claim claim) {
    Waiter waiter = claim.head;
    if (waiter != null && claim.phase == Phase.ASKED) {
      waiter = waiter.next == claim.head ? null : waiter.next;
    }
    while (waiter != null) {
      Waiter next = waiter.next == claim.head ? null : waiter.next;
      if (waiter.options.fair()) {
        claim.remove(waiter);
        Claim own = new Claim(claim.name, claim.mode, waiter.options.terms(), false);
        own.add(waiter);
        stripe.add(own);
        begin(stripe, own);
      }
      waiter = next;
    }
  }

  private void refresh(Stripe stripe, Claim claim) {
    LiveSession session = Objects.requireNonNull(claim.session);
    AttemptId attempt = session.attempt(claim.number);
    claim.passing().refreshing = true;
    stripe.send(
        session,
        new Request.Adjust(claim.name, attempt, claim.mode, Terms.NONE, Request.MAX_TOKENS),
        reply -> refreshed(stripe, claim, attempt, reply));
  }

  private void refreshed(Stripe stripe, Claim claim, AttemptId attempt, Reply reply) {
    stripe.lock();
    try {
      if (!claim.isAttempt(attempt) || claim.phase != Phase.HELD || !claim.isRefreshing()) {
        return;
      }
      claim.passing().refreshing = false;
      if (reply instanceof Reply.Granted granted) {
        claim.token = granted.token();
        claim.tokensLeft = granted.tokens();
        if (granted.wanted()) {
          wanted(claim);
        }
        pass(stripe, claim);
      } else if (reply instanceof Reply.Refused refused && refused.why() == Why.SESSION_GONE) {
        LiveSession session = Objects.requireNonNull(claim.session);
        stripe.afterwards(() -> engine.sessionGone(session));
      } else {
        release(stripe, claim);
      }
    } finally {
      stripe.unlock();
    }
  }
}
