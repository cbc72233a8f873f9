package io.mortise.internal.engine;

import io.mortise.LockName;
import io.mortise.admin.LocalWait;
import io.mortise.admin.LocalWait.LocalCaller;
import io.mortise.internal.runtime.EngineEnv;
import io.mortise.internal.session.LiveSession;
import io.mortise.internal.storekit.OutboxLock;
import io.mortise.spi.AttemptId;
import io.mortise.spi.Reply;
import io.mortise.spi.Request;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * A share of the lock names under one lock; what is to be sent to the store leaves in the order of
 * its outbox.
 */
final class Stripe extends OutboxLock {
  private static final Logger log = LoggerFactory.getLogger(Stripe.class);

  private static final int LOCAL_HOLDERS = 10;

  final ClaimTable claims = new ClaimTable();
  final IdleClaims idleClaims = new IdleClaims();
  final Map<AttemptId, PendingRelease> endings = new HashMap<>();
  final Map<LockName, QueueProtocol.QueuedClaims> queued = new HashMap<>();

  /** Null until a lock was given back that others wanted, in a store without a queue. */
  private @Nullable ReacquirePauses reacquirePauses;

  private record OutboundRequest(
      LiveSession session, Request request, Consumer<Reply> sink, boolean later)
      implements Runnable {
    @Override
    public void run() {
      try {
        if (later) {
          session.store().submitLater(request, sink);
        } else {
          session.store().submit(request, sink);
        }
      } catch (RuntimeException | Error e) {
        // A store must not throw; one that does still owes an answer.
        sink.accept(new Reply.Failed(request.attempt(), true, e));
      }
    }
  }

  @Override
  public void unlock() {
    try {
      super.unlock();
    } catch (RuntimeException | Error e) {
      // No thread for a callback, perhaps. The caller's own step is done, and must not suffer.
      log.error("What follows from a change of a lock could not be done.", e);
    }
  }

  void send(LiveSession session, Request request, Consumer<Reply> sink) {
    send(request, new OutboundRequest(session, request, sink, false));
  }

  /** As {@link #send}, for what nobody waits for: it may travel with what is sent next. */
  void sendLater(LiveSession session, Request request, Consumer<Reply> sink) {
    send(request, new OutboundRequest(session, request, sink, true));
  }

  @Nullable Claim find(LockName name, AttemptId attempt) {
    for (Claim claim = claims.first(name); claim != null; claim = claims.after(claim)) {
      if (claim.isAttempt(attempt)) {
        return claim;
      }
    }
    return null;
  }

  /** The claim of the name that others of this process may join. */
  @Nullable Claim common(LockName name) {
    for (Claim claim = claims.first(name); claim != null; claim = claims.after(claim)) {
      if (claim.joinable) {
        return claim;
      }
    }
    return null;
  }

  /**
   * A hold was given back, in a store without a queue.
   *
   * @param wantedSince when it became known that others want it; null if that is not known
   */
  void gaveBack(LockName name, @Nullable Long wantedSince, EngineEnv env) {
    if (reacquirePauses == null && wantedSince != null) {
      reacquirePauses = new ReacquirePauses();
    }
    if (reacquirePauses != null) {
      reacquirePauses.gaveBack(name, wantedSince, env);
    }
  }

  /** How long a lock is to be left to others; not positive if it may be asked for now. */
  long pauseLeft(LockName name, long now) {
    return reacquirePauses == null ? 0 : reacquirePauses.left(name, now);
  }

  /** Another process holds the lock. */
  void endPause(LockName name) {
    if (reacquirePauses != null) {
      reacquirePauses.end(name);
    }
  }

  /** A wait without an end for a lease of the same thread would never end. */
  void refuseSelfWait(Waiter waiter) {
    for (Claim claim = claims.first(waiter.name); claim != null; claim = claims.after(claim)) {
      LeaseImpl holder = claim.holder;
      if (holder != null
          && holder.caller == waiter.caller
          && waiter.isThread()
          && (waiter.mode.isExclusive() || claim.mode.isExclusive())) {
        throw new IllegalStateException(
            "This thread already holds lock '"
                + waiter.name
                + "' and would wait for itself. Use the lease it has, asJavaLock() for a re-entrant"
                + " lock, or a time limit if another thread will close that lease.");
      }
    }
  }

  /**
   * Adds waits of this process's callers, with the leases of this process that are in their way.
   *
   * @param most how many there may be in all
   */
  void addLocalWaits(List<LocalWait> waits, int most, long now) {
    Map<LockName, List<Claim>> held = new HashMap<>();
    claims.forEach(
        claim -> {
          if (claim.head() != null) {
            held.putIfAbsent(claim.name, new ArrayList<>());
          }
        });
    if (held.isEmpty()) {
      return;
    }
    claims.forEach(
        claim -> {
          List<Claim> known = claim.holder == null ? null : held.get(claim.name);
          if (known != null) {
            known.add(claim);
          }
        });
    claims.forEach(
        claim -> {
          Waiter waiter = claim.head();
          while (waiter != null && waits.size() < most) {
            waits.add(localWait(waiter, held.getOrDefault(claim.name, List.of()), now));
            waiter = waiter.next == claim.head() ? null : waiter.next;
          }
        });
  }

  /** A wait, which may have ended, and what is known to be in its way. */
  LocalWait localWait(Waiter waiter, long now) {
    List<Claim> held = new ArrayList<>();
    for (Claim claim = claims.first(waiter.name); claim != null; claim = claims.after(claim)) {
      if (claim.holder != null) {
        held.add(claim);
      }
    }
    return localWait(waiter, held, now);
  }

  private static LocalWait localWait(Waiter waiter, List<Claim> held, long now) {
    if (waiter.claim != null) {
      waiter.noteHolder(waiter.claim);
    }
    long used = held.stream().mapToLong(claim -> claim.mode.weight()).sum();
    // What the store said is stale once this process has the whole lock.
    AttemptId elsewhere = used < waiter.mode.capacity() ? waiter.heldElsewhere : null;
    return new LocalWait(
        waiter.name.value(),
        waiter.isThread() ? LocalCaller.of(waiter.caller) : LocalCaller.ASYNCHRONOUS,
        waiter.endless || waiter.arrivedAt() == 0
            ? null
            : Duration.ofNanos(now - waiter.arrivedAt()),
        holders(waiter, held, used),
        elsewhere == null ? null : elsewhere.encoded());
  }

  /**
   * The callers whose leases leave too little for a waiter each by itself; if there are none, all
   * who hold a share, once it is known that the shares leave too little together.
   */
  private static List<LocalCaller> holders(Waiter waiter, List<Claim> held, long used) {
    int most = waiter.mode.capacity() - waiter.mode.weight();
    List<Claim> each = held.stream().filter(claim -> claim.mode.weight() > most).toList();
    return (each.isEmpty() && (waiter.held || used > most) ? held : each)
        .stream()
            .map(
                claim -> {
                  Thread thread = claim.holder == null ? null : claim.holder.caller;
                  return thread == null ? LocalCaller.ASYNCHRONOUS : LocalCaller.of(thread);
                })
            .distinct()
            .limit(LOCAL_HOLDERS)
            .toList();
  }

  void add(Claim claim) {
    claims.add(claim);
  }

  void remove(Claim claim) {
    claims.remove(claim);
  }
}
