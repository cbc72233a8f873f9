package io.mortise.recipe.engine;

import io.mortise.Lease;
import io.mortise.LockException;
import io.mortise.LockName;
import io.mortise.LockTimeoutException;
import io.mortise.StoreUnavailableException;
import io.mortise.internal.runtime.EngineScheduler;
import io.mortise.recipe.BarrierBrokenException.Reason;
import io.mortise.recipe.DistributedBarrier.Passage;
import io.mortise.recipe.engine.BarrierPhase.BarrierParty;
import io.mortise.recipe.engine.BarrierPhase.Entering;
import io.mortise.spi.Fact;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.locks.ReentrantLock;
import org.jspecify.annotations.Nullable;

/**
 * A party at a barrier, from its call until it has passed.
 *
 * <p><b>Steps.</b> It acquires the lock of the barrier, so that parties arrive one by one. It reads
 * the next index, and acquires the party lock of that index, which it holds while it is a party. It
 * writes its arrival, releases the lock of the barrier, and waits. The party lock is acquired
 * before the arrival is written: a neighbour that gets it knows that the party is gone.
 *
 * <p><b>Ends.</b> The user's future may end at any time: by the user, by the client's close, by the
 * deadline. Each step checks that when its answer has come, and then releases its locks. If the
 * arrival was written, the generation is broken first. The guard decides whether the deadline or
 * the write comes first: a party that gave up writes nothing.
 */
final class BarrierEntry {
  /** A wait without limit. */
  static final long ENDLESS = -1;

  private final Recipes recipes;
  private final String name;
  private final int parties;
  private final LockName fact;
  private final String me;
  private final long waitNanos;
  private final long began;
  private final CompletableFuture<Passage> result = new CompletableFuture<>();
  private final ReentrantLock guard = new ReentrantLock();

  // Guarded by the guard.
  private @Nullable CompletableFuture<Lease> pending;
  private @Nullable PhaseWait phaseWait;
  private boolean isWriting;
  private boolean gaveUp;
  private boolean isOverdue;
  private boolean isAbandoned;
  private EngineScheduler.@Nullable ScheduledTimer timer;

  // Used by one step after the other.
  private @Nullable Lease barrierLease;
  private @Nullable Lease partyLease;

  BarrierEntry(Recipes recipes, String name, int parties, long waitNanos) {
    this.recipes = recipes;
    this.name = name;
    this.parties = parties;
    this.fact = LockName.of("barrier/" + name);
    this.me = recipes.newId();
    this.waitNanos = waitNanos;
    this.began = recipes.env().now();
  }

  CompletableFuture<Passage> begin() {
    recipes.refuseIfClosed();
    CompletableFuture<Passage> watched =
        recipes.endsWithClient(result).whenComplete((passage, failure) -> ended());
    assert watched != null;
    if (waitNanos != ENDLESS) {
      timer = recipes.env().timers().schedule(waitNanos, this::timeOut);
    }
    if (recipes.keepsFacts()) {
      acquire("barrier/" + name, this::onBarrierLease);
    } else {
      readIndex(); // The entry is refused before any lock is held.
    }
    return result;
  }

  /** As {@link #begin}, and waits. An interrupt ends it as a cancellation, whose outcome counts. */
  Passage enter() throws InterruptedException {
    return Recipes.joinOutcome(begin(), this::abandon);
  }

  /** The step after a granted lock. */
  @FunctionalInterface
  private interface LeaseStep {
    void granted(Lease lease);
  }

  private void acquire(String lock, LeaseStep next) {
    CompletableFuture<Lease> attempt = recipes.lock(lock).acquireAsync();
    guard.lock();
    try {
      pending = attempt;
    } finally {
      guard.unlock();
    }
    var told =
        attempt.whenCompleteAsync(
            (lease, failure) -> {
              if (lease == null || failure != null) {
                fail(failure);
              } else if (isOver()) {
                giveBack(lease);
                giveAllBack();
              } else {
                next.granted(lease);
              }
            },
            recipes.env().callbacks());
    assert told != null;
    if (result.isDone()) {
      attempt.cancel(false);
    }
  }

  // ---- Arriving ----

  private void onBarrierLease(Lease lease) {
    barrierLease = lease;
    readIndex();
  }

  private void readIndex() {
    var read =
        recipes
            .facts()
            .readRetrying(fact)
            .whenComplete(
                (present, failure) -> {
                  if (present == null || failure != null) {
                    fail(failure);
                  } else if (isOver()) {
                    giveAllBack();
                  } else {
                    acquirePartyLock(present);
                  }
                });
    assert read != null;
  }

  private void acquirePartyLock(Fact present) {
    BarrierDocument found;
    try {
      found = decodeOr(present, recipes.newId());
    } catch (LockException e) {
      fail(e);
      return;
    }
    BarrierParty party =
        new BarrierParty(name, parties, found.id(), found.generation(), found.arrived());
    acquire(
        party.lockOf(party.index()),
        lease -> {
          partyLease = lease;
          write(party, lease);
        });
  }

  private BarrierDocument decodeOr(Fact present, String id) {
    return BarrierDocument.decode(name, parties, present)
        .orElseGet(() -> BarrierDocument.first(id, parties));
  }

  private void write(BarrierParty party, Lease lease) {
    boolean over;
    guard.lock();
    try {
      over = isOver();
      isWriting = !over;
    } finally {
      guard.unlock();
    }
    if (over) {
      giveAllBack();
      return;
    }
    boolean isLast = party.index() == parties - 1;
    var written =
        recipes
            .facts()
            .change(
                fact,
                isLast ? BarrierPhase.ENDED : Entering.KEEP,
                present -> arrival(present, party, lease))
            .whenComplete(
                (present, failure) -> {
                  if (present == null || failure != null) {
                    breakArrival(party, failure);
                  } else {
                    afterWriting(present, party, lease);
                  }
                });
    assert written != null;
  }

  /** The text with this party's arrival; empty if it is there, or its index belongs to another. */
  private Optional<String> arrival(Fact present, BarrierParty party, Lease lease) {
    BarrierDocument found = decodeOr(present, party.id());
    boolean isMine =
        found.id().equals(party.id())
            && found.generation() == party.generation()
            && found.arrived() == party.index();
    if (found.last().equals(me) || !isMine) {
      return Optional.empty();
    }
    Lease barrier = barrierLease;
    if (barrier == null || !barrier.isValid() || !lease.isValid()) {
      throw new StoreUnavailableException(
          "Barrier '%s' was not entered: the lease of the arriving party was lost (store=%s). Enter again."
              .formatted(name, recipes.display()));
    }
    return Optional.of(found.entered(me).encode());
  }

  private void afterWriting(Fact present, BarrierParty party, Lease lease) {
    BarrierDocument found = decodeOr(present, "");
    // Another party broke the generation meanwhile: enter the next one.
    if (!found.last().equals(me)) {
      partyLease = null;
      giveBack(lease);
      boolean abandoned;
      boolean overdue;
      guard.lock();
      try {
        isWriting = false;
        abandoned = isAbandoned;
        overdue = isOverdue;
      } finally {
        guard.unlock();
      }
      if (abandoned) {
        abandon();
      } else if (overdue) {
        timeOut();
      }
      if (isOver()) {
        giveAllBack();
      } else {
        readIndex();
      }
      return;
    }
    giveBarrierLeaseBack();
    waitForOthers(party, lease);
  }

  /**
   * Handles an unknown outcome of the write: breaks the generation if it may include this party.
   */
  private void breakArrival(BarrierParty party, @Nullable Throwable failure) {
    Entering phase = new Entering(party, fact);
    var broken =
        recipes
            .facts()
            .change(
                fact,
                BarrierPhase.ENDED,
                present ->
                    BarrierDocument.decode(name, parties, present)
                        .filter(found -> found.last().equals(me))
                        .flatMap(found -> phase.broken(present, Reason.PARTY_LOST)))
            .whenComplete((present, trouble) -> fail(failure));
    assert broken != null;
  }

  // ---- Waiting ----

  private void waitForOthers(BarrierParty party, Lease lease) {
    PhaseWait wait = new PhaseWait(recipes, new Entering(party, fact), lease);
    boolean over;
    guard.lock();
    try {
      phaseWait = wait;
      isWriting = false;
      over = isAbandoned || result.isDone();
    } finally {
      guard.unlock();
    }
    var told =
        wait.start()
            .whenComplete(
                (passed, failure) -> {
                  if (failure != null) {
                    fail(failure);
                  } else {
                    EnginePassage passage = new EnginePassage(recipes, party, lease);
                    if (!result.complete(passage)) {
                      passage.close();
                    }
                  }
                });
    assert told != null;
    if (over) {
      wait.breakOff(Reason.CANCELLED);
    } else if (waitNanos != ENDLESS) {
      wait.endAfter(Math.max(0, waitNanos - (recipes.env().now() - began)));
    }
  }

  // ---- Ending ----

  /** Whether this party must not arrive any more. */
  private boolean isOver() {
    guard.lock();
    try {
      return gaveUp || result.isDone();
    } finally {
      guard.unlock();
    }
  }

  /**
   * Times out. Before its arrival no other party is concerned; during the write, the generation is
   * broken afterwards.
   */
  private void timeOut() {
    guard.lock();
    try {
      if (isWriting) {
        isOverdue = true;
        return;
      } else if (phaseWait != null) {
        return;
      }
      gaveUp = true;
    } finally {
      guard.unlock();
    }
    recipes
        .env()
        .callbacks()
        .execute(
            () ->
                result.completeExceptionally(
                    new LockTimeoutException(
                        "Could not enter barrier '%s' in time (store=%s). It is not broken. Raise the wait time."
                            .formatted(name, recipes.display()))));
  }

  /**
   * The waiting thread was interrupted. Others may see an arrival that is being written, so the
   * future ends as the generation does then.
   */
  private void abandon() {
    PhaseWait wait;
    guard.lock();
    try {
      wait = phaseWait;
      if (isWriting) {
        isAbandoned = true;
        return;
      }
      gaveUp = wait == null;
    } finally {
      guard.unlock();
    }
    if (wait == null) {
      result.cancel(false);
    } else {
      wait.breakOff(Reason.CANCELLED);
    }
  }

  /** The future has ended, by any cause. */
  private void ended() {
    CompletableFuture<Lease> attempt;
    PhaseWait wait;
    EngineScheduler.ScheduledTimer deadline;
    guard.lock();
    try {
      attempt = pending;
      wait = phaseWait;
      deadline = timer;
    } finally {
      guard.unlock();
    }
    if (deadline != null) {
      deadline.cancel();
    }
    if (attempt != null) {
      attempt.cancel(false);
    }
    if (wait != null) {
      wait.breakOff(Reason.CANCELLED); // Does nothing if the wait has ended.
    }
  }

  private void fail(@Nullable Throwable failure) {
    giveAllBack();
    result.completeExceptionally(
        failure == null
            ? new LockException("The store answered with nothing.")
            : Recipes.cause(failure));
  }

  private void giveAllBack() {
    giveBarrierLeaseBack();
    Lease lease = partyLease;
    partyLease = null;
    if (lease != null) {
      giveBack(lease);
    }
  }

  private void giveBarrierLeaseBack() {
    Lease barrier = barrierLease;
    barrierLease = null;
    if (barrier != null) {
      giveBack(barrier);
    }
  }

  private static void giveBack(Lease lease) {
    var unused = lease.releaseAsync();
  }
}
