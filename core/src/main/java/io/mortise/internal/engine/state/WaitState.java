package io.mortise.internal.engine.state;

import io.mortise.internal.engine.state.ClaimEffect.Timer;
import io.mortise.internal.session.StoreOutage;
import io.mortise.internal.session.Validity;
import io.mortise.spi.AttemptId;
import io.mortise.spi.Reply;
import io.mortise.spi.SessionId;
import org.jspecify.annotations.Nullable;

/**
 * The state of a claim that waits for an answer, is contended, timed or in trouble; most claims are
 * merely held and have none. Guarded by the stripe; belongs to a {@link Claim}, and only the claim
 * changes it.
 */
abstract class WaitState extends Waiter.Ring {
  private boolean queued;
  private int ahead;
  private boolean asking;

  /** The request in flight, until it is answered; null for a judgement of another session. */
  private @Nullable SentRequest sent;

  private boolean doubt;
  private boolean outdated;
  private @Nullable Timer timer;
  private @Nullable StoreOutage outage;
  private int failures;

  /** The last blocking session that was proven dead, and how often. */
  private @Nullable SessionId judged;

  private int judgements;

  /** The number of grants that came after their at-most time was over. */
  private int late;

  private int polls;

  /** The greatest token of a blocking holder seen so far. */
  private long seen;

  private Reply.@Nullable Holder inTheWay;
  private @Nullable HandoffState handoffState;
  private Validity.@Nullable ByQuorum byQuorum;

  /** The sticky hold that a try has called back, and waits for. */
  private @Nullable AttemptId calledBack;

  /** Whether it has more state than a merely held claim needs. */
  final boolean isNeeded() {
    return head() != null
        || asking
        || doubt
        || queued
        || timer != null
        || (outage != null && outage.failure() != null)
        || failures > 0
        || late > 0
        || polls > 0
        || seen > 0
        || handoffState != null
        || calledBack != null
        || byQuorum != null;
  }

  /** Begins a new attempt for the same waiters. */
  final void beginAnew() {
    asking = false;
    sent = null;
    doubt = false;
    outdated = false;
    polls = 0;
    handoffState = null;
    calledBack = null;
    byQuorum = null;
  }

  /** Clears the counters of the wait. */
  final void granted() {
    late = 0;
    polls = 0;
    calledBack = null;
  }

  /** Whether the attempt stands in the store's queue. */
  final boolean isQueued() {
    return queued;
  }

  /** How many attempts may be before this one in the store's queue, by the store's last answer. */
  final int ahead() {
    return ahead;
  }

  final void queued(boolean isThere, int before) {
    queued = isThere;
    ahead = before;
  }

  /** Whether a request of the attempt is in flight. */
  final boolean isAsking() {
    return asking;
  }

  final @Nullable SentRequest sent() {
    return sent;
  }

  final void asks(@Nullable SentRequest request) {
    asking = true;
    if (request != null) {
      sent = request;
      outdated = false;
    }
  }

  final void answered() {
    asking = false;
    sent = null;
  }

  /** Whether the reply in flight answers a request that was sent before the grant. */
  final boolean isOutdated() {
    return outdated;
  }

  final void outdate() {
    outdated = true;
  }

  /** Whether a request of the attempt has no answer, and may still be executed. */
  final boolean isInDoubt() {
    return asking || doubt;
  }

  final void doubt() {
    doubt = true;
  }

  final boolean hasTimer() {
    return timer != null;
  }

  final void timer(Timer next) {
    timer = next;
  }

  final void stopTimer() {
    if (timer != null) {
      timer.stop();
      timer = null;
    }
  }

  final @Nullable StoreOutage outageOrNull() {
    return outage;
  }

  final StoreOutage outage() {
    if (outage == null) {
      outage = new StoreOutage();
    }
    return outage;
  }

  final int failures() {
    return failures;
  }

  final void failures(int count) {
    failures = count;
  }

  /** Counts a proof of death; returns how often in succession this session was proven dead. */
  final int judged(SessionId dead) {
    judgements = dead.equals(judged) ? judgements + 1 : 1;
    judged = dead;
    return judgements;
  }

  final int cameLate() {
    return ++late;
  }

  final int poll() {
    return polls++;
  }

  final long seen() {
    return seen;
  }

  final Reply.@Nullable Holder inTheWay() {
    return inTheWay;
  }

  final void saw(Reply.@Nullable Holder holder) {
    inTheWay = holder;
    if (holder != null) {
      seen = Math.max(seen, holder.token());
    }
  }

  final @Nullable HandoffState handoffStateOrNull() {
    return handoffState;
  }

  final HandoffState handoffState() {
    if (handoffState == null) {
      handoffState = new HandoffState();
    }
    return handoffState;
  }

  final void clearHandoffState() {
    handoffState = null;
  }

  final Validity.@Nullable ByQuorum byQuorum() {
    return byQuorum;
  }

  final void voted(Validity.ByQuorum validity) {
    byQuorum = validity;
  }

  final @Nullable AttemptId calledBack() {
    return calledBack;
  }

  final void calledBack(@Nullable AttemptId holder) {
    calledBack = holder;
  }
}
