package io.mortise.recipe.engine;

import io.mortise.LockName;
import io.mortise.StoreUnavailableException;
import io.mortise.support.liveness.ForwardingStore;
import io.mortise.support.memory.MemStore;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.IntConsumer;

/** Executes replacements of facts, and loses the answers of some. */
final class LossyStore extends ForwardingStore {
  final AtomicInteger replacements = new AtomicInteger();

  /** The numbers of replacements that are executed and not answered. */
  volatile List<Integer> unanswered = List.of();

  /** The numbers of replacements that are not executed. */
  volatile List<Integer> dropped = List.of();

  /** Replacements by number that are answered when the future completes. */
  volatile Map<Integer, CompletableFuture<Void>> answeredWith = Map.of();

  /** Executes the dropped replacements, later than their callers have waited. */
  final List<Runnable> late = new CopyOnWriteArrayList<>();

  /** How long each document is kept since its latest replacement. */
  final Map<LockName, Duration> kept = new ConcurrentHashMap<>();

  /** The texts of all replacements, in their order. */
  final List<String> texts = new CopyOnWriteArrayList<>();

  /** Receives the number of each replacement before it is executed. */
  volatile IntConsumer before = number -> {};

  /** Receives the number of each replacement after it is executed. */
  volatile IntConsumer after = number -> {};

  LossyStore(MemStore store) {
    super(store);
  }

  @Override
  public CompletionStage<Long> replaceFact(
      LockName name, long version, String content, Duration keep) {
    int number = replacements.incrementAndGet();
    texts.add(content);
    before.accept(number);
    CompletionStage<Long> lost =
        CompletableFuture.failedFuture(new StoreUnavailableException("lost"));
    if (dropped.contains(number)) {
      late.add(
          () -> {
            var unused = super.replaceFact(name, version, content, keep);
          });
      return lost;
    }
    kept.put(name, keep);
    CompletionStage<Long> answer = super.replaceFact(name, version, content, keep);
    after.accept(number);
    CompletableFuture<Void> gate = answeredWith.get(number);
    if (gate != null) {
      return answer.thenCombine(gate, (written, ignored) -> written);
    }
    return unanswered.contains(number) ? lost : answer;
  }
}
