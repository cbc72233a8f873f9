package io.mortise.simulation.toy;

import java.util.List;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ConcurrentMap;
import java.util.concurrent.atomic.AtomicLong;
import java.util.function.Function;
import org.jspecify.annotations.Nullable;

/**
 * The database: documents of one kind, each with a version. It reads one document, and replaces one
 * whose version is still the one that was read; nothing else is atomic.
 */
final class ToyDocuments<K extends Comparable<K>, D> {
  /** What a step wants written, and its answer. The document that was read changes nothing. */
  record Change<D, R>(D document, R answer) {}

  private record Versioned<D>(long version, D document) {}

  private final ConcurrentMap<K, Versioned<D>> documents = new ConcurrentHashMap<>();

  /** One counter for all: a document that was removed and made anew is another version. */
  private final AtomicLong versions = new AtomicLong();

  private final D absent;

  /**
   * No documents.
   *
   * @param absent what is read where none is; to write it removes one
   */
  ToyDocuments(D absent) {
    this.absent = absent;
  }

  D read(K key) {
    Versioned<D> found = documents.get(key);
    return found == null ? absent : found.document();
  }

  /** Computes and writes one document, again if another process wrote it in between. */
  <R> R change(K key, Function<D, Change<D, R>> step) {
    while (true) {
      Versioned<D> found = documents.get(key);
      D before = found == null ? absent : found.document();
      Change<D, R> change = step.apply(before);
      if (change.document() == before || compareAndSet(key, found, change.document())) {
        return change.answer();
      }
    }
  }

  private boolean compareAndSet(K key, @Nullable Versioned<D> found, D document) {
    Versioned<D> next = new Versioned<>(versions.incrementAndGet(), document);
    if (found == null) {
      return documents.putIfAbsent(key, next) == null;
    }
    return document == absent ? documents.remove(key, found) : documents.replace(key, found, next);
  }

  /** The keys behind this one, in order; all if it is null. */
  List<K> keysAfter(@Nullable K key) {
    return documents.keySet().stream()
        .filter(other -> key == null || other.compareTo(key) > 0)
        .sorted()
        .toList();
  }
}
