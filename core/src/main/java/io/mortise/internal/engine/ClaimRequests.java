package io.mortise.internal.engine;

import io.mortise.HoldTerms;
import io.mortise.internal.engine.state.Claim;
import io.mortise.internal.engine.state.Claim.ClaimPhase;
import io.mortise.internal.engine.state.ClaimEffect;
import io.mortise.internal.engine.state.ClaimEffect.ReplyHandler;
import io.mortise.internal.engine.state.EngineSettings;
import io.mortise.internal.engine.state.IdleClaims.StickyClaim;
import io.mortise.internal.engine.state.SentRequest;
import io.mortise.internal.engine.state.Stripe;
import io.mortise.internal.engine.state.Waiter;
import io.mortise.internal.session.LiveSession;
import io.mortise.spi.AttemptId;
import io.mortise.spi.Reply;
import io.mortise.spi.Request;
import io.mortise.spi.SessionId;
import org.jspecify.annotations.Nullable;

/**
 * Sends the requests of a {@link Claim}. A claim has one attempt in the store at a time, with one
 * request in flight. A poll repeats that request. The {@link AnswerHandler} decides the effect of
 * an answer.
 *
 * <p>Everything here runs under the stripe's lock.
 */
final class ClaimRequests {
  /** Enough tokens for a few local passes; so few that no rate of grants outruns a clock in µs. */
  private static final int SMALL_BLOCK = 8;

  /** For a lock with contending threads in this process, after a small block was used up. */
  private static final int BLOCK = 1_024;

  private final EngineSettings settings;
  private final EngineSessions sessions;
  private final LocalHandoff localHandoff;
  private final QueueProtocol queueProtocol;
  private final StickyProtocol stickyProtocol;
  private final AnswerHandler answers;

  /** Receives the store's answers. */
  interface AnswerHandler {
    /** Called under the stripe's lock. */
    void answered(Stripe stripe, Claim claim, SentRequest sent, Reply reply);
  }

  ClaimRequests(
      EngineSettings settings,
      EngineSessions sessions,
      LocalHandoff localHandoff,
      QueueProtocol queueProtocol,
      StickyProtocol stickyProtocol,
      AnswerHandler answers) {
    this.settings = settings;
    this.sessions = sessions;
    this.localHandoff = localHandoff;
    this.queueProtocol = queueProtocol;
    this.stickyProtocol = stickyProtocol;
    this.answers = answers;
  }

  /**
   * Begins a new attempt as soon as there is a session, after a pause if this process released the
   * lock while others wanted it.
   */
  void begin(Stripe stripe, Claim claim) {
    long pause = settings.canQueue() ? 0 : stripe.pauseLeft(claim.name(), settings.now());
    Waiter head = claim.head();
    if (pause > 0 && head != null && !head.isTry()) {
      claim.beginAnew();
      beginLater(stripe, claim, pause);
    } else {
      beginNow(stripe, claim);
    }
  }

  private void beginNow(Stripe stripe, Claim claim) {
    leaveQueue(stripe, claim);
    claim.beginAnew();
    LiveSession session = sessions.sessionFor(claim);
    if (session != null) {
      claim.asked(
          session,
          claim instanceof StickyClaim sticky
              ? stickyProtocol.nextNumber(stripe, sticky, session)
              : session.nextAttempt());
      ask(stripe, claim, null);
    }
  }

  /** Begins a new attempt after a time. Waiters under the claim continue to wait. */
  void beginLater(Stripe stripe, Claim claim, long nanos) {
    claim.stopTimer();
    leaveQueue(stripe, claim);
    claim.postponed();
    stripe.emit(
        claim.timer(
            nanos,
            () -> {
              if (claim.phase() == ClaimPhase.UNSENT) {
                begin(stripe, claim);
              }
            }));
  }

  /** Begins a separate claim for a waiter that stood under another. */
  private void beginApart(Stripe stripe, Claim claim) {
    stripe.add(claim);
    begin(stripe, claim);
  }

  /** Gives each fair waiter an attempt of its own, except the owner of the claim's attempt. */
  void splitFairWaiters(Stripe stripe, Claim claim) {
    Waiter waiter = claim.head();
    if (waiter != null && claim.phase() == ClaimPhase.ASKED) {
      waiter = claim.after(waiter);
    }
    while (waiter != null) {
      Waiter next = claim.after(waiter);
      if (waiter.options().fair()) {
        claim.remove(waiter);
        Claim own = new Claim(claim.name(), claim.mode(), waiter.options().terms(), false);
        own.add(waiter);
        beginApart(stripe, own);
      }
      waiter = next;
    }
  }

  /** Gives waiters for a local pass an attempt of their own. */
  void moveWaiters(Stripe stripe, Claim claim) {
    Waiter head = claim.head();
    if (head == null) {
      return;
    }
    Claim next = new Claim(claim.name(), head.mode(), HoldTerms.NONE, true);
    for (Waiter waiter = head; waiter != null; waiter = claim.head()) {
      claim.remove(waiter);
      next.add(waiter);
    }
    beginApart(stripe, next);
  }

  /**
   * Sends the acquire.
   *
   * @param provenDead a blocking session that the store has judged
   */
  void ask(Stripe stripe, Claim claim, @Nullable SessionId provenDead) {
    LiveSession session = claim.openSession();
    AttemptId attempt = claim.attempt();
    Waiter head = claim.head();
    boolean tries = head != null && head.isTry() && !claim.hasSeveralWaiters();
    boolean queue = settings.canQueue() && (!tries || claim.calledBack() != null);
    SentRequest sent = SentRequest.now(session, attempt, settings.now());
    claim.asks(sent);
    session.sent(sent.at());
    stripe.emit(
        new ClaimEffect.Send(
            session,
            new Request.Acquire(
                claim.name(),
                attempt,
                claim.mode(),
                queue,
                settings.sent(claim.terms()),
                tokens(claim, attempt),
                settings.takesFloor() && session.incarnationChanges() > 0 ? claim.tokenFloor() : 0,
                provenDead),
            false,
            new ReplyHandler() {
              @Override
              public void arrived() {
                localHandoff.answered(sent.at());
              }

              @Override
              public void accept(Reply reply) {
                if (!(reply instanceof Reply.Failed)) {
                  session.heard();
                }
                answers.answered(stripe, claim, sent, reply);
              }
            }));
  }

  private static int tokens(Claim claim, AttemptId attempt) {
    if (!claim.isJoinable()) {
      return 1;
    }
    return claim.isContended() || attempt.isSticky() ? BLOCK : SMALL_BLOCK;
  }

  /** Polls now, or as soon as the answer in flight has come. */
  void pollNow(Stripe stripe, Claim claim) {
    if (!claim.isAsking()) {
      ask(stripe, claim, null);
    } else {
      claim.outdate();
    }
  }

  /** Polls now, if it is the claim's turn among those of this process that poll. */
  void pollUnlessResting(Stripe stripe, Claim claim) {
    if (!queueProtocol.isResting(stripe, claim)) {
      pollNow(stripe, claim);
    }
  }

  /**
   * Polls once more for a wait that ends soon, unless an answer is due: at its end it is then known
   * whether the lock is busy or the store is silent. A pause ends by then.
   */
  void pollBeforeDeadline(Stripe stripe, Claim claim) {
    if (claim.phase() == ClaimPhase.ASKED && !claim.isAsking()) {
      ask(stripe, claim, null);
    } else if (claim.isPostponed()) {
      beginNow(stripe, claim);
    }
  }

  /** Polls after a time, at most a third of the TTL. */
  void askLater(Stripe stripe, Claim claim, long delay, @Nullable SessionId provenDead) {
    claim.stopTimer();
    if (!settings.rules().repeatsAcquire()) {
      return;
    }
    AttemptId attempt = claim.attempt();
    long most = settings.env().jittered(settings.env().ttlNanos() / 3);
    stripe.emit(
        claim.timer(
            Math.min(delay, most),
            () -> {
              if (claim.phase() == ClaimPhase.ASKED
                  && claim.isAttempt(attempt)
                  && !claim.isAsking()) {
                ask(stripe, claim, provenDead);
              }
            }));
  }

  /**
   * Removes the claim from its place in the store's queue, if any: it waits no longer, or a request
   * found its grant.
   */
  void leaveQueue(Stripe stripe, Claim claim) {
    Claim next = claim.isQueued() ? queueProtocol.left(stripe, claim) : null;
    if (next != null) {
      askLater(stripe, next, queueProtocol.nextPoll(), null);
    }
  }

  /** As {@link #leaveQueue}, because a push granted the lock to the claim. */
  void leaveQueueGranted(Stripe stripe, Claim claim) {
    Claim next = claim.isQueued() ? queueProtocol.left(stripe, claim) : null;
    if (next != null) {
      askLater(stripe, next, queueProtocol.nextPollAfterPush(), null);
    }
  }
}
