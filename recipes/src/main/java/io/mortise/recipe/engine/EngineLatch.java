package io.mortise.recipe.engine;

import io.mortise.LockException;
import io.mortise.LockName;
import io.mortise.internal.runtime.EngineEnv;
import io.mortise.recipe.DistributedLatch;
import io.mortise.spi.Fact;
import java.time.Duration;
import java.util.Objects;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicReference;
import org.jspecify.annotations.Nullable;

/** A latch: a document that parties change, and that waiters read. */
final class EngineLatch implements DistributedLatch {
  private static final Duration SHORTEST = Duration.ofSeconds(10);

  /**
   * How long a deletion is remembered, by a text without content. A count-down that began the latch
   * may have an earlier request in flight, which would begin the latch again if there were no text.
   * No store executes a request so late.
   */
  private static final Duration DELETED = Duration.ofMinutes(10);

  private static final int LONGEST_PARTY = 512;

  private final Recipes recipes;
  private final String name;
  private final LockName fact;
  private final int parties;
  private final Duration keep;

  EngineLatch(Recipes recipes, String name, LockName fact, int parties, Duration keep) {
    this.recipes = recipes;
    this.name = name;
    this.fact = fact;
    this.parties = parties;
    this.keep = keep;
  }

  @Override
  public String name() {
    return name;
  }

  @Override
  public int parties() {
    return parties;
  }

  @Override
  public DistributedLatch keepFor(Duration time) {
    Duration kept = Recipes.checkedKeep("latch", time, SHORTEST, "10 s");
    return new EngineLatch(recipes, name, fact, parties, kept);
  }

  private Optional<LatchDocument> decode(Fact present) {
    return LatchDocument.decode(name, parties, present);
  }

  // ---- Counting down ----

  @Override
  public int countDown(String party) throws InterruptedException {
    Recipes.refuseIfInterrupted("counting down");
    return Recipes.join(countDownAsync(party));
  }

  @Override
  public int countDown() throws InterruptedException {
    Recipes.refuseIfInterrupted("counting down");
    return Recipes.join(countDownAsync());
  }

  @Override
  public CompletableFuture<Integer> countDownAsync(String party) {
    if (Objects.requireNonNull(party, "party").isEmpty() || party.length() > LONGEST_PARTY) {
      throw new IllegalArgumentException(
          "The name of a party has 1 to %s characters, not %s."
              .formatted(LONGEST_PARTY, party.length()));
    }
    return counted("party " + party);
  }

  @Override
  public CompletableFuture<Integer> countDownAsync() {
    return counted("attempt " + recipes.newId());
  }

  private CompletableFuture<Integer> counted(String party) {
    recipes.refuseIfClosed();
    return recipes.endsWithClient(
        recipes
            .facts()
            .changeTogether(
                fact,
                keep,
                present -> {
                  LatchDocument before =
                      decode(present)
                          .orElseGet(() -> LatchDocument.first(recipes.newId(), parties));
                  LatchDocument after = before.counted(party);
                  return after.equals(before) ? Optional.empty() : Optional.of(after.encode());
                })
            .thenApply(this::remaining));
  }

  private int remaining(Fact present) {
    return decode(present).map(LatchDocument::remaining).orElse(parties);
  }

  // ---- Waiting ----

  @Override
  public int remaining() throws InterruptedException {
    return Recipes.join(look());
  }

  private CompletableFuture<Integer> look() {
    recipes.refuseIfClosed();
    CompletableFuture<Integer> result = new CompletableFuture<>();
    recipes
        .facts()
        .read(
            fact,
            (present, failure) -> {
              try {
                if (present == null || failure != null) {
                  throw failure == null ? new LockException("No answer.") : failure;
                }
                result.complete(remaining(present));
              } catch (LockException e) {
                result.completeExceptionally(e);
              }
            });
    return recipes.endsWithClient(result);
  }

  @Override
  public void await() throws InterruptedException {
    Recipes.refuseIfInterrupted("waiting for latch '" + name + "'");
    Recipes.join(awaitAsync());
  }

  @Override
  public boolean await(Duration wait) throws InterruptedException {
    Recipes.checkedWait(wait);
    Recipes.refuseIfInterrupted("waiting for latch '" + name + "'");
    return Recipes.join(awaitAsync(wait));
  }

  @Override
  public CompletableFuture<Void> awaitAsync() {
    CompletableFuture<Boolean> opened = new CompletableFuture<>();
    poll(opened);
    return Recipes.mapped(opened, open -> null);
  }

  @Override
  public CompletableFuture<Boolean> awaitAsync(Duration wait) {
    long nanos = Recipes.checkedWait(wait);
    if (nanos == 0) {
      return look().thenApply(missing -> missing == 0);
    }
    CompletableFuture<Boolean> result = new CompletableFuture<>();
    DocumentPoll<Boolean> poll = poll(result);
    EngineEnv env = recipes.env();
    var timer =
        env.timers().schedule(nanos, () -> env.callbacks().execute(() -> timeOut(poll, result)));
    CompletableFuture<Boolean> ended = result.whenComplete((open, failure) -> timer.cancel());
    assert ended != null;
    return result;
  }

  private static void timeOut(DocumentPoll<Boolean> poll, CompletableFuture<Boolean> result) {
    LockException trouble = poll.trouble();
    if (trouble == null) {
      result.complete(false);
    } else {
      result.completeExceptionally(trouble);
    }
  }

  private DocumentPoll<Boolean> poll(CompletableFuture<Boolean> result) {
    recipes.refuseIfClosed();
    AtomicReference<@Nullable String> seen = new AtomicReference<>();
    DocumentPoll<Boolean> poll =
        new DocumentPoll<>(
            recipes,
            fact,
            present -> isOpen(present, seen) ? Optional.of(true) : Optional.empty(),
            recipes.endsWithClient(result));
    poll.start();
    return poll;
  }

  private boolean isOpen(Fact present, AtomicReference<@Nullable String> seen) {
    Optional<LatchDocument> found = decode(present);
    String id = found.map(LatchDocument::id).orElse(null);
    String before = seen.getAndSet(id);
    if (before != null && !before.equals(id)) {
      throw new LockException(
          "Latch '%s' was deleted, or expired, while it was waited for. Whether it was open before is unknown."
              .formatted(name));
    }
    return found.map(LatchDocument::isOpen).orElse(false);
  }

  @Override
  public boolean delete() throws InterruptedException {
    Recipes.refuseIfInterrupted("deleting latch '" + name + "'");
    recipes.refuseIfClosed();
    AtomicBoolean was = new AtomicBoolean();
    var deleted =
        recipes
            .facts()
            .change(
                fact,
                DELETED,
                present -> {
                  // A latch of another number of parties, too: that is a reason to delete it.
                  if (present.content().isEmpty()) {
                    return Optional.empty();
                  }
                  was.set(true);
                  return Optional.of("");
                });
    Fact unused = Recipes.join(recipes.endsWithClient(deleted));
    return was.get();
  }

  @Override
  public String toString() {
    return "DistributedLatch[%s, %s parties, %s]".formatted(name, parties, recipes.display());
  }
}
