package io.mortise.simulation.toy;

import static java.util.concurrent.CompletableFuture.completedFuture;

import io.mortise.support.document.VersionedDocuments;
import java.util.List;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ConcurrentMap;
import java.util.concurrent.ConcurrentNavigableMap;
import java.util.concurrent.ConcurrentSkipListMap;
import java.util.concurrent.atomic.AtomicLong;
import java.util.function.Consumer;
import java.util.function.LongSupplier;
import org.jspecify.annotations.Nullable;

/** The server: a map in this process, whose entries have a version. Answers at once. */
final class ToyDocuments implements VersionedDocuments {
  private final ConcurrentNavigableMap<String, VersionedText> documents =
      new ConcurrentSkipListMap<>();
  private final ConcurrentMap<String, Consumer<@Nullable VersionedText>> watches =
      new ConcurrentHashMap<>();

  /** One counter for all, so that a recreated document has another version. */
  private final AtomicLong versions = new AtomicLong();

  private final LongSupplier micros;

  /**
   * No documents.
   *
   * @param micros the server's clock: microseconds since 1970
   */
  ToyDocuments(LongSupplier micros) {
    this.micros = micros;
  }

  @Override
  public CompletionStage<VersionedText> read(String key) {
    return completedFuture(documents.getOrDefault(key, VersionedText.ABSENT));
  }

  @Override
  public CompletionStage<Written> compareAndSet(
      String key, VersionedText found, @Nullable String text) {
    VersionedText next = new VersionedText(text, Long.toString(versions.incrementAndGet()));
    boolean made = write(key, found, next);
    Consumer<@Nullable VersionedText> changed = made ? watches.get(key) : null;
    if (changed != null) {
      changed.accept(text == null ? null : next);
    }
    return completedFuture(new Written(made, made && text != null ? next : null));
  }

  private boolean write(String key, VersionedText found, VersionedText next) {
    if (found.text() == null) {
      return documents.putIfAbsent(key, next) == null;
    }
    return next.text() == null ? documents.remove(key, found) : documents.replace(key, found, next);
  }

  @Override
  public CompletionStage<List<String>> scan(String prefix, String after, int limit) {
    return completedFuture(
        documents.tailMap(prefix).keySet().stream()
            .takeWhile(key -> key.startsWith(prefix))
            .filter(key -> key.compareTo(after) > 0)
            .limit(limit)
            .toList());
  }

  @Override
  public Runnable watch(String key, Consumer<@Nullable VersionedText> changed) {
    watches.put(key, changed);
    return () -> watches.remove(key, changed);
  }

  @Override
  public long micros() {
    return micros.getAsLong();
  }
}
