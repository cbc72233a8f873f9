package io.mortise.dynamodb;

import io.mortise.internal.runtime.CompletionStages;
import io.mortise.spi.document.VersionedDocuments.VersionedText;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.Executor;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicLong;
import java.util.function.Function;
import org.jspecify.annotations.Nullable;

/**
 * Reads watched documents again and again, in place of a push, which DynamoDB does not have. A
 * document that these documents' own user has written did not change for it. Thread-safe.
 */
final class DynamoDbWatch {
  private final Executor later;
  private final Function<String, CompletionStage<VersionedText>> read;

  /** A handful: the sessions of a process. */
  private final List<PolledDocument> watched = new CopyOnWriteArrayList<>();

  /**
   * Reads nothing yet.
   *
   * @param pause between an answer and the next read
   */
  DynamoDbWatch(Duration pause, Function<String, CompletionStage<VersionedText>> read) {
    // A read only enters a queue, so the timer's own thread begins it.
    this.later =
        CompletableFuture.delayedExecutor(pause.toMillis(), TimeUnit.MILLISECONDS, Runnable::run);
    this.read = read;
  }

  /** Begins after the next pause; returns what ends it. */
  Runnable watch(String key, Runnable changed) {
    PolledDocument document = new PolledDocument(key, changed);
    watched.add(document);
    document.readLater();
    return () -> watched.remove(document);
  }

  /** The document has this version by a write of its watcher. */
  void written(String key, long version) {
    for (PolledDocument document : watched) {
      if (document.key.equals(key)) {
        document.seen.accumulateAndGet(version, Math::max);
      }
    }
  }

  void close() {
    watched.clear();
  }

  /** A document, and the latest version of it that its watcher knows. */
  private final class PolledDocument {
    private final String key;
    private final Runnable changed;
    private final AtomicLong seen = new AtomicLong();

    PolledDocument(String key, Runnable changed) {
      this.key = key;
      this.changed = changed;
    }

    private void readLater() {
      later.execute(this::readNow);
    }

    private void readNow() {
      if (watched.contains(this)) {
        var unused = CompletionStages.start(() -> read.apply(key)).handle(this::take);
      }
    }

    /** The next read does not depend on how this one went. */
    private boolean take(@Nullable VersionedText found, @Nullable Throwable failure) {
      readLater();
      if (found != null && found.text() != null && watched.contains(this)) {
        long version = Long.parseLong(found.version());
        if (seen.getAndAccumulate(version, Math::max) < version) {
          changed.run();
          return true;
        }
      }
      return false;
    }
  }
}
