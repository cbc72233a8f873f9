package io.mortise.internal.engine;

import io.mortise.Lease;
import io.mortise.LockException;
import io.mortise.LockName;
import io.mortise.StoreUnavailableException;
import io.mortise.admin.LocalWait;
import io.mortise.internal.engine.Claim.ClaimPhase;
import io.mortise.internal.event.LeaseTrace;
import io.mortise.internal.runtime.EngineEnv;
import io.mortise.internal.runtime.IdleLimit;
import io.mortise.internal.runtime.VirtualThreads;
import io.mortise.internal.session.LiveSession;
import io.mortise.internal.session.SessionRenewer;
import io.mortise.internal.session.StoreOutage;
import io.mortise.internal.session.StoreSilence;
import io.mortise.internal.session.Validity;
import io.mortise.spi.AttemptId;
import io.mortise.spi.Capability;
import io.mortise.spi.LockStore;
import io.mortise.spi.Mode;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Objects;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.function.BooleanSupplier;
import java.util.function.Predicate;
import org.jspecify.annotations.Nullable;

/**
 * What one process does about the locks of one store, or of one part of it.
 *
 * <p><b>Parts.</b> A {@link SessionRenewer} keeps the process's session alive. Lock names are
 * spread over {@link Stripe}s. Per name there are {@link Claim}s: usually one, under which the
 * threads of the process wait and which stands in the store as one attempt. {@link
 * ClaimTransitions} decides what becomes of them, {@link ReleaseProtocol} ends attempts in the
 * store, {@link LossProtocol} ends leases that the store has not kept. A {@link LeaseImpl} is what
 * a user holds.
 *
 * <p><b>No thread of its own.</b> Callers, replies, notifications and timers take the stripe's
 * lock, update the state, release the lock, then run the queued effects. Waiting threads park;
 * nothing waits for I/O under a lock.
 *
 * <p><b>Order.</b> Requests of one attempt leave in the order in which they were decided, and ends
 * before acquires of others (the stripe's outbox). A stripe's lock may be held while the session
 * renewer's is taken, never the reverse; no two stripes at a time.
 *
 * <p><b>Nothing acquired is lost track of.</b> Every attempt that was ever sent is known as a claim
 * or as an {@link PendingRelease} until the store has confirmed its end or its session is over; any
 * reply or notification about another is met with an abandon.
 */
public final class Engine {
  /** For who waits until the store has answered, or is known not to. */
  public static final Duration HOWEVER_LONG = Duration.ofDays(36_500);

  final LockStore store;
  final EngineEnv env;
  final ClaimTransitions transitions;
  final AcquireProtocol acquireProtocol;
  final LocalHandoff localHandoff;
  final ReleaseProtocol releaseProtocol;
  final AdjustProtocol adjustProtocol;
  final LossProtocol lossProtocol;
  final StickyProtocol stickyProtocol;
  final QueueProtocol queueProtocol;
  final QueueLimit queueLimit;

  /** Whether a grant of this store has a token. */
  final boolean hasTokens;

  final LeaseRevalidator leaseRevalidator;

  /** Shared by all parts of the store. */
  final EngineEvents events;

  private final SessionRenewer sessionRenewer;
  final StripeTable stripes;

  /** Claims that wait for a session. */
  private final ConcurrentLinkedQueue<Claim> unsent = new ConcurrentLinkedQueue<>();

  private volatile boolean closed;

  /** An engine on a store; opens nothing until somebody asks for a lock. */
  Engine(LockStore store, EngineEnv env) {
    this(store, env, 1, new EngineEvents(env, 1, List.of()), new IdleLimit(1_000));
  }

  /**
   * An engine on one of so many parts of a store, which share their names and so need fewer stripes
   * each.
   *
   * @param idleLimit how many grants the client may keep idle
   */
  public Engine(
      LockStore store, EngineEnv env, int parts, EngineEvents events, IdleLimit idleLimit) {
    this.store = store;
    this.events = events;
    this.env = env;
    this.hasTokens = store.profile().can(Capability.TOKEN);
    this.stripes = new StripeTable(parts);
    this.transitions = new ClaimTransitions(this);
    this.acquireProtocol = new AcquireProtocol(this);
    this.queueProtocol = new QueueProtocol(this);
    this.localHandoff = new LocalHandoff(this);
    this.releaseProtocol = new ReleaseProtocol(this);
    this.adjustProtocol = new AdjustProtocol(this);
    this.lossProtocol = new LossProtocol(this);
    this.stickyProtocol = new StickyProtocol(this, idleLimit);
    this.queueLimit = new QueueLimit(this);
    this.leaseRevalidator = new LeaseRevalidator(this);
    this.sessionRenewer =
        new SessionRenewer(store, env, events.sessions(), new SessionEventHandler(this));
  }

  /** The engine that keeps a session. */
  static Engine of(LiveSession session) {
    return ((SessionEventHandler) session.listener()).engine();
  }

  public EngineEnv env() {
    return env;
  }

  /** What it reports to. */
  public EngineEvents events() {
    return events;
  }

  Stripe stripe(LockName name) {
    return stripes.of(name);
  }

  // ---- Acquiring ----

  /** Begins to wait. The waiter may be done when this returns. */
  public void begin(Waiter waiter) {
    Stripe stripe = stripe(waiter.name);
    stripe.lock();
    try {
      if (closed) {
        throw new IllegalStateException("This lock client is closed.");
      }
      if (waiter.endless) {
        stripe.refuseSelfWait(waiter);
      }
      if (queueLimit.refuses(stripe, waiter)) {
        return;
      }
      boolean common = waiter.mode.equals(Mode.EXCLUSIVE) && !waiter.options.terms().isTimed();
      if (stickyProtocol.take(stripe, waiter, common)) {
        return;
      }
      Claim claim = common ? stripe.common(waiter.name) : null;
      boolean contended = claim != null && (claim.wanted || claim.isQueued());
      if (claim == null || (waiter.options.fair() && contended)) {
        claim =
            common && claim == null && waiter.options.sticky() != null
                ? new IdleClaims.StickyClaim(waiter.name, waiter.mode, waiter.options.terms())
                : new Claim(
                    waiter.name, waiter.mode, waiter.options.terms(), common && claim == null);
        claim.add(waiter);
        stripe.add(claim);
        acquireProtocol.begin(stripe, claim);
      } else {
        transitions.join(stripe, claim, waiter);
      }
    } finally {
      stripe.unlock();
    }
  }

  /** A woken thread looks for what it was woken for. */
  public void onWakeUp(Waiter waiter) {
    Stripe stripe = stripe(waiter.name);
    stripe.lock();
    try {
      localHandoff.onWakeUp(stripe, waiter);
    } finally {
      stripe.unlock();
    }
  }

  /** The last part of a timed wait begins. */
  public void onDeadlineNear(Waiter waiter) {
    Stripe stripe = stripe(waiter.name);
    stripe.lock();
    try {
      if (waiter.claim != null && !waiter.isDone()) {
        acquireProtocol.pollBeforeDeadline(stripe, waiter.claim);
      }
    } finally {
      stripe.unlock();
    }
  }

  /** How long before the end of a wait of so long {@link #onDeadlineNear} is to be called. */
  public static long finalPollLead(long waitNanos) {
    return ClaimTransitions.finalPollLead(waitNanos);
  }

  /** Ends a wait. Returns false if it has ended already: look at its state. */
  public boolean cancel(Waiter waiter) {
    Stripe stripe = stripe(waiter.name);
    stripe.lock();
    try {
      return transitions.cancelWait(stripe, waiter);
    } finally {
      stripe.unlock();
    }
  }

  /** How long a try may take: the store's timeout. */
  public long tryNanos() {
    return transitions.tryNanos;
  }

  /** Ends a try that the store has not decided in time. Returns false if it has ended already. */
  public boolean expireTry(Waiter waiter) {
    Stripe stripe = stripe(waiter.name);
    stripe.lock();
    try {
      return transitions.expireTry(stripe, waiter);
    } finally {
      stripe.unlock();
    }
  }

  /** The open session; null if the claim has to wait for it. */
  @Nullable LiveSession sessionFor(Claim claim) {
    LiveSession session = sessionRenewer.open();
    if (session == null) {
      StoreUnavailableException loss = sessionRenewer.repeatedLoss();
      if (loss != null) {
        claim.outage().failed(loss, env.now());
      }
      unsent.add(claim);
      // It may have opened in between, before the claim was there to be found.
      session = sessionRenewer.open();
      if (session != null) {
        unsent.remove(claim);
      }
    }
    return session;
  }

  /**
   * The claims that wait for a session now: those that come back when this one is lost meanwhile
   * wait for the next.
   */
  List<Claim> takeUnsent() {
    List<Claim> taken = new ArrayList<>();
    for (Claim claim = unsent.poll(); claim != null; claim = unsent.poll()) {
      taken.add(claim);
    }
    return taken;
  }

  /** Keeps those of the claims that wait for a session of which this is true. */
  void keepUnsent(Predicate<Claim> waits) {
    unsent.removeIf(waits.negate());
  }

  /** Opens a session if somebody waits for one, as after the loss of one that was opening. */
  void openForUnsent() {
    if (!unsent.isEmpty()) {
      sessionRenewer.open();
    }
  }

  void waits(LiveSession session) {
    sessionRenewer.waits(session);
  }

  void whenFullTtl(LiveSession session, Runnable call) {
    sessionRenewer.whenFullTtl(session, call);
  }

  /**
   * The calling thread is about to park until it is answered; see {@link
   * LockStore#helpWhileWaiting}.
   */
  public void helpWhileWaiting(BooleanSupplier done, Duration longest) {
    if (!VirtualThreads.isCurrent()) {
      store.helpWhileWaiting(done, longest);
    }
  }

  /** Looks whether the host slept: then the session's leases end earlier. */
  void noteSuspension(LiveSession session) {
    sessionRenewer.noteSuspension(session);
  }

  /** For how long an attempt's grant is kept idle from now on; null if it is not idle. */
  public @Nullable Duration idleLeft(LockName name, AttemptId attempt) {
    Stripe stripe = stripe(name);
    stripe.lock();
    try {
      return stickyProtocol.idleLeft(stripe, name, attempt);
    } finally {
      stripe.unlock();
    }
  }

  boolean isLive(LiveSession session) {
    return !session.hasEnded();
  }

  /**
   * Gives a lease up. Returns the end to wait for; null if there is none, since it was passed on or
   * had ended.
   *
   * @param quietly whether nobody will wait for that end
   */
  @Nullable PendingRelease release(LeaseImpl lease, boolean quietly) {
    Claim claim = lease.claim;
    Stripe stripe = stripe(claim.name);
    stripe.lock();
    try {
      if (!lease.isOpen() || claim.holder != lease) {
        return null;
      }
      LiveSession session = Objects.requireNonNull(claim.session);
      Validity.Unconfirmed doubt =
          lease.validity() instanceof Validity.Unconfirmed unconfirmed ? unconfirmed : null;
      Validity believed = doubt == null ? lease.validity() : doubt.before();
      // The clock last, as everywhere: a thread that stands still in between sees less, not more.
      long until = believed.validUntil();
      long now = env.now();
      if (until - now <= 0) {
        // Its timer has not come yet; it is over all the same, and must not be passed on.
        if (lossProtocol.isAtMostOver(believed)) {
          lossProtocol.loseAtMost(stripe, claim);
        } else {
          lossProtocol.loseLate(stripe, claim, session);
        }
        if (isLive(session)) {
          transitions.release(stripe, claim);
        }
        return null;
      }
      lease.released();
      LeaseTrace trace = lease.trace();
      if (trace != null) {
        trace.released(now);
      }
      claim.holder = null;
      if (doubt != null) {
        // The store's answer to this tells whether it still knew the hold.
        return gaveBack(lease, transitions.release(stripe, claim, false));
      } else if (claim.head() != null) {
        PendingRelease pendingRelease = localHandoff.handOff(stripe, claim);
        return pendingRelease == null ? null : gaveBack(lease, pendingRelease);
      } else if (stickyProtocol.keep(stripe, claim, lease)) {
        return null;
      }
      return gaveBack(lease, transitions.release(stripe, claim, quietly));
    } finally {
      stripe.unlock();
    }
  }

  /** Gives back what was granted to a wait that its caller has ended. */
  public void giveBack(LeaseImpl lease) {
    PendingRelease unused = release(lease, true);
    if (lease.isLost()) {
      // An evicted lock stays shut until its lease is closed.
      lossProtocol.settle(lease);
    }
    lease.tellRelease();
  }

  private static PendingRelease gaveBack(LeaseImpl lease, PendingRelease pendingRelease) {
    pendingRelease.held = lease;
    return pendingRelease;
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

  /** The attempt that a lease stands for; null once it has ended, since its claim may go on. */
  @Nullable AttemptId attempt(LeaseImpl lease) {
    Claim claim = lease.claim;
    Stripe stripe = stripe(claim.name);
    stripe.lock();
    try {
      return lease.isOpen() ? Objects.requireNonNull(claim.session).attempt(claim.number) : null;
    } finally {
      stripe.unlock();
    }
  }

  // ---- The session ----

  void sessionGone(LiveSession session) {
    String pause = session.pauseText();
    sessionRenewer.lose(
        session, "the store no longer knows its session" + (pause.isEmpty() ? "" : "; " + pause));
  }

  /** Under the stripe's lock: an attempt of ours that nobody here stands for. */
  void endUnknown(Stripe stripe, LockName name, AttemptId attempt) {
    LiveSession session = sessionRenewer.current();
    if (env.rules().endsUnknownAttempts()
        && session != null
        && session.id().equals(attempt.session())
        && !stripe.endings.containsKey(attempt)) {
      releaseProtocol.end(stripe, new PendingRelease(name, session, attempt, false, null));
    }
  }

  /** Adds waits of this process's callers, until there are so many. */
  public void addLocalWaits(List<LocalWait> waits, int most) {
    stripes.forEach(stripe -> stripe.addLocalWaits(waits, most, env.now()));
  }

  /** A wait, which may have ended, and what is known to be in its way. Does not ask the store. */
  public LocalWait localWait(Waiter waiter) {
    Stripe stripe = stripe(waiter.name);
    stripe.lock();
    try {
      return stripe.localWait(waiter, env.now());
    } finally {
      stripe.unlock();
    }
  }

  static List<Claim> claimsOf(Stripe stripe, @Nullable LiveSession session) {
    List<Claim> found = new ArrayList<>();
    stripe.claims.forEach(
        claim -> {
          if (session == null || (claim.session == session && claim.phase() != ClaimPhase.UNSENT)) {
            found.add(claim);
          }
        });
    return found;
  }

  // ---- Closing ----

  /**
   * Begins to close: nothing is held or waited for any more on this side, and the store is told.
   * Its answers are waited for while {@link #isEnding()}.
   *
   * @return the names of the locks whose leases were open
   */
  public List<String> abandonAll() {
    closed = true;
    List<String> open = new ArrayList<>();
    stripes.forEach(stripe -> transitions.abandonAll(stripe, open::add));
    return open;
  }

  /** Whether the store still has to confirm an end. Looks no further than the first. */
  public boolean isEnding() {
    return stripes.any(
        stripe -> stripe.endings.values().stream().anyMatch(end -> end.how() == null));
  }

  /** Ends the session, which may be last. */
  public CompletionStage<Void> endSession() {
    return sessionRenewer.close();
  }

  /** How many claims and unconfirmed ends there are: zero in an idle engine. For tests of leaks. */
  public int footprint() {
    return stripes.sum(stripe -> stripe.claims.size() + stripe.endings.size());
  }

  /** Since when the store owes an answer. */
  StoreSilence silence() {
    return sessionRenewer.silence();
  }

  /** The store's name, as messages show it. */
  public String storeName() {
    return store.profile().display();
  }

  /** Why there is no answer about a lock: the store is unfit, or cannot be reached. */
  public LockException unavailable(LockName name, Throwable cause) {
    return StoreOutage.unavailable(name, storeName(), cause);
  }
}
