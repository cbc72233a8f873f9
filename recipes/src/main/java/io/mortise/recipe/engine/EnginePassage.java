package io.mortise.recipe.engine;

import io.mortise.Lease;
import io.mortise.recipe.BarrierBrokenException.Reason;
import io.mortise.recipe.DistributedBarrier.Passage;
import io.mortise.recipe.engine.BarrierPhase.BarrierParty;
import io.mortise.recipe.engine.BarrierPhase.Leaving;
import java.time.Duration;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.atomic.AtomicBoolean;
import org.jspecify.annotations.Nullable;

/** A party that has entered: holds its own lock until it has left. */
final class EnginePassage implements Passage {
  private final Recipes recipes;
  private final BarrierParty party;
  private final Lease partyLease;

  /** Whether it is leaving, has left, or is closed. */
  private final AtomicBoolean ends = new AtomicBoolean();

  private volatile @Nullable CompletableFuture<Void> leaving;

  EnginePassage(Recipes recipes, BarrierParty party, Lease partyLease) {
    this.recipes = recipes;
    this.party = party;
    this.partyLease = partyLease;
  }

  @Override
  public long generation() {
    return party.generation();
  }

  @Override
  public int index() {
    return party.index();
  }

  @Override
  public void leave() throws InterruptedException {
    leaveBlocking(BarrierEntry.ENDLESS);
  }

  @Override
  public void leave(Duration wait) throws InterruptedException {
    leaveBlocking(Recipes.checkedWait(wait));
  }

  private void leaveBlocking(long waitNanos) throws InterruptedException {
    Recipes.refuseIfInterrupted("leaving barrier '" + party.name() + "'");
    Leaving phase = beginLeaving();
    PhaseWait wait = new PhaseWait(recipes, phase, partyLease);
    Recipes.joinOutcome(leave(phase, wait, waitNanos), () -> wait.breakOff(Reason.CANCELLED));
  }

  @Override
  public CompletableFuture<Void> leaveAsync() {
    return leave(BarrierEntry.ENDLESS);
  }

  @Override
  public CompletableFuture<Void> leaveAsync(Duration wait) {
    return leave(Recipes.checkedWait(wait));
  }

  private CompletableFuture<Void> leave(long waitNanos) {
    Leaving phase = beginLeaving();
    return leave(phase, new PhaseWait(recipes, phase, partyLease), waitNanos);
  }

  private Leaving beginLeaving() {
    recipes.refuseIfClosed();
    if (!ends.compareAndSet(false, true)) {
      throw new IllegalStateException(
          "This party has left barrier '%s' before, or is closed.".formatted(party.name()));
    }
    return Leaving.of(party);
  }

  private CompletableFuture<Void> leave(Leaving phase, PhaseWait wait, long waitNanos) {
    CompletableFuture<@Nullable Void> result = new CompletableFuture<>();
    leaving = result;
    CompletableFuture<@Nullable Void> watched =
        recipes
            .endsWithClient(result)
            .whenComplete((value, failure) -> wait.breakOff(Reason.CANCELLED));
    var told =
        recipes
            .facts()
            .change(phase.fact(), phase::keepOf, phase::left)
            .thenCompose(
                present -> {
                  CompletableFuture<Boolean> ended = wait.start();
                  if (waitNanos != BarrierEntry.ENDLESS) {
                    wait.endAfter(waitNanos);
                  }
                  return ended;
                })
            .whenComplete(
                (passed, failure) -> {
                  var unused = partyLease.releaseAsync();
                  if (failure == null) {
                    result.complete(null);
                  } else {
                    result.completeExceptionally(Recipes.cause(failure));
                  }
                });
    assert watched != null && told != null;
    return result;
  }

  @Override
  public void close() {
    CompletableFuture<Void> present = leaving;
    if (ends.compareAndSet(false, true)) {
      var unused = partyLease.releaseAsync();
    } else if (present != null) {
      present.cancel(false);
    }
  }

  @Override
  public String toString() {
    return "Passage[%s, generation %s, party %s of %s]"
        .formatted(party.name(), party.generation(), party.index(), party.parties());
  }
}
