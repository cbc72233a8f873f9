package io.mortise.internal.engine;

import io.mortise.LockException;
import io.mortise.Terms;
import io.mortise.internal.engine.Claim.Phase;
import io.mortise.internal.engine.Waiter.State;
import io.mortise.spi.AttemptId;
import io.mortise.spi.Reply;
import io.mortise.spi.Request;
import io.mortise.spi.Votes;
import java.time.Duration;
import java.util.Objects;
import java.util.concurrent.TimeoutException;
import org.jspecify.annotations.Nullable;

/**
 * What becomes of a {@link Claim}: joined, asked for ({@link Asking}), held, passed on ({@link
 * HandOver}), given up. Everything in these three runs under the stripe's lock of the claim's name;
 * what it decides to send or to call goes out when that lock is let go.
 */
final class Claims {
  private static final int SHORT_GRANTS = 3;

  /** A store that is silent for longer is not merely slow. */
  private static final long SILENCE_NANOS = 1_000_000_000;

  /** Nor is one that is silent for longer during at least half of a wait. */
  private static final long SHORT_SILENCE_NANOS = 500_000_000;

  /**
   * Where nobody hands over, a process that gives a lock back and wants it again lets others go
   * first for so long. They would find it free by chance only, once in hundreds of passes.
   */
  private static final long COURTESY_NANOS = 2_000_000;

  private final Engine engine;

  Claims(Engine engine) {
    this.engine = engine;
  }

  void join(Stripe stripe, Claim claim, Waiter waiter) {
    if (claim.phase() == Phase.HELD && claim.holder == null && engine.handOver.mayBarge(claim)) {
      claim.passing().barges++;
      engine.handOver.take(claim, waiter);
    } else if (waiter.once) {
      Throwable trouble = claim.phase() == Phase.HELD ? null : claim.trouble();
      if (trouble == null) {
        waiter.state = State.BUSY;
      } else {
        // That others of this process wait for the store says nothing about the lock.
        waiter.fail(engine.unavailable(claim.name, trouble));
      }
    } else {
      claim.contended = true;
      claim.add(waiter);
    }
  }

  /** A waiter ends its wait. Returns false if it is too late, since the wait has ended. */
  boolean leave(Stripe stripe, Waiter waiter) {
    Claim claim = waiter.claim;
    if (waiter.isDone() || claim == null) {
      return false;
    }
    waiter.trouble = trouble(claim, waiter);
    waiter.state = State.CANCELLED;
    boolean wasHead = claim.head() == waiter;
    claim.remove(waiter);
    if (wasHead) {
      engine.handOver.resetOffer(claim);
    }
    if (claim.head() == null && claim.phase() != Phase.HELD) {
      giveUp(stripe, claim);
    } else if (claim.phase() == Phase.HELD
        && claim.holder == null
        && wasHead
        && !claim.isRefreshing()) {
      engine.handOver.pass(stripe, claim);
    }
    return true;
  }

  /** Why it is not known that others were in the waiter's way; null if it is. */
  private @Nullable Throwable trouble(Claim claim, Waiter waiter) {
    if (claim.trouble() != null || claim.phase() == Phase.HELD) {
      return claim.trouble();
    }
    long now = engine.env.now();
    Long since = claim.silentSince(waiter.came);
    long silent = since == null ? 0 : now - since;
    boolean most = silent >= SHORT_SILENCE_NANOS && silent >= (now - waiter.came) / 2;
    if (!most && claim.phase() == Phase.ASKED && claim.session != null) {
      // Nor is anything known if others have asked in vain for as long.
      silent = Math.max(silent, claim.session.silentNanos(now));
    }
    return most || silent >= SILENCE_NANOS
        ? new TimeoutException("no answer within " + silent / 1_000_000 + " ms.")
        : null;
  }

  /**
   * See {@link Asking#askBeforeTheEnd}; how long before the end of a wait that is. A quarter longer
   * than the silence that counts, since threads and timers run late.
   */
  static long lastPart(long waitNanos) {
    return Math.min(SILENCE_NANOS, waitNanos / 2) / 4 * 5;
  }

  /** Nobody stands under a claim that does not hold. */
  void giveUp(Stripe stripe, Claim claim) {
    LiveSession session = claim.session;
    if (claim.phase() == Phase.ASKED && session != null && engine.env.rules().cancelsInStore()) {
      end(stripe, claim);
    }
    discard(stripe, claim);
  }

  /** Ends the claim's attempt in the store. */
  Ending end(Stripe stripe, Claim claim) {
    return end(stripe, claim, false);
  }

  private Ending end(Stripe stripe, Claim claim, boolean later) {
    LiveSession session = Objects.requireNonNull(claim.session);
    AttemptId attempt = session.attempt(claim.number);
    Request.Adjust waiver = null;
    if (claim.phase() != Phase.HELD && claim.terms.atLeast() != null) {
      // If it was granted after all, nobody has used it: it must not keep the lock shut.
      waiver =
          new Request.Adjust(
              claim.name, attempt, claim.mode, new Terms(null, Duration.ofMillis(1), ""), 0);
    }
    Ending ending = new Ending(claim.name, session, attempt, claim.isInDoubt(), waiver);
    ending.later = later;
    return engine.endings.end(stripe, ending);
  }

  void discard(Stripe stripe, Claim claim) {
    claim.stopTimer();
    claim.phase(Phase.DONE);
    stripe.remove(claim);
  }

  /** Ends all waits of a claim that does not hold. */
  void fail(Stripe stripe, Claim claim, LockException failure) {
    while (claim.head() != null) {
      Waiter waiter = claim.head();
      claim.remove(waiter);
      waiter.fail(failure);
      stripe.afterwards(waiter::wake);
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

  void granted(Stripe stripe, Claim claim, Asking.Sent sent, Reply.Granted granted) {
    LiveSession session = Objects.requireNonNull(claim.session);
    Votes votes = granted.votes();
    boolean countsVotes = votes != null && engine.env.rules().countsVotes();
    Bond bond = countsVotes ? new Bond.Voted(session, Objects.requireNonNull(votes)) : session;
    Duration atMost = granted.atMostLeft();
    if (atMost != null) {
      bond = timed(session, bond, sent, atMost, null);
    }
    held(stripe, claim, bond, granted.token(), granted.tokens(), granted.wanted());
  }

  Bond.Timed timed(
      LiveSession session,
      Bond whole,
      Asking.Sent sent,
      Duration atMost,
      Bond.@Nullable Shortest shortest) {
    long from = engine.env.rules().validFrom(sent.at(), engine.env.now());
    long left = reliable(atMost);
    long deadline = shortest == null ? from + left : shortest.deadline(from, left);
    return new Bond.Timed(session, whole, deadline, sent.asleep(), shortest);
  }

  /** How much of a time that the store keeps can be relied upon. */
  long reliable(Duration time) {
    long nanos = time.toNanos();
    return nanos - engine.env.rules().safetyMargin(nanos);
  }

  /** The store granted the claim's attempt, by reply or by push. */
  void held(Stripe stripe, Claim claim, Bond bond, long token, int tokens, boolean wanted) {
    if (engine.env.rules().checksGrant() && isOver(bond)) {
      tooLate(stripe, claim, bond instanceof Bond.Timed);
      return;
    }
    // Counted as held before the look at isShort: SessionTtl.choose sets that first, then counts.
    claim.phase(Phase.HELD);
    LiveSession session = Objects.requireNonNull(claim.session);
    if (session.isShort && engine.env.rules().lengthensBeforeHolding()) {
      claim.phase(Phase.ASKED);
      whenWhole(stripe, claim, session, () -> held(stripe, claim, bond, token, tokens, wanted));
      return;
    }
    claim.stopTimer();
    claim.queued(false);
    claim.failures(0);
    claim.cameInTime();
    claim.stopPolling();
    claim.token = token;
    claim.tokensLeft = engine.hasTokens ? tokens : Integer.MAX_VALUE;
    Waiter head = claim.head();
    if (head == null) {
      // Cannot be: a claim without waiters was given up. If it is, the lock must not be kept.
      release(stripe, claim);
      return;
    }
    engine.handOver.take(claim, head, bond);
    stripe.afterwards(head::wake);
    if (bond instanceof Bond.Timed) {
      claim.shared = false;
    } else if (bond instanceof Bond.Voted voted) {
      claim.voted(voted);
    }
    watch(stripe, claim, bond);
    if (wanted) {
      engine.handOver.wanted(claim);
      engine.handOver.spreadFair(stripe, claim);
    }
  }

  /** Goes on with a grant once the session has its whole TTL, if the attempt is still wanted. */
  private void whenWhole(Stripe stripe, Claim claim, LiveSession session, Runnable hold) {
    AttemptId attempt = session.attempt(claim.number);
    int doubts = session.doubts();
    stripe.afterwards(
        () ->
            engine.whenWhole(
                session,
                () -> {
                  stripe.lock();
                  try {
                    if (claim.phase() != Phase.ASKED || !claim.isAttempt(attempt)) {
                      return;
                    } else if (session.doubts() == doubts) {
                      hold.run();
                    } else {
                      // By a server, perhaps, that has been replaced since.
                      engine.asking.askNow(stripe, claim);
                    }
                  } finally {
                    stripe.unlock();
                  }
                }));
  }

  /**
   * A grant that nobody can believe in any more is given back.
   *
   * @param timed whether it is over because its at-most time is
   */
  void tooLate(Stripe stripe, Claim claim, boolean timed) {
    end(stripe, claim);
    claim.stopTimer();
    if (timed && claim.cameLate() == SHORT_GRANTS) {
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

  private void beginLater(Stripe stripe, Claim claim, long nanos) {
    claim.stopTimer();
    claim.phase(Phase.UNSENT);
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
                    if (claim.phase() == Phase.UNSENT) {
                      engine.asking.begin(stripe, claim);
                    }
                  } finally {
                    stripe.unlock();
                  }
                }));
  }

  /** Loses the lease when that is over for which the session's own deadline does not stand. */
  void watch(Stripe stripe, Claim claim, Bond bond) {
    claim.stopTimer();
    boolean timed = bond instanceof Bond.Timed;
    if (bond instanceof LiveSession || !(timed || engine.env.rules().losesAtDeadline())) {
      return;
    }
    AttemptId attempt = Objects.requireNonNull(claim.session).attempt(claim.number);
    claim.timer(
        engine
            .env
            .timers()
            .schedule(
                watchUntil(bond) - engine.env.now(),
                () -> {
                  stripe.lock();
                  try {
                    if (claim.phase() != Phase.HELD
                        || !claim.isAttempt(attempt)
                        || (timed && isReplaced(bond, claim.holder))) {
                      return;
                    } else if (!isOver(bond)) {
                      watch(stripe, claim, bond);
                      return;
                    }
                    String why =
                        timed ? "its at-most time is over" : "too few members vouch for it in time";
                    engine.lose(stripe, claim, why);
                    release(stripe, claim);
                  } finally {
                    stripe.unlock();
                  }
                }));
  }

  /** Whether a lease hangs on a time that was set after this one. */
  private static boolean isReplaced(Bond bond, @Nullable LeaseImpl holder) {
    return holder != null && holder.bond() != bond && !(holder.bond() instanceof Bond.InDoubt);
  }

  /** When to look; votes that are renewed move it on. */
  private long watchUntil(Bond bond) {
    if (bond instanceof Bond.Timed timed && timed.whole() instanceof LiveSession) {
      return timed.deadline();
    }
    long until = bond.validUntil();
    return until == Long.MIN_VALUE ? engine.env.now() : until;
  }

  private boolean isOver(Bond bond) {
    long until = bond.validUntil();
    return until == Long.MIN_VALUE || until - engine.env.now() <= 0;
  }

  /**
   * The store has the lock again; what still waits under the claim asks anew, behind those who wait
   * elsewhere.
   */
  Ending release(Stripe stripe, Claim claim) {
    return release(stripe, claim, false);
  }

  /**
   * As {@link #release(Stripe, Claim)}.
   *
   * @param quietly nobody waits for the store's answer
   */
  Ending release(Stripe stripe, Claim claim, boolean quietly) {
    Ending ending = end(stripe, claim, quietly && !claim.wanted);
    if (claim.wanted) {
      // Else one attempt goes on standing for all: it was given back for its tokens' sake, say.
      engine.handOver.spreadFair(stripe, claim);
    }
    if (claim.head() == null) {
      discard(stripe, claim);
    } else {
      claim.shared = isCommon(claim);
      if (claim.wanted && !engine.asking.canQueue()) {
        beginLater(stripe, claim, engine.env.jittered(COURTESY_NANOS));
      } else {
        engine.asking.begin(stripe, claim);
      }
    }
    return ending;
  }

  private static boolean isCommon(Claim claim) {
    return claim.mode.isExclusive()
        && claim.mode.capacity() == io.mortise.spi.Mode.SHARERS
        && !claim.terms.isTimed();
  }
}
