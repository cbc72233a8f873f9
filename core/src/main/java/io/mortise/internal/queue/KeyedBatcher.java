package io.mortise.internal.queue;

import io.mortise.internal.runtime.CompletionStages;
import io.mortise.spi.Request;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.locks.ReentrantLock;
import java.util.function.Function;
import java.util.function.Predicate;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;

/**
 * Batches this process's changes of documents by key: the requests of a session by lock, changes of
 * sessions' documents by session, and steps of recipes by text. At most one step of a key is in
 * flight. Items that come meanwhile gather for the next one. So a process never competes with
 * itself for a document, regardless of how many of its threads change it.
 *
 * <p><b>Order.</b> Items of a key take effect in the order of a {@link RequestQueue}: acquires go
 * last, and requests of one attempt keep their order. An item that is added after another was
 * answered takes effect after it.
 *
 * <p><b>Failures.</b> If one item may have made a step fail, for instance because a document is too
 * large, the step is retried with half of the items: a release is not refused because of an acquire
 * that makes the document too large. After a successful step the next may be twice as large. If the
 * server is silent or refuses for another reason, as when it throttles, the items of the step fail
 * at once. Items that were not in a failed step are sent with the next one.
 *
 * <p>Thread-safe. No callback runs under the lock.
 *
 * @param <K> names a document
 * @param <I> a change of it
 * @param <O> the outcome of a change
 */
public final class KeyedBatcher<K, I, O> {
  /** Bounds the work of a step (invariants.md#bounded-steps). */
  private static final int MOST_TOGETHER = 64;

  private final Function<I, @Nullable Request> request;
  private final BatchStep<K, I, O> step;
  private final Predicate<Throwable> isOfOne;
  private final ReentrantLock guard = new ReentrantLock();

  /** The items by key, while a step of the key is in flight. Guarded by the lock. */
  private final Map<K, KeyedItems<I, O>> open = new HashMap<>();

  /** Takes a step of one key. */
  @FunctionalInterface
  public interface BatchStep<K, I, O> {
    /**
     * Takes the step.
     *
     * @param items supplies the items of the step, in order. A repeated call also returns items
     *     added since
     * @return the outcomes of the items of its last call
     */
    CompletionStage<List<O>> take(K key, Supplier<List<I>> items);
  }

  private record PendingItem<I, O>(
      @Nullable Request request, I item, CompletableFuture<O> outcome) {}

  /** The items of one key. Guarded by the lock. */
  private static final class KeyedItems<I, O> {
    RequestQueue<PendingItem<I, O>> waiting = new RequestQueue<>();

    /** The items of the step in flight, also if it is repeated. */
    final List<PendingItem<I, O>> inStep = new ArrayList<>();

    /** The maximum number of items in a step: fewer after a failure because of one item. */
    int most = MOST_TOGETHER;

    void add(PendingItem<I, O> item) {
      waiting.add(item.request(), item);
    }

    boolean isEmpty() {
      return inStep.isEmpty() && waiting.isEmpty();
    }

    List<I> batch() {
      PendingItem<I, O> next;
      while (inStep.size() < most && (next = waiting.poll()) != null) {
        inStep.add(next);
      }
      return inStep.stream().map(PendingItem::item).toList();
    }

    /** Removes the items of the step and returns them; none if fewer of them will be sent again. */
    List<PendingItem<I, O>> answered(boolean failedOfOne) {
      if (failedOfOne && inStep.size() > 1) {
        most = inStep.size() / 2;
        RequestQueue<PendingItem<I, O>> later = waiting;
        waiting = new RequestQueue<>();
        inStep.forEach(this::add);
        inStep.clear();
        for (var next = later.poll(); next != null; next = later.poll()) {
          add(next);
        }
        return List.of();
      }
      most = failedOfOne ? 1 : Math.min(MOST_TOGETHER, 2 * most);
      List<PendingItem<I, O>> done = List.copyOf(inStep);
      inStep.clear();
      return done;
    }
  }

  /**
   * A batcher without items.
   *
   * @param request the request of an item, which determines its order; null for an item that keeps
   *     its place
   * @param isOfOne whether one item alone may have made a step fail
   */
  public KeyedBatcher(
      Function<I, @Nullable Request> request,
      BatchStep<K, I, O> step,
      Predicate<Throwable> isOfOne) {
    this.request = request;
    this.step = step;
    this.isOfOne = isOfOne;
  }

  /**
   * Executes an item now, or with the next step of its key.
   *
   * @param outcome is completed before those of items that take effect later
   */
  public void add(K key, I item, CompletableFuture<O> outcome) {
    PendingItem<I, O> added = new PendingItem<>(request.apply(item), item, outcome);
    boolean inFlight;
    guard.lock();
    try {
      inFlight = open.containsKey(key);
      open.computeIfAbsent(key, unused -> new KeyedItems<>()).add(added);
    } finally {
      guard.unlock();
    }
    if (!inFlight) {
      send(key);
    }
  }

  private void send(K key) {
    // The step may fail in its read, before it takes its items.
    batch(key);
    CompletionStages.start(() -> step.take(key, () -> batch(key)))
        .whenComplete((outcomes, failure) -> answered(key, outcomes, failure));
  }

  private List<I> batch(K key) {
    guard.lock();
    try {
      return Objects.requireNonNull(open.get(key)).batch();
    } finally {
      guard.unlock();
    }
  }

  /** Handles the end of a step, by success or failure. */
  private void answered(K key, @Nullable List<O> outcomes, @Nullable Throwable failure) {
    boolean failedOfOne = failure != null && isOfOne.test(CompletionStages.cause(failure));
    List<PendingItem<I, O>> done;
    guard.lock();
    try {
      done = Objects.requireNonNull(open.get(key)).answered(failedOfOne);
    } finally {
      guard.unlock();
    }
    for (int i = 0; i < done.size(); i++) {
      CompletableFuture<O> outcome = done.get(i).outcome();
      if (outcomes == null) {
        outcome.completeExceptionally(CompletionStages.cause(failure));
      } else {
        outcome.complete(outcomes.get(i));
      }
    }
    boolean more;
    guard.lock();
    try {
      more = !Objects.requireNonNull(open.get(key)).isEmpty();
      if (!more) {
        open.remove(key);
      }
    } finally {
      guard.unlock();
    }
    if (more) {
      send(key);
    }
  }
}
