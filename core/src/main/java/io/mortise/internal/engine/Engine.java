package io.mortise.internal.engine;

import io.mortise.Lease;
import io.mortise.LockException;
import io.mortise.LockName;
import io.mortise.admin.LocalWait;
import io.mortise.internal.engine.state.Claim;
import io.mortise.internal.engine.state.Claim.ClaimPhase;
import io.mortise.internal.engine.state.ClaimEffect;
import io.mortise.internal.engine.state.EngineSettings;
import io.mortise.internal.engine.state.IdleClaims;
import io.mortise.internal.engine.state.LeaseImpl;
import io.mortise.internal.engine.state.LeaseLeakDetector;
import io.mortise.internal.engine.state.PendingRelease;
import io.mortise.internal.engine.state.SentRequest;
import io.mortise.internal.engine.state.Stripe;
import io.mortise.internal.engine.state.StripeTable;
import io.mortise.internal.engine.state.Waiter;
import io.mortise.internal.runtime.EngineEnv;
import io.mortise.internal.runtime.IdleLimit;
import io.mortise.internal.session.LiveSession;
import io.mortise.internal.session.SessionLifecycleListener;
import io.mortise.spi.AttemptId;
import io.mortise.spi.LockStore;
import io.mortise.spi.Reply;
import io.mortise.spi.SessionNotification;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.function.BooleanSupplier;
import org.jspecify.annotations.Nullable;

/**
 * The engine of one process for the locks of one store, or of one part of it.
 *
 * <p><b>Parts.</b> Lock names are spread over {@link Stripe}s. Per name there are {@link Claim}s:
 * usually one, under which the threads of the process wait. It is one attempt in the store. An
 * event is a call, an answer, a notification or the end of a time. It takes the stripe's lock;
 * {@link ClaimTransitions} and the protocols around it change the claim and leave {@link
 * ClaimEffect}s; {@link EffectRunner} alone performs them. A user holds a {@link LeaseImpl}. Each
 * part knows the parts below it and none above. This class knows all: it creates them, and the
 * client calls it.
 *
 * <p><b>No thread of its own.</b> Callers, replies, notifications and timers take the stripe's
 * lock, update the state, release the lock, then run the queued effects. Waiting threads park;
 * nothing waits for I/O under a lock.
 *
 * <p><b>Order.</b> Requests of one attempt leave in the order in which they were decided, and ends
 * before acquires of others (the stripe's outbox). A stripe's lock may be held while the session
 * renewer's is taken, never the reverse; no two stripes at a time.
 *
 * <p><b>No attempt is forgotten.</b> Every attempt that was sent is known as a claim or a {@link
 * PendingRelease} until the store has confirmed its end or its session is over. A reply or
 * notification about any other attempt is answered with an abandon.
 */
public final class Engine {
  /** The wait of callers that need the store's answer, or proof that none will come. */
  public static final Duration HOWEVER_LONG = Duration.ofDays(36_500);

  private final EngineSettings settings;
  private final EngineSessions sessions;

  /** Shared by all parts of the store. */
  private final EngineEvents events;

  private final StripeTable stripes;
  private final StickyProtocol stickyProtocol;
  private final LossProtocol lossProtocol;
  private final ClaimTransitions transitions;
  private final AcquireProtocol acquireProtocol;
  private final WaitProtocol waitProtocol;
  private final AdjustProtocol adjustProtocol;
  private final LeaseRevalidator leaseRevalidator;
  private final SessionEventHandler sessionEventHandler;
  private final LeaseOperations leaseOperations;

  private volatile boolean closed;

  /**
   * An engine on one of several parts of a store. The parts share the names, so each needs fewer
   * stripes. Opens nothing before the first acquire.
   *
   * @param idleLimit how many grants the client may keep idle
   */
  public Engine(
      LockStore store, EngineEnv env, int parts, EngineEvents events, IdleLimit idleLimit) {
    this.events = events;
    this.settings = new EngineSettings(store, env);
    this.sessions = new EngineSessions(store, settings, events.sessions(), new SessionListener());
    this.stripes = new StripeTable(parts, new EffectRunner(store, env.timers(), sessions));
    // Helpers that do not know each other.
    QueueProtocol queueProtocol = new QueueProtocol(settings);
    QueueLimit queueLimit = new QueueLimit(settings);
    LocalHandoff localHandoff = new LocalHandoff(settings);
    this.stickyProtocol = new StickyProtocol(settings, sessions, idleLimit);
    this.lossProtocol = new LossProtocol(settings, events, stripes);
    ReleaseProtocol releaseProtocol =
        new ReleaseProtocol(settings, sessions, stripes, lossProtocol::reportBeforeRelease);
    // Combines the helpers' decisions.
    ClaimRequests requests =
        new ClaimRequests(
            settings, sessions, localHandoff, queueProtocol, stickyProtocol, this::answered);
    this.transitions =
        new ClaimTransitions(
            settings,
            requests,
            localHandoff,
            stickyProtocol,
            queueLimit,
            releaseProtocol,
            lossProtocol);
    // Receivers of events.
    this.acquireProtocol =
        new AcquireProtocol(
            settings,
            sessions,
            events,
            requests,
            transitions,
            queueProtocol,
            stickyProtocol,
            localHandoff,
            releaseProtocol);
    this.waitProtocol =
        new WaitProtocol(
            settings, sessions, requests, transitions, localHandoff, stickyProtocol, queueLimit);
    this.adjustProtocol =
        new AdjustProtocol(settings, stripes, requests, transitions, lossProtocol);
    IdleExpiry idleExpiry = new IdleExpiry(settings, stripes, transitions);
    this.leaseOperations =
        new LeaseOperations(
            settings,
            stripes,
            transitions,
            stickyProtocol,
            idleExpiry,
            new CallBackPoll(settings, sessions, stripes),
            lossProtocol,
            releaseProtocol,
            adjustProtocol);
    this.leaseRevalidator =
        new LeaseRevalidator(
            settings, events, stripes, requests, transitions, stickyProtocol, idleExpiry);
    this.sessionEventHandler =
        new SessionEventHandler(
            settings,
            sessions,
            stripes,
            requests,
            transitions,
            acquireProtocol,
            releaseProtocol,
            lossProtocol);
    idleLimit.add(idleExpiry);
  }

  private void answered(Stripe stripe, Claim claim, SentRequest sent, Reply reply) {
    acquireProtocol.answered(stripe, claim, sent, reply);
  }

  public EngineEnv env() {
    return settings.env();
  }

  /** The receiver of its reports. */
  public EngineEvents events() {
    return events;
  }

  // ---- Acquiring ----

  /** Reports the begin of an acquire, on its caller's thread, if there is a listener. */
  public void acquireBegins(Waiter waiter) {
    events.acquireBegins(settings, waiter);
  }

  /** Begins a wait. The waiter may be done when this returns. */
  public void begin(Waiter waiter) {
    Stripe stripe = stripes.of(waiter.name());
    stripe.lock();
    try {
      if (closed) {
        throw new IllegalStateException("This lock client is closed.");
      }
      waitProtocol.begin(stripe, waiter);
    } finally {
      stripe.unlock();
    }
  }

  /** Handles the wake-up of a waiter's thread. */
  public void onWakeUp(Waiter waiter) {
    Stripe stripe = stripes.of(waiter.name());
    stripe.run(() -> waitProtocol.onWakeUp(stripe, waiter));
  }

  /** Handles the last part of a timed wait. */
  public void onDeadlineNear(Waiter waiter) {
    Stripe stripe = stripes.of(waiter.name());
    stripe.run(() -> waitProtocol.onDeadlineNear(stripe, waiter));
  }

  /** How long before the end of a wait {@link #onDeadlineNear} is to be called. */
  public static long finalPollLead(long waitNanos) {
    return WaitProtocol.finalPollLead(waitNanos);
  }

  /** Ends a wait. Returns false if it has ended already: check its state. */
  public boolean cancel(Waiter waiter) {
    Stripe stripe = stripes.of(waiter.name());
    return stripe.get(() -> waitProtocol.cancel(stripe, waiter));
  }

  /** The time limit of a try: the store's timeout. */
  public long tryNanos() {
    return settings.tryNanos();
  }

  /** Ends a try that the store has not decided in time. Returns false if it has ended already. */
  public boolean expireTry(Waiter waiter) {
    Stripe stripe = stripes.of(waiter.name());
    return stripe.get(() -> waitProtocol.expireTry(stripe, waiter));
  }

  /** Called by a thread about to park for an answer; see {@link LockStore#helpWhileWaiting}. */
  public void helpWhileWaiting(BooleanSupplier done, Duration longest) {
    sessions.helpWhileWaiting(done, longest);
  }

  /** How long an attempt's grant will be kept idle; null if it is not idle. */
  public @Nullable Duration idleLeft(LockName name, AttemptId attempt) {
    Stripe stripe = stripes.of(name);
    stripe.lock();
    try {
      return stickyProtocol.idleLeft(stripe, name, attempt);
    } finally {
      stripe.unlock();
    }
  }

  // ---- Leases ----

  /** Releases the grant of a wait that its caller has ended. */
  public void giveBack(LeaseImpl lease) {
    PendingRelease unused = leaseOperations.release(lease, true);
    if (lease.isLost()) {
      // An evicted lock stays shut until its lease is closed.
      leaseOperations.settle(lease);
    }
    lease.tellRelease();
  }

  /** As {@link Lease#extend}, for the simulation, which cannot wait. */
  public CompletableFuture<Void> extendAsync(Lease lease, Duration atMost) {
    return adjustProtocol.extendAsync(LeaseLeakDetector.unwrap(lease), atMost);
  }

  /** As {@link Lease#keepShut}, for the simulation, which cannot wait. */
  public CompletableFuture<Void> keepShutAsync(Lease lease, Duration atLeast) {
    return adjustProtocol.keepShutAsync(LeaseLeakDetector.unwrap(lease), atLeast);
  }

  /** As {@link Lease#downgrade}, for the simulation, which cannot wait. */
  public CompletableFuture<Void> downgradeAsync(Lease lease) {
    return adjustProtocol.downgradeAsync(LeaseLeakDetector.unwrap(lease));
  }

  // ---- Looking ----

  /** Adds waits of this process's callers, up to the given number. */
  public void addLocalWaits(List<LocalWait> waits, int most) {
    stripes.forEach(stripe -> stripe.addLocalWaits(waits, most, settings.now()));
  }

  /** A wait, which may have ended, and its known obstacles. Does not query the store. */
  public LocalWait localWait(Waiter waiter) {
    Stripe stripe = stripes.of(waiter.name());
    return stripe.get(() -> stripe.localWait(waiter, settings.now()));
  }

  /** The number of claims and unconfirmed ends: zero in an idle engine. For tests of leaks. */
  public int footprint() {
    return stripes.sum(stripe -> stripe.claims().size() + stripe.endings().size());
  }

  /** The store's name in messages. */
  public String storeName() {
    return settings.storeName();
  }

  /** The reason for a missing answer about a lock: the store is unfit, or unreachable. */
  public LockException unavailable(LockName name, Throwable cause) {
    return settings.unavailable(name, cause);
  }

  // ---- Closing ----

  /**
   * Begins to close: ends all holds and waits on this side, and sends their ends to the store.
   * Callers wait for its answers while {@link #isEnding()}.
   *
   * @return the names of the locks whose leases were open
   */
  public List<String> abandonAll() {
    closed = true;
    List<String> open = new ArrayList<>();
    stripes.forEach(stripe -> abandonAll(stripe, open));
    return open;
  }

  private void abandonAll(Stripe stripe, List<String> open) {
    for (Claim claim : stripe.claimsOf(null)) {
      LeaseImpl holder = claim.holder();
      if (holder != null && holder.isOpen()) {
        open.add(claim.name().toString());
        lossProtocol.loseClosed(stripe, claim);
      }
      LiveSession session = claim.session();
      if (session != null
          && (claim.phase() == ClaimPhase.HELD || claim.phase() == ClaimPhase.ASKED)
          && !session.hasEnded()) {
        transitions.end(stripe, claim, IdleClaims.isIdle(claim));
      }
      if (claim.head() == null) {
        transitions.discard(stripe, claim);
      } else {
        transitions.fail(
            stripe,
            claim,
            new LockException(
                "The wait for lock '" + claim.name() + "' ended: its client was closed."));
      }
    }
  }

  /** Whether the store still has to confirm an end. Stops at the first. */
  public boolean isEnding() {
    return stripes.any(
        stripe -> stripe.endings().values().stream().anyMatch(end -> end.how() == null));
  }

  /** Ends the session; called last. */
  public CompletionStage<Void> endSession() {
    return sessions.close();
  }

  /** Receives the session's events; leases find this engine by it. */
  private final class SessionListener
      implements SessionLifecycleListener, LeaseImpl.Operations.Source {
    @Override
    public LeaseImpl.Operations leases() {
      return leaseOperations;
    }

    @Override
    public void opened(LiveSession session) {
      sessionEventHandler.opened(session);
    }

    @Override
    public void openFailed(Throwable cause) {
      sessionEventHandler.openFailed(cause);
    }

    @Override
    public void notification(LiveSession session, SessionNotification sessionNotification) {
      sessionEventHandler.notification(session, sessionNotification);
    }

    @Override
    public void onReconnected(LiveSession session) {
      sessionEventHandler.onReconnected(session);
    }

    @Override
    public void inDoubt(LiveSession session) {
      leaseRevalidator.all(session);
    }

    @Override
    public void lost(LiveSession session, String reason) {
      sessionEventHandler.lost(session, reason);
    }
  }
}
