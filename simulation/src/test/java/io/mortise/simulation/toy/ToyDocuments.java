package io.mortise.simulation.toy;

import java.util.List;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ConcurrentMap;
import java.util.concurrent.atomic.AtomicLong;
import java.util.function.UnaryOperator;
import org.jspecify.annotations.Nullable;

/**
 * The database: documents of one kind, each with a version. It reads one document, and replaces one
 * whose version is still the one that was read; nothing else is atomic.
 */
final class ToyDocuments<K extends Comparable<K>, D> {
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
    return document(documents.get(key));
  }

  /**
   * One step: reads a document, computes the next one, and writes it; again if another process has
   * written meanwhile.
   *
   * @return the document as the step leaves it, from which the caller makes its reply
   */
  D change(K key, UnaryOperator<D> step) {
    while (true) {
      Versioned<D> found = documents.get(key);
      D next = step.apply(document(found));
      if (next.equals(document(found)) || compareAndSet(key, found, next)) {
        return next;
      }
    }
  }

  private D document(@Nullable Versioned<D> found) {
    return found == null ? absent : found.document();
  }

  private boolean compareAndSet(K key, @Nullable Versioned<D> found, D document) {
    Versioned<D> next = new Versioned<>(versions.incrementAndGet(), document);
    if (found == null) {
      return documents.putIfAbsent(key, next) == null;
    }
    return document.equals(absent)
        ? documents.remove(key, found)
        : documents.replace(key, found, next);
  }

  /** Takes the step with each document until so many have changed; returns how many have. */
  int changeAll(int most, UnaryOperator<D> step) {
    int changed = 0;
    for (K key : keysAfter(null)) {
      if (changed < most && !read(key).equals(change(key, step))) {
        changed++;
      }
    }
    return changed;
  }

  /** The keys behind this one, in order; all if it is null. */
  List<K> keysAfter(@Nullable K key) {
    return documents.keySet().stream()
        .filter(other -> key == null || other.compareTo(key) > 0)
        .sorted()
        .toList();
  }
}
