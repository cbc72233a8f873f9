package io.mortise.internal.engine;

import io.mortise.LockException;
import io.mortise.StoreUnavailableException;
import io.mortise.StoreUnfitException;
import io.mortise.UnsupportedByStoreException;
import io.mortise.internal.engine.state.Claim;
import io.mortise.internal.engine.state.Claim.ClaimPhase;
import io.mortise.internal.engine.state.ClaimEffect;
import io.mortise.internal.engine.state.EngineSettings;
import io.mortise.internal.engine.state.PendingRelease;
import io.mortise.internal.engine.state.SentRequest;
import io.mortise.internal.engine.state.Stripe;
import io.mortise.internal.engine.state.Waiter;
import io.mortise.internal.session.LiveSession;
import io.mortise.internal.session.OutageLog;
import io.mortise.internal.session.StoreOutage;
import io.mortise.spi.AttemptId;
import io.mortise.spi.Reply;
import io.mortise.spi.Reply.RefusalReason;
import io.mortise.spi.SessionId;
import io.mortise.spi.SessionVerdict;
import java.time.Duration;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Handles the store's answers to the acquire of a {@link Claim}. Each answer says when to retry; a
 * push may come earlier. If a holder's session has expired, the store judges it in a step of its
 * own, and the request is repeated with the proof.
 *
 * <p>Everything here runs under the stripe's lock.
 */
final class AcquireProtocol {
  private static final Logger log = LoggerFactory.getLogger(AcquireProtocol.class);

  private static final int JUDGEMENTS = 16;

  /** For this time an unfit store fails no waiters: it may have been fit, and be failing over. */
  static final long FAILOVER_NANOS = 2_000_000_000;

  private final EngineSettings settings;
  private final EngineSessions sessions;
  private final EngineEvents events;
  private final ClaimRequests requests;
  private final ClaimTransitions transitions;
  private final QueueProtocol queueProtocol;
  private final StickyProtocol stickyProtocol;
  private final LocalHandoff localHandoff;
  private final ReleaseProtocol releaseProtocol;
  private final OutageLog outages;

  AcquireProtocol(
      EngineSettings settings,
      EngineSessions sessions,
      EngineEvents events,
      ClaimRequests requests,
      ClaimTransitions transitions,
      QueueProtocol queueProtocol,
      StickyProtocol stickyProtocol,
      LocalHandoff localHandoff,
      ReleaseProtocol releaseProtocol) {
    this.settings = settings;
    this.sessions = sessions;
    this.events = events;
    this.requests = requests;
    this.transitions = transitions;
    this.queueProtocol = queueProtocol;
    this.stickyProtocol = stickyProtocol;
    this.localHandoff = localHandoff;
    this.releaseProtocol = releaseProtocol;
    this.outages =
        new OutageLog(settings.storeName(), settings.env().ticker(), log::warn, log::info);
  }

  void answered(Stripe stripe, Claim claim, SentRequest sent, Reply reply) {
    if (!claim.isAttempt(sent.attempt()) || claim.phase() == ClaimPhase.DONE) {
      if (reply instanceof Reply.Granted) {
        releaseProtocol.endUnknown(stripe, claim.name(), sent.attempt());
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
      // A push came before this answer, but did not report the other waiters.
      transitions.wanted(stripe, claim);
    }
    if (claim.phase() != ClaimPhase.ASKED) {
      return;
    }
    StoreOutage outage = claim.outageOrNull();
    if (outage != null && tellsOfLock(reply)) {
      outage.answered(settings.now());
    }
    if (!(reply instanceof Reply.Failed)) {
      outages.served();
    }
    if (reply instanceof Reply.Granted granted) {
      granted(stripe, claim, sent, granted);
    } else if (reply instanceof Reply.Queued queued) {
      queued(stripe, claim, queued);
    } else if (reply instanceof Reply.Busy busy) {
      busy(stripe, claim, busy, sent.at());
    } else if (reply instanceof Reply.Refused refused) {
      refused(stripe, claim, refused);
    } else if (reply instanceof Reply.Failed failed) {
      failed(stripe, claim, failed.cause(), failed.mayHaveRun(), sent.at());
    }
  }

  private static boolean tellsOfLock(Reply reply) {
    return !(reply instanceof Reply.Failed)
        && !(reply instanceof Reply.Refused refused && refused.why() == RefusalReason.SESSION_GONE);
  }

  private void granted(Stripe stripe, Claim claim, SentRequest sent, Reply.Granted granted) {
    if (sent.incarnationChanges() != claim.openSession().incarnationChanges()) {
      // The granting server may have been replaced since.
      requests.ask(stripe, claim, null);
    } else {
      requests.leaveQueue(stripe, claim);
      transitions.granted(stripe, claim, sent, granted);
    }
  }

  private void queued(Stripe stripe, Claim claim, Reply.Queued queued) {
    if (claim.isOutdated()) {
      requests.ask(stripe, claim, null);
      return;
    }
    claim.failures(0);
    queueProtocol.joined(stripe, claim, queued.ahead());
    Reply.Holder holder = queued.holder();
    claim.saw(holder);
    sessions.waits(claim.openSession());
    if ((holder == null || !holder.sessionLeft().isZero())
        && !stickyProtocol.waitsForCalled(claim, queued)) {
      // The tries shared the request with waiters.
      transitions.completeTriesInQueue(stripe, claim, queued.ahead());
    }
    if (claim.head() == null) {
      transitions.giveUp(stripe, claim);
      return;
    }
    events.queued(stripe, claim, queued.ahead());
    requests.splitFairWaiters(stripe, claim);
    if (queueProtocol.isResting(stripe, claim)) {
      claim.stopTimer();
      return;
    }
    Claim unheard = queueProtocol.unheard(stripe, claim, holder);
    if (unheard != null) {
      requests.pollNow(stripe, unheard);
    }
    Duration again = queueProtocol.retryAfter(queued.retryAfter(), queued.ahead());
    inTheWay(stripe, claim, holder, again);
  }

  private void inTheWay(
      Stripe stripe, Claim claim, Reply.@Nullable Holder holder, Duration retryAfter) {
    if (holder == null || (!holder.sessionLeft().isZero() && settings.rules().letsStoreJudge())) {
      requests.askLater(stripe, claim, retryAfter.toNanos(), null);
    } else if (settings.rules().letsStoreJudge()) {
      judge(stripe, claim, holder.attempt().session());
    } else {
      requests.askLater(stripe, claim, holder.sessionLeft().toNanos(), holder.attempt().session());
    }
  }

  private void busy(Stripe stripe, Claim claim, Reply.Busy busy, long sentAt) {
    Reply.Holder holder = busy.holder();
    claim.saw(holder);
    if (holder != null && !claim.isOfSession(holder.attempt().session())) {
      stripe.endPause(claim.name());
    }
    if (holder != null && holder.sessionLeft().isZero() && claim.failures() < JUDGEMENTS) {
      claim.failures(claim.failures() + 1);
      judge(stripe, claim, holder.attempt().session());
      return;
    }
    if (claim.failures() < JUDGEMENTS
        && releaseProtocol.resendUnanswered(stripe, claim.name(), holder)) {
      // No other attempt holds: this process's own release was lost, or is late.
      claim.failures(claim.failures() + 1);
      requests.ask(stripe, claim, null);
      return;
    }
    if (holder != null && stickyProtocol.callsBack(stripe, claim, holder)) {
      awaitCalled(stripe, claim, holder.attempt(), sentAt);
    } else {
      transitions.completeTries(stripe, claim);
    }
    if (claim.head() == null) {
      transitions.discard(stripe, claim);
    } else if (settings.canQueue()) {
      requests.ask(stripe, claim, null);
    } else {
      Duration again = busy.retryAfter();
      long backoff = backoff(claim);
      inTheWay(
          stripe,
          claim,
          holder,
          again.toNanos() < backoff ? again : Duration.ofNanos(settings.env().jittered(backoff)));
    }
  }

  /**
   * The retry interval in a store without pushes and queue: short at first, later a quarter of the
   * time already waited, so that many long waits do not keep the store busy.
   */
  private static long backoff(Claim claim) {
    int polls = claim.poll();
    double nanos = QueueProtocol.POLL_NANOS * Math.pow(1.25, Math.min(polls, 20));
    return Math.min((long) nanos, EngineSettings.MOST_POLL_NANOS);
  }

  /** Lets a try wait a few round trips for the holder that it has called back. */
  private void awaitCalled(Stripe stripe, Claim claim, AttemptId holder, long sentAt) {
    AttemptId attempt = claim.attempt();
    long trip = Math.max(localHandoff.roundTripNanos(), settings.now() - sentAt);
    long nanos = StickyProtocol.callNanos(trip);
    Runnable end =
        () -> {
          if (claim.isAttempt(attempt)
              && claim.phase() == ClaimPhase.ASKED
              && stickyProtocol.callIsOver(stripe, claim, holder)) {
            transitions.completeTries(stripe, claim);
            if (claim.head() == null) {
              transitions.giveUp(stripe, claim);
            }
          }
        };
    long delay = StickyProtocol.callBackNanos(claim);
    if (delay == 0) {
      stripe.emit(new ClaimEffect.Timer(nanos, end));
      return;
    }
    // The holder looks for the call-back later, and its hand-off may not be pushed either.
    stripe.emit(
        new ClaimEffect.Timer(
            delay + nanos,
            () -> {
              if (claim.isAttempt(attempt)
                  && claim.phase() == ClaimPhase.ASKED
                  && claim.calledBack() != null) {
                requests.pollNow(stripe, claim);
                stripe.emit(new ClaimEffect.Timer(nanos, end));
              }
            }));
  }

  private void judge(Stripe stripe, Claim claim, SessionId holder) {
    AttemptId attempt = claim.attempt();
    claim.asks(null);
    stripe.emit(
        new ClaimEffect.JudgeSession(
            holder, (verdict, error) -> judged(stripe, claim, attempt, holder, verdict, error)));
  }

  private void judged(
      Stripe stripe,
      Claim claim,
      AttemptId attempt,
      SessionId holder,
      @Nullable SessionVerdict sessionVerdict,
      @Nullable Throwable error) {
    if (!claim.isAttempt(attempt) || claim.phase() == ClaimPhase.DONE) {
      return;
    }
    claim.answered();
    if (claim.phase() != ClaimPhase.ASKED) {
      return;
    }
    if (sessionVerdict instanceof SessionVerdict.SessionEnded) {
      if (claim.judged(holder) <= JUDGEMENTS) {
        requests.ask(stripe, claim, holder);
      } else {
        // The store does not act on its own verdict.
        long pause = settings.env().jittered(EngineSettings.MOST_POLL_NANOS);
        requests.askLater(stripe, claim, pause, holder);
      }
    } else if (sessionVerdict instanceof SessionVerdict.Alive alive) {
      holderLives(stripe, claim, alive);
    } else {
      Throwable cause = error == null ? new IllegalStateException("no verdict") : error;
      failed(stripe, claim, cause, true, settings.now());
    }
  }

  private void holderLives(Stripe stripe, Claim claim, SessionVerdict.Alive alive) {
    if (claim.isQueued()) {
      transitions.completeTriesInQueue(stripe, claim, claim.ahead());
    } else {
      transitions.completeTries(stripe, claim);
    }
    if (claim.head() == null) {
      transitions.giveUp(stripe, claim);
    } else if (settings.canQueue() && !claim.isQueued()) {
      // The request was sent for a caller that would not wait; the waiters that joined it will.
      requests.ask(stripe, claim, null);
    } else {
      Duration again = queueProtocol.retryAfter(alive.left().plusMillis(1), 0);
      requests.askLater(stripe, claim, again.toNanos(), null);
    }
  }

  private void refused(Stripe stripe, Claim claim, Reply.Refused refused) {
    switch (refused.why()) {
      case SESSION_GONE -> {
        stripe.emit(new ClaimEffect.DropSession(claim.openSession()));
        claim.asks(null); // until the end of the session clears it
      }
      case ENDED, NOT_HELD -> {
        if (claim.isInDoubt()) {
          // An earlier request of this attempt got no answer, and may still be granted.
          releaseProtocol.end(
              stripe,
              new PendingRelease(
                  claim.name(), claim.openSession(), claim.attempt(), true, null, false));
        }
        transitions.beginAgain(stripe, claim);
      }
      case EVICTED -> transitions.evicted(stripe, claim);
      case STORE_FULL, TOKENS_USED_UP ->
          failed(
              stripe,
              claim,
              new StoreUnavailableException(refused.message()),
              false,
              settings.now());
      case UNSUPPORTED ->
          transitions.fail(stripe, claim, new UnsupportedByStoreException(refused.message()));
      case CAPACITY_DIFFERS ->
          transitions.fail(stripe, claim, new LockException(refused.message()));
    }
  }

  /** No session could be opened, so no request was sent. */
  void openFailed(Stripe stripe, Claim claim, Throwable cause) {
    claim.storeFailed(cause, settings.now());
    transitions.completeTries(stripe, claim, settings.unavailable(claim.name(), cause));
    if (claim.head() == null) {
      transitions.discard(stripe, claim);
    } else {
      outages.failed(claim.name(), cause);
    }
  }

  private void failed(
      Stripe stripe, Claim claim, Throwable cause, boolean mayHaveRun, long sentAt) {
    claim.storeFailed(cause, sentAt);
    outages.failed(claim.name(), cause);
    Waiter head = claim.head();
    if (head != null && head.isTry()) {
      transitions.completeTries(stripe, claim, settings.unavailable(claim.name(), cause));
    }
    if (mayHaveRun) {
      claim.doubt();
    }
    if (claim.head() == null) {
      transitions.giveUp(stripe, claim);
      return;
    }
    StoreUnfitException unfit = StoreOutage.unfit(cause);
    if (unfit != null && isUnfitForLockAlone(claim)) {
      transitions.end(stripe, claim, false);
      transitions.fail(stripe, claim, unfit);
      return;
    }
    claim.failures(Math.min(claim.failures() + 1, 20));
    long backoff = Math.min(1_000_000_000L, 20_000_000L << Math.min(claim.failures(), 6));
    requests.askLater(stripe, claim, settings.env().jittered(backoff), null);
  }

  /**
   * Whether the store was unfit for this lock for a while, and has served another request of the
   * session meanwhile. A store that serves no request may be failing over; then the end of the
   * session or the next answer decides.
   */
  private boolean isUnfitForLockAlone(Claim claim) {
    LiveSession session = claim.openSession();
    long now = settings.now();
    long unfit = now - claim.unfitSince(now);
    // The silence begins here at the latest: an answer before the first failure proves nothing.
    session.sent(now);
    return unfit >= FAILOVER_NANOS && sessions.silence().nanos(now) + 1 < unfit;
  }
}
