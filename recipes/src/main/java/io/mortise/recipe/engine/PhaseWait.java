package io.mortise.recipe.engine;

import io.mortise.Lease;
import io.mortise.LockTimeoutException;
import io.mortise.StoreUnavailableException;
import io.mortise.internal.runtime.EngineEnv;
import io.mortise.internal.runtime.EngineScheduler;
import io.mortise.recipe.BarrierBrokenException;
import io.mortise.recipe.BarrierBrokenException.Reason;
import io.mortise.recipe.engine.BarrierPhase.Leaving;
import io.mortise.spi.Fact;
import java.util.Optional;
import java.util.concurrent.CancellationException;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.locks.ReentrantLock;
import org.jspecify.annotations.Nullable;

/**
 * A party's wait for the end of a phase. It reads the document, queues for the lock of its
 * neighbour, keeps the document from expiring, and breaks the phase if it must.
 *
 * <p>A party that breaks a phase writes that first, and then reads the outcome: the others may have
 * passed it, or another party may have broken it. No party decides by its own view alone.
 */
final class PhaseWait {
  /** The document is refreshed when it was unchanged for this part of its time to keep. */
  private static final int REFRESH_SHARE = 4;

  private final Recipes recipes;
  private final EngineEnv env;
  private final BarrierPhase phase;
  private final Lease partyLease;
  private final CompletableFuture<Boolean> result = new CompletableFuture<>();
  private final DocumentPoll<Boolean> poll;
  private final ReentrantLock guard = new ReentrantLock();

  // Guarded by the guard.
  private int watched = BarrierPhase.NOBODY;
  private @Nullable CompletableFuture<Lease> watch;
  private @Nullable Reason breaking;
  private @Nullable Reason nextReason;

  // Used by the poll only.
  private long version;
  private long versionSince;

  private volatile EngineScheduler.@Nullable ScheduledTimer timer;

  PhaseWait(Recipes recipes, BarrierPhase phase, Lease partyLease) {
    this.recipes = recipes;
    this.env = recipes.env();
    this.phase = phase;
    this.partyLease = partyLease;
    this.poll = new DocumentPoll<>(recipes, phase.fact(), this::decide, result);
  }

  /**
   * Begins. The future ends when the phase has ended, or when this party has broken it and the
   * store has recorded that. No caller may complete it.
   */
  CompletableFuture<Boolean> start() {
    CompletableFuture<Boolean> ended = result.whenComplete((value, failure) -> stop());
    poll.start();
    partyLease.onLost(loss -> breakOff(Reason.PARTY_LOST));
    return ended;
  }

  /** Gives up after this time. */
  void endAfter(long waitNanos) {
    timer =
        env.timers()
            .schedule(waitNanos, () -> env.callbacks().execute(() -> breakOff(Reason.TIMED_OUT)));
    if (result.isDone()) {
      stop();
    }
  }

  private void stop() {
    EngineScheduler.ScheduledTimer present = timer;
    if (present != null) {
      present.cancel();
    }
    watch(BarrierPhase.NOBODY);
  }

  private Optional<Boolean> decide(Fact present) {
    PhaseState state = phase.state(present);
    if (!state.isOpen()) {
      return Optional.of(passed(state, ownReason()));
    }
    if (partyLease.state() == Lease.State.LOST) {
      breakOff(Reason.PARTY_LOST);
      return Optional.empty();
    }
    watch(phase.neighbour(present));
    long now = env.now();
    if (present.version() != version) {
      version = present.version();
      versionSince = now;
    } else if (now - versionSince > refreshNanos()) {
      versionSince = now;
      recipes.facts().refresh(phase.fact(), present, phase.keep());
    }
    return Optional.empty();
  }

  /** Later parties wait longer: they then see that an earlier one has refreshed the document. */
  private long refreshNanos() {
    long share = phase.keep().toNanos() / REFRESH_SHARE;
    return share + share * phase.party().index() / phase.party().parties();
  }

  /**
   * The reason why this party breaks the phase; null if it does not. Its poll may see that first.
   */
  private @Nullable Reason ownReason() {
    guard.lock();
    try {
      return breaking;
    } finally {
      guard.unlock();
    }
  }

  /** True if the phase has passed; otherwise throws the reason, which may be this party's own. */
  private boolean passed(PhaseState state, @Nullable Reason own) {
    Reason reason = state.reason();
    if (reason == null) {
      return true;
    } else if (reason == own && own == Reason.TIMED_OUT) {
      throw new LockTimeoutException(
          "%s was not complete in time (parties=%s, store=%s). It is broken for all. Raise the wait time."
              .formatted(phase.text(), phase.party().parties(), recipes.display()));
    } else if (reason == own && own == Reason.CANCELLED) {
      throw new CancellationException();
    }
    throw broken(reason);
  }

  private BarrierBrokenException broken(Reason reason) {
    String why =
        switch (reason) {
          case TIMED_OUT -> "a party has waited for as long as it was willing to";
          case CANCELLED -> "a party has given up";
          case PARTY_LOST -> "the session of a party has ended, or it closed its passage";
          case FORGOTTEN -> "the store has no record of it any more";
        };
    String remedy = phase instanceof Leaving ? "" : " Enter again for the next generation.";
    return new BarrierBrokenException(
        "%s is broken: %s (parties=%s, store=%s).%s"
            .formatted(phase.text(), why, phase.party().parties(), recipes.display(), remedy),
        reason);
  }

  // ---- The neighbour ----

  /** Queues for the lock of this party, and no longer for another. */
  private void watch(int party) {
    CompletableFuture<Lease> before;
    CompletableFuture<Lease> next = null;
    guard.lock();
    try {
      boolean done = result.isDone();
      if (done ? watch == null : party == watched) {
        return;
      }
      before = watch;
      watched = done ? BarrierPhase.NOBODY : party;
      if (watched != BarrierPhase.NOBODY) {
        next = recipes.lock(phase.party().lockOf(watched)).acquireAsync();
      }
      watch = next;
    } finally {
      guard.unlock();
    }
    if (before != null) {
      before.cancel(false);
    }
    if (next != null) {
      CompletableFuture<Lease> mine = next;
      var told = mine.whenCompleteAsync((lease, failure) -> ended(mine, lease), env.callbacks());
      assert told != null;
    }
  }

  /** The neighbour is gone, or the wait for its lock has failed. */
  private void ended(CompletableFuture<Lease> mine, @Nullable Lease lease) {
    if (lease != null) {
      var unused = lease.releaseAsync();
    }
    boolean current;
    guard.lock();
    try {
      current = watch == mine;
      if (current) {
        watch = null;
        watched = BarrierPhase.NOBODY;
      }
    } finally {
      guard.unlock();
    }
    if (current && lease != null) {
      breakOff(Reason.PARTY_LOST);
    }
  }

  // ---- Breaking ----

  /** Breaks the phase, unless it has ended. */
  void breakOff(Reason reason) {
    guard.lock();
    try {
      if (result.isDone()) {
        return;
      } else if (breaking != null) {
        nextReason = reason == Reason.PARTY_LOST ? nextReason : reason;
        return;
      }
      breaking = reason;
    } finally {
      guard.unlock();
    }
    var broken =
        recipes
            .facts()
            .change(phase.fact(), BarrierPhase.ENDED, present -> phase.broken(present, reason))
            .whenComplete(
                (present, failure) -> {
                  if (present != null && failure == null) {
                    settle(phase.state(present), reason);
                  } else if (reason == Reason.PARTY_LOST
                      && failure instanceof StoreUnavailableException) {
                    breakLater();
                  } else {
                    result.completeExceptionally(
                        failure == null ? new IllegalStateException("no text") : failure);
                  }
                });
    assert broken != null;
  }

  /** The store does not answer: this party continues to wait, and reads the outcome later. */
  private void breakLater() {
    Reason reason;
    guard.lock();
    try {
      breaking = null;
      reason = nextReason;
      nextReason = null;
    } finally {
      guard.unlock();
    }
    if (reason != null) {
      breakOff(reason);
    }
  }

  /** Ends with the outcome of the phase; with this party's own reason if that broke the phase. */
  private void settle(PhaseState state, Reason own) {
    try {
      result.complete(passed(state, own));
    } catch (BarrierBrokenException | LockTimeoutException | CancellationException e) {
      result.completeExceptionally(e);
    }
  }
}
