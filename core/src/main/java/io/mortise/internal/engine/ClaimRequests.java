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
 * Asks the store for a {@link Claim}. A claim has one attempt in the store at a time, and one
 * request of it under way. A poll is the same request again. What becomes of a claim with an answer
 * is decided elsewhere: by {@link AnswerHandler}.
 *
 * <p>Everything here runs under the stripe's lock.
 */
final class ClaimRequests {
  /** Enough for a few local passes; so few that no rate of grants outruns a clock in µs. */
  private static final int SMALL_BLOCK = 8;

  /** For a lock that threads of this process contend for; one that uses it up gets a larger one. */
  private static final int BLOCK = 1_024;

  private final EngineSettings settings;
  private final EngineSessions sessions;
  private final LocalHandoff localHandoff;
  private final QueueProtocol queueProtocol;
  private final StickyProtocol stickyProtocol;
  private final AnswerHandler answers;

  /** Hears what the store answers. */
  interface AnswerHandler {
    /** Under the stripe's lock. */
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
   * Begins a new attempt as soon as there is a session. A pause goes before it if this process gave
   * the lock back while others wanted it.
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

  /** Begins a new attempt after a time. Waiters under the claim go on waiting. */
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

  /** Begins a claim of its own for a waiter that stood under another. */
  private void beginApart(Stripe stripe, Claim claim) {
    stripe.add(claim);
    begin(stripe, claim);
  }

  /**
   * Gives each fair waiter an attempt of its own, but for the one whom the claim's attempt is for.
   */
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

  /** Those who waited for the hold to be passed on ask for themselves. */
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
   * Asks the store.
   *
   * @param provenDead a session in the way that the store has judged
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
                claim.terms(),
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

  /** Asks now, or as soon as the answer that is under way has come. */
  void pollNow(Stripe stripe, Claim claim) {
    if (!claim.isAsking()) {
      ask(stripe, claim, null);
    } else {
      claim.outdate();
    }
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

  /** Asks after a time, of which a third of the TTL is the most. */
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
   * The claim does not stand in the store's queue any more, if it did: it waits no longer, or a
   * request found its grant.
   */
  void leaveQueue(Stripe stripe, Claim claim) {
    Claim next = claim.isQueued() ? queueProtocol.left(stripe, claim) : null;
    if (next != null) {
      askLater(stripe, next, queueProtocol.nextPoll(), null);
    }
  }

  /** As {@link #leaveQueue}, since a push granted the lock to the claim. */
  void leaveQueueGranted(Stripe stripe, Claim claim) {
    Claim next = claim.isQueued() ? queueProtocol.left(stripe, claim) : null;
    if (next != null) {
      askLater(stripe, next, queueProtocol.nextPollAfterPush(), null);
    }
  }
}
