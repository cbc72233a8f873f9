package io.mortise.internal.engine;

import io.mortise.HoldTerms;
import io.mortise.LockException;
import io.mortise.event.LeaseEnd;
import io.mortise.internal.engine.Claim.ClaimPhase;
import io.mortise.internal.engine.Waiter.WaiterState;
import io.mortise.internal.runtime.StoreCall;
import io.mortise.internal.session.LiveSession;
import io.mortise.internal.session.StoreOutage;
import io.mortise.internal.session.StoreSilence;
import io.mortise.internal.session.Validity;
import io.mortise.spi.AttemptId;
import io.mortise.spi.Mode;
import io.mortise.spi.Reply;
import io.mortise.spi.Request;
import io.mortise.spi.Votes;
import io.mortise.spi.time.DurationText;
import java.time.Duration;
import java.util.Objects;
import java.util.concurrent.TimeoutException;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;

/**
 * What becomes of a {@link Claim}: joined, asked for ({@link AcquireProtocol}), held, passed on
 * ({@link LocalHandoff}), given up. Everything in these three runs under the stripe's lock of the
 * claim's name; what it decides to send or to call goes out when that lock is let go.
 */
final class ClaimTransitions {
  /** So many late grants, or attempts that the store ended, in a row are no accident. */
  private static final int FAILURE_LIMIT = 3;

  /** A store that is silent for longer is not merely slow. */
  private static final long SILENCE_NANOS = 1_000_000_000;

  /** Nor is one that is silent for longer during at least half of a wait. */
  private static final long SHORT_SILENCE_NANOS = 500_000_000;

  /**
   * In a store without a queue that tells a holder nothing of waiters while it holds, threads let
   * others go first for so long when their process has given back a lock that they want. Others
   * would find it free by chance only, once in hundreds of passes. {@link ReacquirePauses} serves
   * stores with notes; one that comes with the answer to the release makes this pause longer.
   */
  private static final long COURTESY_NANOS = 2_000_000;

  private final Engine engine;

  /** How long a try may take: the store's timeout. */
  final long tryNanos;

  ClaimTransitions(Engine engine) {
    this.engine = engine;
    this.tryNanos = StoreCall.limit(engine.store).toNanos();
  }

  void join(Stripe stripe, Claim claim, Waiter waiter) {
    if (claim.phase() == ClaimPhase.HELD
        && claim.holder == null
        && engine.localHandoff.mayBarge(claim)) {
      claim.handoffState().barges++;
      engine.localHandoff.take(claim, waiter);
    } else if (waiter.tryOnly) {
      Throwable storeFailure = claim.phase() == ClaimPhase.HELD ? null : claim.storeFailure();
      if (storeFailure == null) {
        waiter.noteHolder(claim);
        waiter.waiterState = WaiterState.BUSY;
      } else {
        // That others of this process wait for the store says nothing about the lock.
        waiter.fail(engine.unavailable(claim.name, storeFailure));
      }
    } else {
      claim.contended = true;
      claim.add(waiter);
      engine.queueLimit.joined(stripe, claim, waiter);
    }
  }

  /** A waiter ends its wait. Returns false if it is too late, since the wait has ended. */
  boolean cancelWait(Stripe stripe, Waiter waiter) {
    Claim claim = waiter.claim;
    if (waiter.isDone() || claim == null) {
      return false;
    }
    long now = engine.env.now();
    StoreSilence silence = engine.silence();
    Long silentSince = claim.silentSince(waiter.arrivedAt(), silence);
    waiter.storeFailure = storeFailure(claim, waiter, silence, silentSince, now);
    waiter.unanswered =
        StoreOutage.unansweredPart(
            claim.outageOrNull(),
            claim.phase() == ClaimPhase.HELD ? null : silence,
            silentSince,
            waiter.arrivedAt(),
            now);
    waiter.waiterState = WaiterState.CANCELLED;
    boolean wasHead = claim.head() == waiter;
    claim.remove(waiter);
    if (wasHead) {
      engine.localHandoff.resetOffer(claim);
    }
    if (claim.head() == null && claim.phase() != ClaimPhase.HELD) {
      giveUp(stripe, claim);
    } else if (claim.phase() == ClaimPhase.HELD
        && claim.holder == null
        && wasHead
        && !claim.isRefreshing()) {
      engine.localHandoff.handOff(stripe, claim);
    }
    return true;
  }

  /** As {@link #cancelWait}, of a try whose time is over: the store did not decide it. */
  boolean expireTry(Stripe stripe, Waiter waiter) {
    if (!cancelWait(stripe, waiter)) {
      return false;
    }
    waiter.storeFailure =
        waiter.storeFailure == null ? noAnswer("within", tryNanos) : waiter.storeFailure;
    return true;
  }

  /** The span is {@code within} for a limit, and {@code for} for the length of a silence. */
  static TimeoutException noAnswer(String span, long nanos) {
    String time = DurationText.format(Duration.ofNanos(nanos));
    return new TimeoutException("no answer " + span + " " + time + ".");
  }

  /** Why it is not known that others were in the waiter's way; null if it is. */
  private static @Nullable Throwable storeFailure(
      Claim claim, Waiter waiter, StoreSilence silence, @Nullable Long silentSince, long now) {
    if (claim.storeFailure() != null || claim.phase() == ClaimPhase.HELD) {
      return claim.storeFailure();
    }
    long silent = silentSince == null ? 0 : now - silentSince;
    boolean most = silent >= SHORT_SILENCE_NANOS && silent >= (now - waiter.arrivedAt()) / 2;
    if (!most && claim.phase() == ClaimPhase.ASKED) {
      // Nor is anything known if others have asked in vain for as long.
      silent = Math.max(silent, silence.nanos(now));
    }
    return most || silent >= SILENCE_NANOS ? noAnswer("for", silent) : null;
  }

  /**
   * See {@link AcquireProtocol#pollBeforeDeadline}; how long before the end of a wait that is. A
   * quarter longer than the silence that counts, since threads and timers run late.
   */
  static long finalPollLead(long waitNanos) {
    return Math.min(SILENCE_NANOS, waitNanos / 2) / 4 * 5;
  }

  /** Nobody stands under a claim that does not hold. */
  void giveUp(Stripe stripe, Claim claim) {
    LiveSession session = claim.session;
    if (claim.phase() == ClaimPhase.ASKED
        && session != null
        && engine.env.rules().cancelsInStore()) {
      end(stripe, claim);
    }
    discard(stripe, claim);
  }

  /** Ends the claim's attempt in the store. */
  PendingRelease end(Stripe stripe, Claim claim) {
    return end(stripe, claim, false);
  }

  PendingRelease end(Stripe stripe, Claim claim, boolean later) {
    engine.stickyProtocol.ends(stripe, claim);
    LiveSession session = Objects.requireNonNull(claim.session);
    AttemptId attempt = session.attempt(claim.number);
    Request.Adjust waiver = null;
    if (claim.phase() != ClaimPhase.HELD && claim.terms.atLeast() != null) {
      // If it was granted after all, nobody has used it: it must not keep the lock shut.
      waiver =
          new Request.Adjust(
              claim.name, attempt, claim.mode, new HoldTerms(null, Duration.ofMillis(1), ""), 0, 0);
    }
    PendingRelease pendingRelease =
        new PendingRelease(claim.name, session, attempt, claim.isInDoubt(), waiver);
    pendingRelease.later = later;
    return engine.releaseProtocol.end(stripe, pendingRelease);
  }

  void discard(Stripe stripe, Claim claim) {
    engine.stickyProtocol.unlink(stripe, claim);
    claim.stopTimer();
    engine.queueProtocol.left(stripe, claim);
    claim.phase(ClaimPhase.DONE);
    stripe.remove(claim);
  }

  /**
   * The client is being closed: ends all that is held or waited for.
   *
   * @param open hears of each lock whose lease was open
   */
  void abandonAll(Stripe stripe, Consumer<String> open) {
    for (Claim claim : Engine.claimsOf(stripe, null)) {
      if (claim.holder != null && claim.holder.isOpen()) {
        open.accept(claim.name.toString());
        engine.lossProtocol.loseClosed(stripe, claim);
      }
      LiveSession session = claim.session;
      if (session != null
          && (claim.phase() == ClaimPhase.HELD || claim.phase() == ClaimPhase.ASKED)
          && engine.isLive(session)) {
        end(stripe, claim, StickyProtocol.isIdle(claim));
      }
      if (claim.head() == null) {
        discard(stripe, claim);
      } else {
        fail(
            stripe,
            claim,
            new LockException(
                "The wait for lock '" + claim.name + "' ended: its client was closed."));
      }
    }
  }

  /** Ends all waits of a claim that does not hold. */
  void fail(Stripe stripe, Claim claim, LockException failure) {
    while (claim.head() != null) {
      Waiter waiter = claim.head();
      claim.remove(waiter);
      waiter.fail(failure);
      stripe.afterUnlock(waiter::wake);
    }
    discard(stripe, claim);
  }

  /** An operator ended a wait. */
  void evicted(Stripe stripe, Claim claim) {
    end(stripe, claim);
    fail(
        stripe,
        claim,
        new LockException("The wait for lock '" + claim.name + "' was ended by an operator."));
  }

  void granted(
      Stripe stripe, Claim claim, AcquireProtocol.SentRequest sent, Reply.Granted granted) {
    LiveSession session = Objects.requireNonNull(claim.session);
    Votes votes = granted.votes();
    boolean countsVotes = votes != null && engine.env.rules().countsVotes();
    Validity validity =
        countsVotes ? new Validity.ByQuorum(session, Objects.requireNonNull(votes)) : session;
    Duration atMost = granted.atMostLeft();
    if (atMost != null) {
      validity = timed(session, validity, sent, atMost, null);
    }
    held(stripe, claim, validity, granted.token(), granted.tokens(), granted.wanted());
  }

  Validity.Capped timed(
      LiveSession session,
      Validity whole,
      AcquireProtocol.SentRequest sent,
      Duration atMost,
      Validity.@Nullable RecentAtMost recentAtMost) {
    long from = engine.env.rules().validFrom(sent.at(), engine.env.now());
    long left = minusSafetyMargin(atMost);
    long deadline = recentAtMost == null ? from + left : recentAtMost.deadline(from, left);
    return new Validity.Capped(session, whole, deadline, sent.suspendedNanos(), recentAtMost);
  }

  /** How much of a time that the store keeps can be relied upon. */
  long minusSafetyMargin(Duration time) {
    long nanos = time.toNanos();
    return nanos - engine.env.rules().safetyMargin(nanos);
  }

  /** The store granted the claim's attempt, by reply or by push. */
  void held(Stripe stripe, Claim claim, Validity validity, long token, int tokens, boolean wanted) {
    if (engine.env.rules().checksGrant() && validity.isOver()) {
      discardLateGrant(stripe, claim, validity instanceof Validity.Capped);
      return;
    }
    // Counted as held before the look at isShort: SessionTtl.choose sets that first, then counts.
    claim.phase(ClaimPhase.HELD);
    LiveSession session = Objects.requireNonNull(claim.session);
    if (session.hasShortTtl() && engine.env.rules().restoresTtlBeforeGrant()) {
      claim.phase(ClaimPhase.ASKED);
      whenFullTtl(
          stripe, claim, session, () -> held(stripe, claim, validity, token, tokens, wanted));
      return;
    }
    claim.stopTimer();
    engine.queueProtocol.granted(stripe, claim);
    claim.failures(0);
    claim.resetAfterGrant();
    claim.token = token;
    claim.tokensLeft = engine.hasTokens ? tokens : Integer.MAX_VALUE;
    engine.stickyProtocol.refilled(claim);
    Waiter head = claim.head();
    if (head == null) {
      // Cannot be: a claim without waiters was given up. If it is, the lock must not be kept.
      release(stripe, claim);
      return;
    }
    engine.localHandoff.take(claim, head, validity);
    stripe.afterUnlock(head::wake);
    engine.queueLimit.check(stripe, claim, 0);
    if (validity instanceof Validity.Capped) {
      claim.joinable = false;
    } else if (validity instanceof Validity.ByQuorum byQuorum) {
      claim.voted(byQuorum);
    }
    watch(stripe, claim, validity);
    if (wanted) {
      engine.localHandoff.wanted(claim);
      engine.localHandoff.splitFairWaiters(stripe, claim);
    }
  }

  /** Goes on with a grant once the session has its whole TTL, if the attempt is still wanted. */
  private void whenFullTtl(Stripe stripe, Claim claim, LiveSession session, Runnable hold) {
    AttemptId attempt = session.attempt(claim.number);
    int incarnationChanges = session.incarnationChanges();
    stripe.afterUnlock(
        () ->
            engine.whenFullTtl(
                session,
                () -> {
                  stripe.lock();
                  try {
                    if (claim.phase() != ClaimPhase.ASKED || !claim.isAttempt(attempt)) {
                      return;
                    } else if (session.incarnationChanges() == incarnationChanges) {
                      hold.run();
                    } else {
                      // By a server, perhaps, that has been replaced since.
                      engine.acquireProtocol.pollNow(stripe, claim);
                    }
                  } finally {
                    stripe.unlock();
                  }
                }));
  }

  /**
   * A grant that nobody can believe in any more is given back.
   *
   * @param capped whether it is over because its at-most time is
   */
  void discardLateGrant(Stripe stripe, Claim claim, boolean capped) {
    end(stripe, claim);
    claim.stopTimer();
    if (capped && claim.cameLate() == FAILURE_LIMIT) {
      fail(
          stripe,
          claim,
          new LockException(
              "The at-most time of lock '"
                  + claim.name
                  + "' was over each time before the grant arrived. Choose one longer than a round trip to the store."));
      return;
    }
    beginLater(stripe, claim, 10_000_000);
  }

  /** Begins a new attempt, later if that was of no use before. */
  void beginAgain(Stripe stripe, Claim claim) {
    claim.failures(Math.min(claim.failures() + 1, 20));
    if (claim.failures() < FAILURE_LIMIT) {
      engine.acquireProtocol.begin(stripe, claim);
    } else {
      beginLater(stripe, claim, engine.env.jittered(10_000_000L << Math.min(claim.failures(), 6)));
    }
  }

  /** Begins a new attempt after a time. Waiters under the claim go on waiting. */
  void beginLater(Stripe stripe, Claim claim, long nanos) {
    claim.stopTimer();
    engine.queueProtocol.left(stripe, claim);
    claim.phase(ClaimPhase.UNSENT);
    claim.number = 0;
    claim.timer(
        engine
            .env
            .timers()
            .schedule(
                nanos,
                () -> {
                  stripe.lock();
                  try {
                    if (claim.phase() == ClaimPhase.UNSENT) {
                      engine.acquireProtocol.begin(stripe, claim);
                    }
                  } finally {
                    stripe.unlock();
                  }
                }));
  }

  /** Loses the lease when that is over for which the session's own deadline does not stand. */
  void watch(Stripe stripe, Claim claim, Validity validity) {
    claim.stopTimer();
    boolean capped = validity instanceof Validity.Capped;
    if (validity instanceof LiveSession || !(capped || engine.env.rules().losesAtDeadline())) {
      return;
    }
    AttemptId attempt = Objects.requireNonNull(claim.session).attempt(claim.number);
    claim.timer(
        engine
            .env
            .timers()
            .schedule(
                watchNanos(validity),
                () -> {
                  stripe.lock();
                  try {
                    if (claim.phase() != ClaimPhase.HELD
                        || !claim.isAttempt(attempt)
                        || (capped && isReplaced(validity, claim.holder))) {
                      return;
                    } else if (!validity.isOver()) {
                      watch(stripe, claim, validity);
                      return;
                    }
                    if (engine.lossProtocol.isAtMostOver(validity)) {
                      engine.lossProtocol.loseAtMost(stripe, claim);
                    } else {
                      String reason =
                          capped
                              ? "it was not renewed in time"
                              : "too few members vouch for it in time";
                      engine.lossProtocol.lose(stripe, claim, LeaseEnd.NOT_RENEWED, reason);
                    }
                    release(stripe, claim);
                  } finally {
                    stripe.unlock();
                  }
                }));
  }

  /** Whether a lease hangs on a time that was set after this one. */
  private static boolean isReplaced(Validity validity, @Nullable LeaseImpl holder) {
    return holder != null
        && holder.validity() != validity
        && !(holder.validity() instanceof Validity.Unconfirmed);
  }

  /** How long until the next look; votes that are renewed move it on. */
  private long watchNanos(Validity validity) {
    return validity instanceof Validity.Capped capped && capped.whole() instanceof LiveSession
        ? capped.deadline() - engine.env.now()
        : validity.leftNanos();
  }

  /**
   * The store has the lock again; what still waits under the claim asks anew, behind those who wait
   * elsewhere.
   */
  PendingRelease release(Stripe stripe, Claim claim) {
    return release(stripe, claim, false);
  }

  /**
   * As {@link #release(Stripe, Claim)}.
   *
   * @param quietly nobody waits for the store's answer
   */
  PendingRelease release(Stripe stripe, Claim claim, boolean quietly) {
    PendingRelease pendingRelease = end(stripe, claim, quietly && !claim.wanted);
    if (engine.acquireProtocol.isToldWhileHolding()) {
      stripe.gaveBack(claim.name, engine.localHandoff.wantedSince(claim), engine.env);
    } else if (!engine.acquireProtocol.canQueue()) {
      pendingRelease.heldSince = engine.localHandoff.wantedSince(claim);
    }
    if (claim.wanted) {
      // Else one attempt goes on standing for all: it was given back for its tokens' sake, say.
      engine.localHandoff.splitFairWaiters(stripe, claim);
    }
    if (claim.head() == null) {
      discard(stripe, claim);
    } else {
      claim.joinable = isCommon(claim);
      if (claim.wanted
          && !engine.acquireProtocol.canQueue()
          && !engine.acquireProtocol.isToldWhileHolding()) {
        beginLater(stripe, claim, engine.env.jittered(COURTESY_NANOS));
      } else {
        engine.acquireProtocol.begin(stripe, claim);
      }
    }
    return pendingRelease;
  }

  private static boolean isCommon(Claim claim) {
    return claim.mode.isExclusive()
        && claim.mode.capacity() == Mode.SHARERS
        && !claim.terms.isTimed();
  }
}
