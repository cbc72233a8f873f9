package io.mortise.internal.engine;

import io.mortise.HoldTerms;
import io.mortise.LockException;
import io.mortise.event.LeaseEnd;
import io.mortise.internal.engine.LocalHandoff.HandoffStep;
import io.mortise.internal.engine.state.Claim;
import io.mortise.internal.engine.state.Claim.ClaimPhase;
import io.mortise.internal.engine.state.ClaimEffect;
import io.mortise.internal.engine.state.EngineSettings;
import io.mortise.internal.engine.state.IdleClaims;
import io.mortise.internal.engine.state.IdleClaims.StickyClaim;
import io.mortise.internal.engine.state.LeaseImpl;
import io.mortise.internal.engine.state.PendingRelease;
import io.mortise.internal.engine.state.SentRequest;
import io.mortise.internal.engine.state.Stripe;
import io.mortise.internal.engine.state.Waiter;
import io.mortise.internal.session.LiveSession;
import io.mortise.internal.session.Validity;
import io.mortise.spi.AttemptId;
import io.mortise.spi.Reply;
import io.mortise.spi.Reply.RefusalReason;
import io.mortise.spi.Request;
import io.mortise.spi.Votes;
import java.time.Duration;
import java.util.Objects;
import org.jspecify.annotations.Nullable;

/**
 * The transitions of a {@link Claim}: requested, held, passed on, given up. The helpers decide
 * their parts and do not know each other; this class combines their decisions. It changes the claim
 * and its stripe, under the stripe's lock, and leaves effects with the stripe.
 */
final class ClaimTransitions {
  /** This many late grants, or attempts ended by the store, in a row are no accident. */
  private static final int FAILURE_LIMIT = 3;

  /**
   * How long threads let others go first after their process released a lock that they want, in a
   * store without a queue that notifies no holder of waiters. Others would find it free only by
   * chance, once in hundreds of passes. {@code ReacquirePauses} serves stores with notes; a note in
   * the answer to the release lengthens this pause.
   */
  private static final long COURTESY_NANOS = 2_000_000;

  private final EngineSettings settings;
  private final ClaimRequests requests;
  private final LocalHandoff localHandoff;
  private final StickyProtocol stickyProtocol;
  private final QueueLimit queueLimit;
  private final ReleaseProtocol releaseProtocol;
  private final LossProtocol lossProtocol;

  ClaimTransitions(
      EngineSettings settings,
      ClaimRequests requests,
      LocalHandoff localHandoff,
      StickyProtocol stickyProtocol,
      QueueLimit queueLimit,
      ReleaseProtocol releaseProtocol,
      LossProtocol lossProtocol) {
    this.settings = settings;
    this.requests = requests;
    this.localHandoff = localHandoff;
    this.stickyProtocol = stickyProtocol;
    this.queueLimit = queueLimit;
    this.releaseProtocol = releaseProtocol;
    this.lossProtocol = lossProtocol;
  }

  // ---- Ending ----

  /** Gives up a claim that does not hold and has no waiters. */
  void giveUp(Stripe stripe, Claim claim) {
    if (claim.phase() == ClaimPhase.ASKED
        && claim.session() != null
        && settings.rules().cancelsInStore()) {
      end(stripe, claim, false);
    }
    discard(stripe, claim);
  }

  /**
   * Ends the claim's attempt in the store.
   *
   * @param later whether the end may share a message with the next request
   */
  PendingRelease end(Stripe stripe, Claim claim, boolean later) {
    stickyProtocol.ends(stripe, claim);
    AttemptId attempt = claim.attempt();
    Request.Adjust waiver = null;
    if (claim.phase() != ClaimPhase.HELD && claim.terms().atLeast() != null) {
      // If it was granted after all, the grant was never used: it must not keep the lock shut.
      waiver =
          new Request.Adjust(
              claim.name(),
              attempt,
              claim.mode(),
              new HoldTerms(null, Duration.ofMillis(1), ""),
              0,
              0);
    }
    return releaseProtocol.end(
        stripe,
        new PendingRelease(
            claim.name(), claim.openSession(), attempt, claim.isInDoubt(), waiver, later));
  }

  /** Discards a claim without waiters or hold. */
  void discard(Stripe stripe, Claim claim) {
    stickyProtocol.unlink(stripe, claim);
    claim.stopTimer();
    requests.leaveQueue(stripe, claim);
    claim.phase(ClaimPhase.DONE);
    stripe.remove(claim);
  }

  /** Ends all waits of a claim that does not hold. */
  void fail(Stripe stripe, Claim claim, LockException failure) {
    for (Waiter waiter = claim.head(); waiter != null; waiter = claim.head()) {
      claim.remove(waiter);
      waiter.fail(failure);
      stripe.wake(waiter);
    }
    discard(stripe, claim);
  }

  /** Ends a wait that an operator evicted. */
  void evicted(Stripe stripe, Claim claim) {
    end(stripe, claim, false);
    fail(
        stripe,
        claim,
        new LockException("The wait for lock '" + claim.name() + "' was ended by an operator."));
  }

  /** Answers the tries: another holds the lock. The other waiters continue to wait. */
  void completeTries(Stripe stripe, Claim claim) {
    completeTries(stripe, claim, null);
  }

  /** Answers the tries; the other waiters continue to wait. */
  void completeTries(Stripe stripe, Claim claim, @Nullable LockException failure) {
    Waiter waiter = claim.head();
    while (waiter != null) {
      Waiter next = claim.after(waiter);
      if (waiter.isTry()) {
        claim.remove(waiter);
        if (failure == null) {
          waiter.busy();
        } else {
          waiter.fail(failure);
        }
        stripe.wake(waiter);
      }
      waiter = next;
    }
  }

  /** As {@link #completeTries}; refuses the waiters that do not join a queue of this length. */
  void completeTriesInQueue(Stripe stripe, Claim claim, int ahead) {
    completeTries(stripe, claim);
    queueLimit.check(stripe, claim, ahead);
  }

  // ---- Beginning ----

  /** Begins a new attempt, after a pause if earlier ones failed. */
  void beginAgain(Stripe stripe, Claim claim) {
    claim.failures(Math.min(claim.failures() + 1, 20));
    if (claim.failures() < FAILURE_LIMIT) {
      requests.begin(stripe, claim);
    } else {
      long nanos = 10_000_000L << Math.min(claim.failures(), 6);
      requests.beginLater(stripe, claim, settings.env().jittered(nanos));
    }
  }

  // ---- Holding ----

  /** Handles a grant of the claim's attempt by reply. */
  void granted(Stripe stripe, Claim claim, SentRequest sent, Reply.Granted granted) {
    LiveSession session = claim.openSession();
    Votes votes = granted.votes();
    boolean countsVotes = votes != null && settings.rules().countsVotes();
    Validity validity =
        countsVotes ? new Validity.ByQuorum(session, Objects.requireNonNull(votes)) : session;
    Duration atMost = EngineSettings.atMostLeft(granted, claim.terms().atMost());
    if (atMost != null) {
      validity = timed(session, validity, sent, atMost, null);
    }
    held(stripe, claim, validity, granted.token(), granted.tokens(), granted.wanted());
  }

  /** The validity of a hold with this rest of its at-most time, from the answer to this request. */
  Validity.Capped timed(
      LiveSession session,
      Validity whole,
      SentRequest sent,
      Duration atMost,
      Validity.@Nullable RecentAtMost recentAtMost) {
    long from = settings.rules().validFrom(sent.at(), settings.now());
    long left = settings.minusSafetyMargin(atMost);
    long deadline = recentAtMost == null ? from + left : recentAtMost.deadline(from, left);
    return new Validity.Capped(session, whole, deadline, sent.suspendedNanos(), recentAtMost);
  }

  /** Handles a grant of the claim's attempt by reply or push. */
  void held(Stripe stripe, Claim claim, Validity validity, long token, int tokens, boolean wanted) {
    if (settings.rules().checksGrant() && validity.isOver()) {
      discardLateGrant(stripe, claim, validity instanceof Validity.Capped);
      return;
    }
    // Counted as held before the check of isShort: SessionTtl.choose sets that first, then counts.
    claim.phase(ClaimPhase.HELD);
    LiveSession session = claim.openSession();
    if (session.hasShortTtl() && settings.rules().restoresTtlBeforeGrant()) {
      claim.phase(ClaimPhase.ASKED);
      whenFullTtl(
          stripe, claim, session, () -> held(stripe, claim, validity, token, tokens, wanted));
      return;
    }
    claim.stopTimer();
    requests.leaveQueueGranted(stripe, claim);
    claim.failures(0);
    claim.resetAfterGrant();
    claim.tokens(token, settings.hasTokens() ? tokens : Integer.MAX_VALUE);
    stickyProtocol.refilled(claim);
    Waiter head = claim.head();
    if (head == null) {
      // Cannot happen: a claim without waiters was given up. If it does, the lock must not be kept.
      release(stripe, claim);
      return;
    }
    localHandoff.take(claim, head, validity);
    taken(stripe, claim, head);
    stripe.wake(head);
    queueLimit.check(stripe, claim, 0);
    if (validity instanceof Validity.Capped) {
      claim.isolate();
    } else if (validity instanceof Validity.ByQuorum byQuorum) {
      claim.voted(byQuorum);
    }
    watch(stripe, claim, validity);
    if (wanted) {
      claim.wanted(settings.now());
      requests.splitFairWaiters(stripe, claim);
    }
  }

  /** Continues with a grant once the session has its whole TTL, if the attempt is still wanted. */
  private void whenFullTtl(Stripe stripe, Claim claim, LiveSession session, Runnable hold) {
    AttemptId attempt = claim.attempt();
    int incarnationChanges = session.incarnationChanges();
    stripe.emit(
        new ClaimEffect.AwaitFullTtl(
            session,
            () -> {
              if (claim.phase() != ClaimPhase.ASKED || !claim.isAttempt(attempt)) {
                return;
              } else if (session.incarnationChanges() == incarnationChanges) {
                hold.run();
              } else {
                // The granting server may have been replaced since.
                requests.pollNow(stripe, claim);
              }
            }));
  }

  /**
   * Releases a grant that is no longer valid.
   *
   * @param capped whether it is over because its at-most time ended
   */
  void discardLateGrant(Stripe stripe, Claim claim, boolean capped) {
    end(stripe, claim, false);
    claim.stopTimer();
    if (capped && claim.cameLate() == FAILURE_LIMIT) {
      fail(
          stripe,
          claim,
          new LockException(
              "The at-most time of lock '"
                  + claim.name()
                  + "' was over each time before the grant arrived. Choose one longer than a round trip to the store."));
      return;
    }
    requests.beginLater(stripe, claim, 10_000_000);
  }

  /** Loses the lease at the end of a validity that the session's own deadline does not cover. */
  void watch(Stripe stripe, Claim claim, Validity validity) {
    claim.stopTimer();
    boolean capped = validity instanceof Validity.Capped;
    if (validity instanceof LiveSession || !(capped || settings.rules().losesAtDeadline())) {
      return;
    }
    AttemptId attempt = claim.attempt();
    stripe.emit(
        claim.timer(
            watchNanos(validity),
            () -> {
              if (claim.phase() != ClaimPhase.HELD
                  || !claim.isAttempt(attempt)
                  || (capped && isReplaced(validity, claim.holder()))) {
                return;
              } else if (!validity.isOver()) {
                watch(stripe, claim, validity);
                return;
              }
              if (LossProtocol.isAtMostOver(validity)) {
                lossProtocol.loseAtMost(stripe, claim);
              } else {
                String reason =
                    capped ? "it was not renewed in time" : "too few members vouch for it in time";
                lossProtocol.lose(stripe, claim, LeaseEnd.NOT_RENEWED, reason);
              }
              release(stripe, claim);
            }));
  }

  /** Whether a later time has replaced this one as the lease's validity. */
  private static boolean isReplaced(Validity validity, @Nullable LeaseImpl holder) {
    return holder != null
        && holder.validity() != validity
        && !(holder.validity() instanceof Validity.Unconfirmed);
  }

  /** The time until the next check; renewed votes move it on. */
  private long watchNanos(Validity validity) {
    return validity instanceof Validity.Capped capped && capped.whole() instanceof LiveSession
        ? capped.deadline() - settings.now()
        : validity.leftNanos();
  }

  /** Records that another process wants the claim's hold. */
  void wanted(Stripe stripe, Claim claim) {
    claim.wanted(settings.now());
    if (stickyProtocol.givesBack(claim)) {
      release(stripe, claim);
    }
  }

  /** Loses a hold that the store no longer knew. */
  void loseForgotten(Stripe stripe, Claim claim, String why) {
    lossProtocol.lose(stripe, claim, LeaseEnd.FORGOTTEN, why);
    release(stripe, claim);
  }

  /** Releases the lock; remaining waiters start a new attempt, behind waiters elsewhere. */
  PendingRelease release(Stripe stripe, Claim claim) {
    return release(stripe, claim, false);
  }

  /**
   * As {@link #release(Stripe, Claim)}.
   *
   * @param quietly whether no caller waits for the store's answer
   */
  PendingRelease release(Stripe stripe, Claim claim, boolean quietly) {
    PendingRelease pendingRelease = end(stripe, claim, quietly && !claim.isWanted());
    if (settings.isToldWhileHolding()) {
      stripe.gaveBack(claim.name(), localHandoff.wantedSince(claim), settings.env());
    } else if (!settings.canQueue()) {
      pendingRelease.heldSince(localHandoff.wantedSince(claim));
    }
    if (claim.isWanted()) {
      // Otherwise one attempt still stands for all: the lock was released to get new tokens, for
      // instance.
      requests.splitFairWaiters(stripe, claim);
    }
    if (claim.head() == null) {
      discard(stripe, claim);
      return pendingRelease;
    }
    claim.restoreJoinable();
    if (claim.isWanted() && !settings.canQueue() && !settings.isToldWhileHolding()) {
      requests.beginLater(stripe, claim, settings.env().jittered(COURTESY_NANOS));
    } else {
      requests.begin(stripe, claim);
    }
    return pendingRelease;
  }

  // ---- From thread to thread ----

  /** Lets a newcomer pass the woken head. */
  void barge(Stripe stripe, Claim claim, Waiter waiter) {
    claim.handoffState().barged();
    pass(stripe, claim, waiter);
  }

  private void pass(Stripe stripe, Claim claim, Waiter waiter) {
    localHandoff.pass(claim, waiter);
    taken(stripe, claim, waiter);
  }

  private void taken(Stripe stripe, Claim claim, Waiter waiter) {
    if (stickyProtocol.taken(claim, waiter)) {
      refresh(stripe, claim);
    }
  }

  /** Lets a waiter take the claim's idle grant. */
  void takeIdle(Stripe stripe, StickyClaim claim, Waiter waiter) {
    stickyProtocol.unlink(stripe, claim);
    claim.retaken();
    if (claim.tokensLeft() > 0) {
      pass(stripe, claim, waiter);
    } else {
      claim.add(waiter);
      handOff(stripe, claim);
    }
  }

  /**
   * The claim holds without a local lease. Returns the pending release if the hold ends; null if it
   * stays here.
   */
  @Nullable PendingRelease handOff(Stripe stripe, Claim claim) {
    Waiter head = claim.head();
    HandoffStep step = localHandoff.next(claim);
    if (step == HandoffStep.RELEASE) {
      return release(stripe, claim);
    } else if (step == HandoffStep.REFRESH) {
      refresh(stripe, claim);
    } else if (head != null && step != HandoffStep.AWAIT) {
      if (step == HandoffStep.TAKE) {
        pass(stripe, claim, head);
      }
      stripe.wake(head);
    }
    return null;
  }

  /** A woken thread takes the lock; another may have passed it. */
  void onWakeUp(Stripe stripe, Claim claim, Waiter waiter) {
    HandoffStep step = localHandoff.onWakeUp(claim, waiter);
    if (step == HandoffStep.TAKE) {
      pass(stripe, claim, waiter);
    } else if (step == HandoffStep.OFFER_AGAIN) {
      handOff(stripe, claim);
    }
  }

  /** Requests a fresh block of tokens; meanwhile the claim may be held or idle. */
  private void refresh(Stripe stripe, Claim claim) {
    AttemptId attempt = claim.attempt();
    claim.handoffState().refreshing(true);
    stripe.emit(
        new ClaimEffect.Send(
            claim.openSession(),
            new Request.Adjust(
                claim.name(), attempt, claim.mode(), HoldTerms.NONE, Request.MAX_TOKENS, 0),
            false,
            reply -> refreshed(stripe, claim, attempt, reply)));
  }

  private void refreshed(Stripe stripe, Claim claim, AttemptId attempt, Reply reply) {
    if (!claim.isAttempt(attempt) || claim.phase() != ClaimPhase.HELD || !claim.isRefreshing()) {
      return;
    }
    claim.handoffState().refreshing(false);
    if (reply instanceof Reply.Granted granted) {
      claim.tokens(granted.token(), granted.tokens());
      stickyProtocol.refilled(claim);
      if (granted.wanted()) {
        wanted(stripe, claim);
      }
      if (IdleClaims.isIdle(claim)) {
        claim.trim();
      } else if (claim.phase() == ClaimPhase.HELD && claim.holder() == null) {
        handOff(stripe, claim);
      }
    } else if (reply instanceof Reply.Refused refused
        && refused.why() == RefusalReason.SESSION_GONE) {
      stripe.emit(new ClaimEffect.DropSession(claim.openSession()));
    } else if (claim.holder() == null) {
      release(stripe, claim);
    } else if (reply instanceof Reply.Refused refused) {
      refillRefused(stripe, claim, refused);
    }
  }

  /** The held claim gets no more tokens. Remaining ones may be used up. */
  private void refillRefused(Stripe stripe, Claim claim, Reply.Refused refused) {
    switch (refused.why()) {
      case TOKENS_USED_UP, STORE_FULL -> stickyProtocol.notRefilled(claim);
      default -> loseForgotten(stripe, claim, "the store no longer knew it");
    }
  }
}
