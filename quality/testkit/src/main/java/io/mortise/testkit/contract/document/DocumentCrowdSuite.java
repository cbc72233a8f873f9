package io.mortise.testkit.contract.document;

import static org.assertj.core.api.Assertions.assertThat;

import io.mortise.Lease;
import io.mortise.LockClient;
import io.mortise.spi.StoreProfile;
import io.mortise.spi.time.Ticker;
import io.mortise.support.document.DocumentStore;
import io.mortise.support.document.VersionedDocuments;
import io.mortise.testkit.BoundedWait;
import java.time.Duration;
import java.time.InstantSource;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.Consumer;
import java.util.stream.IntStream;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;

/** Hundreds of locks of one process, awaited by another, in a store over these documents. */
abstract class DocumentCrowdSuite extends DocumentsFixture {
  private static final int LOCKS = 100;
  private static final Duration LONG = Duration.ofSeconds(50);

  /** Counts the requests of one process about sessions, and the locks that it has written. */
  private static final class CountedDocuments implements VersionedDocuments {
    private final VersionedDocuments documents;
    final AtomicInteger locksWritten = new AtomicInteger();
    final AtomicInteger sessionsWritten = new AtomicInteger();
    final AtomicInteger sessionsRefused = new AtomicInteger();

    CountedDocuments(VersionedDocuments documents) {
      this.documents = documents;
    }

    @Override
    public CompletionStage<VersionedText> read(String key) {
      return documents.read(key);
    }

    @Override
    public CompletionStage<Written> compareAndSet(
        String key, VersionedText found, @Nullable String text) {
      return documents
          .compareAndSet(key, found, text)
          .thenApply(
              written -> {
                count(key, written);
                return written;
              });
    }

    private void count(String key, Written written) {
      if (key.startsWith("session/")) {
        (written.made() ? sessionsWritten : sessionsRefused).incrementAndGet();
      } else if (written.made()) {
        locksWritten.incrementAndGet();
      }
    }

    @Override
    public boolean writesTogether() {
      return documents.writesTogether();
    }

    @Override
    public CompletionStage<List<Written>> compareAndSetAll(List<DocumentWrite> writes) {
      return documents
          .compareAndSetAll(writes)
          .thenApply(
              written -> {
                for (int i = 0; i < writes.size(); i++) {
                  count(writes.get(i).key(), written.get(i));
                }
                return written;
              });
    }

    @Override
    public CompletionStage<List<String>> scan(String prefix, String after, int limit) {
      return documents.scan(prefix, after, limit);
    }

    @Override
    public CompletionStage<Boolean> forget(String key) {
      return documents.forget(key);
    }

    @Override
    public Runnable watch(String key, Consumer<@Nullable VersionedText> changed) {
      return documents.watch(key, changed);
    }
  }

  private LockClient client(VersionedDocuments documents) {
    StoreProfile pushing = DocumentStore.clocklessProfile("crowd", LONG);
    StoreProfile profile =
        pushes()
            ? pushing
            : new StoreProfile(
                pushing.display(),
                DocumentStore.CAPABILITIES_WITHOUT_CLOCK,
                pushing.maxInFlight(),
                pushing.minTtl(),
                pushing.expiryLag());
    return LockClient.builder()
        .store(
            DocumentStore.clockless(
                profile, documents, documents, Ticker.SYSTEM, InstantSource.system()))
        .ttl(Duration.ofSeconds(pushes() ? 60 : 10))
        .build();
  }

  private static List<CompletableFuture<Lease>> acquireAll(LockClient client) {
    return IntStream.range(0, LOCKS)
        .mapToObj(i -> client.lock("crowd/" + i).acquireAsync())
        .toList();
  }

  /** If a process competes with itself for a session's document, few of its writes succeed. */
  @Test
  void givenManyLocksOfOneProcess_whenAnotherAwaitsThem_thenEachIsGrantedAtItsRelease() {
    CountedDocuments first = new CountedDocuments(closedAtTheEnd(open()));
    CountedDocuments second = new CountedDocuments(closedAtTheEnd(open()));
    try (LockClient holder = client(first);
        LockClient waiter = client(second)) {
      List<CompletableFuture<Lease>> held = acquireAll(holder);
      BoundedWait.until(
          LONG, "all are held", () -> held.stream().allMatch(CompletableFuture::isDone));
      List<CompletableFuture<Lease>> awaited = acquireAll(waiter);
      BoundedWait.until(LONG, "all have queued", () -> second.locksWritten.get() >= LOCKS);
      assertThat(awaited).noneMatch(CompletableFuture::isDone);
      held.forEach(
          lease -> {
            var unused = lease.join().releaseAsync();
          });
      BoundedWait.until(
          LONG, "all were granted", () -> awaited.stream().allMatch(CompletableFuture::isDone));
      assertThat(awaited).noneMatch(CompletableFuture::isCompletedExceptionally);
    }
    for (CountedDocuments process : List.of(first, second)) {
      assertThat(process.sessionsRefused.get())
          .as("writes of sessions that were refused")
          .isLessThan(3 * LOCKS);
      assertThat(process.sessionsWritten.get())
          .as("writes of sessions that were made")
          .isLessThan(3 * LOCKS);
    }
  }
}
