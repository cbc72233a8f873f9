package io.mortise.internal.engine;

import io.mortise.HoldTerms;
import io.mortise.LockName;
import io.mortise.internal.runtime.EngineScheduler;
import io.mortise.internal.session.LiveSession;
import io.mortise.internal.session.StoreOutage;
import io.mortise.internal.session.StoreSilence;
import io.mortise.internal.session.Validity;
import io.mortise.spi.AttemptId;
import io.mortise.spi.Mode;
import io.mortise.spi.Reply;
import io.mortise.spi.Request;
import io.mortise.spi.SessionId;
import java.util.Objects;
import org.jspecify.annotations.Nullable;

/**
 * A claim of this process on a lock: the threads that wait under it, and the one attempt that
 * stands for them in the store. Kept small, for a process may hold many: a claim that is merely
 * held has no queue and no contention state.
 *
 * <p>Passive: guarded by its stripe, changed by the {@link Engine} only.
 */
sealed class Claim permits IdleClaims.StickyClaim {
  final LockName name;
  final HoldTerms terms;

  /**
   * Whether others of this process may stand under it: then it goes from hand to hand without I/O.
   */
  boolean joinable;

  /** Belongs to the {@link ClaimTable}. */
  @Nullable Claim next;

  Mode mode;

  /** The phase's place among all: a reference would take three bytes more. */
  private byte phase;

  /** Session and number are the attempt; a new attempt for the same waiters changes both. */
  @Nullable LiveSession session;

  long number;

  /** The next token to give out, and how many are left. */
  long token;

  int tokensLeft;

  @Nullable LeaseImpl holder;

  /** Somebody else waits for the lock. */
  boolean wanted;

  /** Several of this process have wanted it at one time. */
  boolean contended;

  private @Nullable WaitState wait;

  enum ClaimPhase {
    /** Waits for a session. */
    UNSENT,
    /** Asked for, perhaps queued. */
    ASKED,
    HELD,
    /** Nothing stands under it any more. */
    DONE;

    private static final ClaimPhase[] ALL = values();
  }

  /**
   * What only a claim needs that waits for an answer, is contended, timed or in trouble; most are
   * merely held.
   */
  private static final class WaitState {
    /** The head of a ring of waiters; its {@code previous} is the tail. */
    @Nullable Waiter head;

    /** How many of them are fair. */
    int fair;

    /** The claims of its name in the store's queue; null while the attempt does not stand there. */
    QueueProtocol.@Nullable QueuedClaims queue;

    /** How many may be before the attempt in the store's queue, as the store last said. */
    int ahead;

    /** A request of the attempt is under way. */
    boolean asking;

    /** That request, until it is answered; null if it asks after somebody else. */
    AcquireProtocol.@Nullable SentRequest sent;

    /** A request of the attempt got no answer, and may be executed yet. */
    boolean doubt;

    /** What is being answered was asked before the store granted. */
    boolean outdated;

    EngineScheduler.@Nullable ScheduledTimer scheduledTimer;
    @Nullable StoreOutage outage;

    int failures;

    /** The dead session that was in the way last, and how often it has been proven dead. */
    @Nullable SessionId judged;

    int judgements;

    /** How many grants came when their at-most time was over. */
    int late;

    int polls;

    /** The greatest token that a holder in the way was seen with. */
    long seen;

    Reply.@Nullable Holder inTheWay;
    @Nullable HandoffState handoffState;
    Validity.@Nullable ByQuorum byQuorum;

    /** The sticky hold that a try has called back, and waits for. */
    @Nullable AttemptId calledBack;

    boolean isNeeded() {
      return head != null
          || asking
          || doubt
          || queue != null
          || scheduledTimer != null
          || (outage != null && outage.failure() != null)
          || failures > 0
          || late > 0
          || polls > 0
          || seen > 0
          || handoffState != null
          || calledBack != null
          || byQuorum != null;
    }
  }

  /** How the lock goes from hand to hand while it is contended. */
  static final class HandoffState {
    /** A fresh block of tokens is under way. */
    boolean refreshing;

    /** The head was woken to take the free lock, and has not yet come. */
    boolean offered;

    int barges;
    long bargeUntil;

    /** Counted from when it became known that another process waits. */
    int passes;

    long passUntil;
  }

  Claim(LockName name, Mode mode, HoldTerms terms, boolean joinable) {
    this.name = name;
    this.mode = mode;
    this.terms = terms;
    this.joinable = joinable;
  }

  ClaimPhase phase() {
    return ClaimPhase.ALL[phase];
  }

  @SuppressWarnings("EnumOrdinal") // its place, within this JVM only
  void phase(ClaimPhase next) {
    boolean held = phase() == ClaimPhase.HELD;
    phase = (byte) next.ordinal();
    if (session != null && held != (next == ClaimPhase.HELD)) {
      if (held) {
        session.holdEnds();
      } else {
        session.holdBegins();
      }
    }
  }

  /** A new attempt for the same waiters: of the one before, nothing counts any more. */
  void beginAnew() {
    stopTimer();
    phase(ClaimPhase.UNSENT);
    wanted = false;
    WaitState own = wait;
    if (own != null) {
      own.asking = false;
      own.sent = null;
      own.doubt = false;
      own.outdated = false;
      own.polls = 0;
      own.handoffState = null;
      own.calledBack = null;
      own.byQuorum = null;
    }
  }

  /** The one who has waited longest. */
  @Nullable Waiter head() {
    return wait == null ? null : wait.head;
  }

  boolean isQueued() {
    return queue() != null;
  }

  QueueProtocol.@Nullable QueuedClaims queue() {
    return wait == null ? null : wait.queue;
  }

  /** How many may be before the attempt in the store's queue, if it is queued. */
  int ahead() {
    return wait == null ? 0 : wait.ahead;
  }

  void queued(QueueProtocol.@Nullable QueuedClaims queue, int ahead) {
    waitState().queue = queue;
    waitState().ahead = ahead;
  }

  boolean isAsking() {
    return wait != null && wait.asking;
  }

  /**
   * A request of the attempt is on its way.
   *
   * @param sent null if it asks after somebody else
   */
  void asks(AcquireProtocol.@Nullable SentRequest sent) {
    WaitState own = waitState();
    own.asking = true;
    if (sent != null) {
      own.sent = sent;
      own.outdated = false;
    }
  }

  void answered() {
    if (wait != null) {
      wait.asking = false;
      wait.sent = null;
      rest();
    }
  }

  boolean isOutdated() {
    return wait != null && wait.outdated;
  }

  void outdate() {
    waitState().outdated = true;
  }

  /** A request of the attempt got no answer. */
  void doubt() {
    waitState().doubt = true;
  }

  boolean isInDoubt() {
    return wait != null && (wait.asking || wait.doubt);
  }

  /** Lets go of what an idle hold has no use for. */
  void trim() {
    if (!isRefreshing()) {
      clearHandoffState();
    }
    rest();
  }

  /** Lets go of what a claim that is merely held has no use for. */
  private void rest() {
    if (phase() == ClaimPhase.HELD && wait != null && !wait.isNeeded()) {
      wait = null;
    }
  }

  boolean isAttempt(AttemptId id) {
    return number == id.number() && session != null && session.id().equals(id.session());
  }

  boolean isOfSession(SessionId id) {
    return session != null && session.id().equals(id);
  }

  private WaitState waitState() {
    if (wait == null) {
      wait = new WaitState();
    }
    return wait;
  }

  HandoffState handoffState() {
    WaitState own = waitState();
    if (own.handoffState == null) {
      own.handoffState = new HandoffState();
    }
    return own.handoffState;
  }

  @Nullable HandoffState handoffStateOrNull() {
    return wait == null ? null : wait.handoffState;
  }

  void clearHandoffState() {
    if (wait != null) {
      wait.handoffState = null;
    }
  }

  boolean isRefreshing() {
    HandoffState present = handoffStateOrNull();
    return present != null && present.refreshing;
  }

  /** The sticky hold that a try waits for; null if none does. */
  @Nullable AttemptId calledBack() {
    return wait == null ? null : wait.calledBack;
  }

  void calledBack(@Nullable AttemptId holder) {
    if (holder != null || wait != null) {
      waitState().calledBack = holder;
    }
  }

  Reply.@Nullable Holder inTheWay() {
    return phase() == ClaimPhase.ASKED && wait != null ? wait.inTheWay : null;
  }

  void saw(Reply.@Nullable Holder holder) {
    if (holder != null || wait != null) {
      waitState().inTheWay = holder;
    }
    if (holder != null && holder.token() > 0) {
      WaitState own = waitState();
      own.seen = Math.max(own.seen, holder.token());
    }
  }

  /** Every token that is known to have been given out is less; 0 if none is. */
  long tokenFloor() {
    long own = tokensLeft + token;
    return wait == null || wait.seen == 0 ? own : Math.max(own, wait.seen + Request.MAX_TOKENS);
  }

  /** What its holders' leases hang on: the session, or what the votes of a quorum leave of it. */
  @Nullable Validity validity() {
    return wait == null || wait.byQuorum == null ? session : wait.byQuorum;
  }

  void voted(Validity.@Nullable ByQuorum validity) {
    if (validity != null || wait != null) {
      waitState().byQuorum = validity;
    }
  }

  int failures() {
    return wait == null ? 0 : wait.failures;
  }

  void failures(int count) {
    if (count != failures()) {
      waitState().failures = count;
    }
  }

  /** Counts a grant that came when its at-most time was over; returns how many there were. */
  int cameLate() {
    return ++waitState().late;
  }

  /** Counts an answer that it is busy; returns how many there were before. */
  int poll() {
    return waitState().polls++;
  }

  /** Clears what was counted while it waited. */
  void resetAfterGrant() {
    if (wait != null) {
      wait.late = 0;
      wait.polls = 0;
      wait.calledBack = null;
    }
  }

  /** Why the store could not be asked lately; null since it answered. */
  @Nullable Throwable storeFailure() {
    return wait == null || wait.outage == null ? null : wait.outage.failure();
  }

  /** A session in the way was proven dead. Returns how often that has been so in succession. */
  int judged(SessionId dead) {
    WaitState own = waitState();
    own.judgements = dead.equals(own.judged) ? own.judgements + 1 : 1;
    own.judged = dead;
    return own.judgements;
  }

  StoreOutage outage() {
    WaitState own = waitState();
    if (own.outage == null) {
      own.outage = new StoreOutage();
    }
    return own.outage;
  }

  @Nullable StoreOutage outageOrNull() {
    return wait == null ? null : wait.outage;
  }

  void timer(EngineScheduler.ScheduledTimer scheduledTimer) {
    waitState().scheduledTimer = scheduledTimer;
  }

  /**
   * Since when the store owes an answer about the attempt; null if it does not.
   *
   * @param arrivedAt when the asking waiter came
   * @param silence of the store; decides while the claim has sent nothing yet
   */
  @Nullable Long silentSince(long arrivedAt, StoreSilence silence) {
    WaitState own = wait;
    if (phase() == ClaimPhase.UNSENT) {
      // Its timer runs while it is not sent by choice.
      return own == null || own.scheduledTimer == null ? silence.since(arrivedAt) : null;
    } else if (phase() != ClaimPhase.ASKED || own == null || own.sent == null) {
      return null;
    }
    return StoreOutage.later(own.sent.at(), arrivedAt);
  }

  void add(Waiter waiter) {
    waiter.claim = this;
    WaitState own = waitState();
    own.fair += waiter.options.fair() ? 1 : 0;
    Waiter first = own.head;
    if (first == null) {
      waiter.next = waiter;
      waiter.previous = waiter;
      own.head = waiter;
      return;
    }
    Waiter last = Objects.requireNonNull(first.previous);
    last.next = waiter;
    waiter.previous = last;
    waiter.next = first;
    first.previous = waiter;
  }

  void remove(Waiter waiter) {
    waiter.noteHolder(this);
    WaitState own = waitState();
    own.fair -= waiter.options.fair() ? 1 : 0;
    Waiter next = Objects.requireNonNull(waiter.next);
    if (next == waiter) {
      own.head = null;
      rest();
    } else {
      Waiter previous = Objects.requireNonNull(waiter.previous);
      previous.next = next;
      next.previous = previous;
      if (own.head == waiter) {
        own.head = next;
      }
    }
    waiter.next = null;
    waiter.previous = null;
    waiter.claim = null;
  }

  boolean hasSeveralWaiters() {
    Waiter head = head();
    return head != null && head.next != head;
  }

  /** Whether one waits whom nobody may pass. */
  boolean hasFairWaiters() {
    return wait != null && wait.fair > 0;
  }

  /** Whether it is not sent by choice: a timer will send it. */
  boolean isPostponed() {
    return phase() == ClaimPhase.UNSENT && wait != null && wait.scheduledTimer != null;
  }

  void stopTimer() {
    if (wait != null && wait.scheduledTimer != null) {
      wait.scheduledTimer.cancel();
      wait.scheduledTimer = null;
    }
  }
}
