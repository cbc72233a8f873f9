package io.mortise.internal.recipe;

import io.mortise.Lease;
import io.mortise.internal.recipe.BarrierPhase.BarrierTicket;
import io.mortise.internal.recipe.BarrierPhase.Leaving;
import io.mortise.recipe.BarrierBrokenException.Reason;
import io.mortise.recipe.DistributedBarrier.Passage;
import java.time.Duration;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.atomic.AtomicBoolean;
import org.jspecify.annotations.Nullable;

/** A party that has entered: holds the lock of its place until it has left. */
final class EnginePassage implements Passage {
  private final Recipes recipes;
  private final BarrierTicket ticket;
  private final Lease slot;

  /** Whether it is leaving, has left, or is closed. */
  private final AtomicBoolean ends = new AtomicBoolean();

  private volatile @Nullable CompletableFuture<Void> leaving;

  EnginePassage(Recipes recipes, BarrierTicket ticket, Lease slot) {
    this.recipes = recipes;
    this.ticket = ticket;
    this.slot = slot;
  }

  @Override
  public long generation() {
    return ticket.generation();
  }

  @Override
  public int index() {
    return ticket.index();
  }

  @Override
  public void leave() throws InterruptedException {
    Recipes.refuseIfInterrupted("leaving barrier '" + ticket.name() + "'");
    Recipes.join(leaveAsync());
  }

  @Override
  public void leave(Duration wait) throws InterruptedException {
    Recipes.checkedWait(wait);
    Recipes.refuseIfInterrupted("leaving barrier '" + ticket.name() + "'");
    Recipes.join(leaveAsync(wait));
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
    recipes.refuseIfClosed();
    if (!ends.compareAndSet(false, true)) {
      throw new IllegalStateException(
          "This party has left barrier '%s' before, or is closed.".formatted(ticket.name()));
    }
    Leaving phase = Leaving.of(ticket);
    PhaseWait wait = new PhaseWait(recipes, phase, slot);
    CompletableFuture<@Nullable Void> result = new CompletableFuture<>();
    leaving = result;
    CompletableFuture<@Nullable Void> watched =
        recipes
            .endsWithClient(result)
            .whenComplete((value, failure) -> wait.breakOff(Reason.CANCELLED));
    var told =
        recipes
            .facts()
            .change(phase.fact(), phase.keep(), phase::left)
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
                  var unused = slot.releaseAsync();
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
      var unused = slot.releaseAsync();
    } else if (present != null) {
      present.cancel(false);
    }
  }

  @Override
  public String toString() {
    return "Passage[%s, generation %d, party %d of %d]"
        .formatted(ticket.name(), ticket.generation(), ticket.index(), ticket.parties());
  }
}
