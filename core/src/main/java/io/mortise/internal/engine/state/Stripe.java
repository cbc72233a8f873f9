package io.mortise.internal.engine.state;

import io.mortise.LockName;
import io.mortise.admin.LocalWait;
import io.mortise.admin.LocalWait.LocalCaller;
import io.mortise.internal.engine.state.Claim.ClaimPhase;
import io.mortise.internal.queue.OutboxLock;
import io.mortise.internal.runtime.EngineEnv;
import io.mortise.internal.session.LiveSession;
import io.mortise.spi.AttemptId;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.Iterator;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * A share of the lock names under one lock, and the effects of changes under it. Requests to the
 * store leave in the order of its outbox.
 */
public final class Stripe extends OutboxLock {
  private static final Logger log = LoggerFactory.getLogger(Stripe.class);

  private static final int LOCAL_HOLDERS = 10;

  private final ClaimTable claims = new ClaimTable();
  private final IdleClaims idleClaims = new IdleClaims();
  private final Map<AttemptId, PendingRelease> endings = new HashMap<>();
  private final Map<LockName, QueuedClaims> queued = new HashMap<>();
  private final ClaimEffect.Performer performer;

  /** Null until a lock was released that others wanted, in a store without a queue. */
  private @Nullable ReacquirePauses reacquirePauses;

  /** A stripe without claims. */
  Stripe(ClaimEffect.Performer performer) {
    this.performer = performer;
  }

  /** The claims of one lock name that stand in the store's queue. */
  public static final class QueuedClaims {
    private int polling;

    /** Resting claims in order of entry into the queue; null until there was one. */
    private @Nullable Set<Claim> resting;

    QueuedClaims() {}

    public void add(Claim claim, int mostPolling) {
      if (polling < mostPolling) {
        polling++;
        return;
      }
      if (resting == null) {
        resting = new LinkedHashSet<>();
      }
      resting.add(claim);
    }

    /** Removes the claim. Returns the one that polls in its place; null if there is none. */
    public @Nullable Claim remove(Claim claim) {
      if (resting != null && resting.remove(claim)) {
        return null;
      }
      Iterator<Claim> first = resting == null ? null : resting.iterator();
      if (first == null || !first.hasNext()) {
        polling--;
        return null;
      }
      Claim next = first.next();
      first.remove();
      return next;
    }

    public boolean isResting(Claim claim) {
      return resting != null && resting.contains(claim);
    }

    public boolean isEmpty() {
      return polling == 0 && (resting == null || resting.isEmpty());
    }
  }

  @Override
  public void unlock() {
    try {
      super.unlock();
    } catch (RuntimeException | Error e) {
      // There may be no thread for a callback. The caller's own step is done, and must not fail.
      log.error("What follows from a change of a lock could not be done.", e);
    }
  }

  /**
   * Called under the lock: adds an effect of a transition. Its performer puts requests, wake-ups
   * and calls into the outbox, from which they leave when the lock is released.
   */
  public void emit(ClaimEffect effect) {
    performer.perform(effect, this);
  }

  /** Adds the effect that wakes a waiter to see the outcome of its wait. */
  public void wake(Waiter waiter) {
    emit(new ClaimEffect.Wake(waiter));
  }

  // ---- The state of the names, under the lock ----

  public ClaimTable claims() {
    return claims;
  }

  /** All its claims, or the requested ones of a session; a copy, as they may change meanwhile. */
  public List<Claim> claimsOf(@Nullable LiveSession session) {
    List<Claim> found = new ArrayList<>();
    claims.forEach(
        claim -> {
          if (session == null
              || (claim.session() == session && claim.phase() != ClaimPhase.UNSENT)) {
            found.add(claim);
          }
        });
    return found;
  }

  /** Its idle claims; some of their methods need no lock. */
  public IdleClaims idleClaims() {
    return idleClaims;
  }

  /** The attempts that are being ended. */
  public Map<AttemptId, PendingRelease> endings() {
    return endings;
  }

  /** The claims of a name that stand in the store's queue; null if none do. */
  public @Nullable QueuedClaims queued(LockName name) {
    return queued.get(name);
  }

  public QueuedClaims addQueued(LockName name) {
    return queued.computeIfAbsent(name, absent -> new QueuedClaims());
  }

  public void removeQueued(LockName name) {
    queued.remove(name);
  }

  /** The claim whose holder is this lease; null if the lease no longer holds. */
  public @Nullable Claim heldBy(LeaseImpl lease) {
    Claim claim = claims.first(lease.lockName());
    while (claim != null && claim.holder() != lease) {
      claim = claims.after(claim);
    }
    return claim;
  }

  public @Nullable Claim find(LockName name, AttemptId attempt) {
    for (Claim claim = claims.first(name); claim != null; claim = claims.after(claim)) {
      if (claim.isAttempt(attempt)) {
        return claim;
      }
    }
    return null;
  }

  /** The claim of the name that others of this process may join. */
  public @Nullable Claim common(LockName name) {
    for (Claim claim = claims.first(name); claim != null; claim = claims.after(claim)) {
      if (claim.isJoinable()) {
        return claim;
      }
    }
    return null;
  }

  /**
   * Records the release of a hold, in a store without a queue.
   *
   * @param wantedSince the time since which others are known to want it; null if none are
   */
  public void gaveBack(LockName name, @Nullable Long wantedSince, EngineEnv env) {
    if (reacquirePauses == null && wantedSince != null) {
      reacquirePauses = new ReacquirePauses();
    }
    if (reacquirePauses != null) {
      reacquirePauses.gaveBack(name, wantedSince, env);
    }
  }

  /** How long a lock is left to others; not positive if this process may acquire it now. */
  public long pauseLeft(LockName name, long now) {
    return reacquirePauses == null ? 0 : reacquirePauses.left(name, now);
  }

  /** Ends the pause: another process holds the lock. */
  public void endPause(LockName name) {
    if (reacquirePauses != null) {
      reacquirePauses.end(name);
    }
  }

  /** Refuses a wait without limit for a lease of the same thread: it would never end. */
  public void refuseSelfWait(Waiter waiter) {
    for (Claim claim = claims.first(waiter.name()); claim != null; claim = claims.after(claim)) {
      LeaseImpl holder = claim.holder();
      if (holder != null
          && holder.caller() == waiter.caller()
          && waiter.isThread()
          && (waiter.mode().isExclusive() || claim.mode().isExclusive())) {
        throw new IllegalStateException(
            "This thread already holds lock '"
                + waiter.name()
                + "' and would wait for itself. Use the lease it has, asJavaLock() for a re-entrant"
                + " lock, or a time limit if another thread will close that lease.");
      }
    }
  }

  /**
   * Adds waits of this process's callers, with the leases of this process that block them.
   *
   * @param most the maximum number in all
   */
  public void addLocalWaits(List<LocalWait> waits, int most, long now) {
    Map<LockName, List<Claim>> held = new HashMap<>();
    claims.forEach(
        claim -> {
          if (claim.head() != null) {
            held.putIfAbsent(claim.name(), new ArrayList<>());
          }
        });
    if (held.isEmpty()) {
      return;
    }
    claims.forEach(
        claim -> {
          List<Claim> known = claim.holder() == null ? null : held.get(claim.name());
          if (known != null) {
            known.add(claim);
          }
        });
    claims.forEach(
        claim -> {
          Waiter waiter = claim.head();
          while (waiter != null && waits.size() < most) {
            waits.add(localWait(waiter, held.getOrDefault(claim.name(), List.of()), now));
            waiter = claim.after(waiter);
          }
        });
  }

  /** A wait, which may have ended, and its known obstacles. */
  public LocalWait localWait(Waiter waiter, long now) {
    List<Claim> held = new ArrayList<>();
    for (Claim claim = claims.first(waiter.name()); claim != null; claim = claims.after(claim)) {
      if (claim.holder() != null) {
        held.add(claim);
      }
    }
    return localWait(waiter, held, now);
  }

  private static LocalWait localWait(Waiter waiter, List<Claim> held, long now) {
    Claim stands = Claim.of(waiter);
    if (stands != null) {
      stands.showHolder(waiter);
    }
    long used = held.stream().mapToLong(claim -> claim.mode().weight()).sum();
    // The store's last report is stale once this process has the whole lock.
    AttemptId elsewhere = used < waiter.mode().capacity() ? waiter.heldElsewhere() : null;
    return new LocalWait(
        waiter.name().value(),
        waiter.isThread() ? LocalCaller.of(waiter.caller()) : LocalCaller.ASYNCHRONOUS,
        waiter.isEndless() || waiter.arrivedAt() == 0
            ? null
            : Duration.ofNanos(now - waiter.arrivedAt()),
        holders(waiter, held, used),
        elsewhere == null ? null : elsewhere.encoded());
  }

  /**
   * The callers whose leases alone leave too little for a waiter. If there are none: all callers
   * with a share, once the shares together are known to leave too little.
   */
  private static List<LocalCaller> holders(Waiter waiter, List<Claim> held, long used) {
    int most = waiter.mode().capacity() - waiter.mode().weight();
    List<Claim> each = held.stream().filter(claim -> claim.mode().weight() > most).toList();
    return (each.isEmpty() && (waiter.isHeld() || used > most) ? held : each)
        .stream()
            .map(
                claim -> {
                  LeaseImpl lease = claim.holder();
                  Thread thread = lease == null ? null : lease.caller();
                  return thread == null ? LocalCaller.ASYNCHRONOUS : LocalCaller.of(thread);
                })
            .distinct()
            .limit(LOCAL_HOLDERS)
            .toList();
  }

  public void add(Claim claim) {
    claims.add(claim);
  }

  public void remove(Claim claim) {
    claims.remove(claim);
  }
}
