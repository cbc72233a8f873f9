package io.mortise.simulation.toy;

import static java.util.concurrent.CompletableFuture.completedFuture;

import io.mortise.support.document.VersionedDocuments;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.locks.ReentrantLock;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;

/**
 * The server of the toy store, without a clock. A missing document has the version of the whole
 * map, and is created only if none was removed since.
 */
final class ClocklessToyDocuments implements VersionedDocuments {
  private final ReentrantLock guard = new ReentrantLock();
  private final TreeMap<String, VersionedText> documents = new TreeMap<>();
  private final Map<String, List<Consumer<@Nullable VersionedText>>> watches =
      new ConcurrentHashMap<>();
  private final boolean writesTogether;
  private long version = 1;
  private long removed;

  ClocklessToyDocuments() {
    this(true);
  }

  ClocklessToyDocuments(boolean writesTogether) {
    this.writesTogether = writesTogether;
  }

  @Override
  public CompletionStage<VersionedText> read(String key) {
    guard.lock();
    try {
      return completedFuture(stands(key));
    } finally {
      guard.unlock();
    }
  }

  private VersionedText stands(String key) {
    VersionedText found = documents.get(key);
    return found == null ? new VersionedText(null, Long.toString(version)) : found;
  }

  @Override
  public CompletionStage<Written> compareAndSet(
      String key, VersionedText found, @Nullable String text) {
    Written written;
    guard.lock();
    try {
      VersionedText before = documents.get(key);
      boolean made =
          found.text() == null
              ? before == null && Long.parseLong(found.version()) >= removed
              : found.equals(before);
      if (made) {
        write(key, text);
      }
      written = new Written(made, stands(key));
    } finally {
      guard.unlock();
    }
    if (written.made()) {
      watches.getOrDefault(key, List.of()).forEach(watch -> watch.accept(written.stands()));
    }
    return completedFuture(written);
  }

  @Override
  public boolean writesTogether() {
    return writesTogether;
  }

  @Override
  public CompletionStage<List<Written>> compareAndSetAll(List<DocumentWrite> writes) {
    List<Written> written = new ArrayList<>();
    guard.lock();
    try {
      boolean made =
          writes.stream().allMatch(each -> each.found().equals(documents.get(each.key())));
      if (made) {
        version++;
        writes.forEach(
            each ->
                documents.put(each.key(), new VersionedText(each.text(), Long.toString(version))));
      }
      writes.forEach(each -> written.add(new Written(made, stands(each.key()))));
    } finally {
      guard.unlock();
    }
    for (int i = 0; i < writes.size() && written.get(0).made(); i++) {
      VersionedText stands = written.get(i).stands();
      watches.getOrDefault(writes.get(i).key(), List.of()).forEach(watch -> watch.accept(stands));
    }
    return completedFuture(written);
  }

  private void write(String key, @Nullable String text) {
    version++;
    if (text == null) {
      documents.remove(key);
      removed = version;
    } else {
      documents.put(key, new VersionedText(text, Long.toString(version)));
    }
  }

  @Override
  public CompletionStage<List<String>> scan(String prefix, String after, int limit) {
    guard.lock();
    try {
      return completedFuture(
          documents.tailMap(prefix).keySet().stream()
              .takeWhile(key -> key.startsWith(prefix))
              .filter(key -> key.compareTo(after) > 0)
              .limit(limit)
              .toList());
    } finally {
      guard.unlock();
    }
  }

  @Override
  public Runnable watch(String key, Consumer<@Nullable VersionedText> changed) {
    List<Consumer<@Nullable VersionedText>> ofKey =
        watches.computeIfAbsent(key, any -> new CopyOnWriteArrayList<>());
    ofKey.add(changed);
    return () -> ofKey.remove(changed);
  }
}
