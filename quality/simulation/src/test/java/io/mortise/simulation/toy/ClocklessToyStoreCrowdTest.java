package io.mortise.simulation.toy;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import io.mortise.Lease;
import io.mortise.LockClient;
import io.mortise.recipe.DistributedLatch;
import io.mortise.spi.time.Ticker;
import io.mortise.support.document.VersionedDocuments;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Random;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.Executor;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.Consumer;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;

/** Many processes write one lock's document, and each failed comparison costs a step. */
class ClocklessToyStoreCrowdTest {
  private static final int PROCESSES = 20;
  private static final int WAITERS = 5;

  /** Measured: one to three; more on a busy machine. */
  private static final int MOST_CONFLICTS_PER_GRANT = 10;

  private final ClocklessToyDocuments server = new ClocklessToyDocuments();
  private final AtomicInteger conflicts = new AtomicInteger();
  private final AtomicInteger factsWritten = new AtomicInteger();

  @Test
  void given100WaitersIn20Processes_thenAllAreServed_andConflictsPerGrantAreBounded() {
    List<LockClient> clients = new ArrayList<>();
    try {
      for (int i = 0; i < PROCESSES; i++) {
        clients.add(
            LockClient.builder()
                .store(ClocklessToyStoreUnderTest.open(new FarDocuments(i), Ticker.SYSTEM))
                .ttl(Duration.ofMinutes(1))
                .build());
      }
      ConcurrentLinkedQueue<Long> tokens = new ConcurrentLinkedQueue<>();
      List<CompletableFuture<Void>> served = new ArrayList<>();
      for (int round = 0; round < WAITERS; round++) {
        for (LockClient client : clients) {
          CompletableFuture<Lease> lease = client.lock("crowded").acquireAsync();
          served.add(
              lease.thenAccept(
                  granted -> {
                    tokens.add(granted.token());
                    granted.close();
                  }));
        }
      }
      await()
          .atMost(Duration.ofSeconds(60))
          .until(() -> served.stream().allMatch(CompletableFuture::isDone));
      assertThat(served).noneMatch(CompletableFuture::isCompletedExceptionally);
      assertThat(tokens).hasSize(PROCESSES * WAITERS).doesNotHaveDuplicates();
      System.out.printf("%d conflicts for %d grants%n", conflicts.get(), tokens.size());
      assertThat(conflicts.get())
          .as("the control: they are in each other's way")
          .isPositive()
          .isLessThan(MOST_CONFLICTS_PER_GRANT * tokens.size());
    } finally {
      clients.forEach(LockClient::close);
    }
  }

  @Test
  void given200PartiesInOneProcess_whenTheyCountALatchDown_thenTheyShareTheirWrites()
      throws Exception {
    int parties = 200;
    try (LockClient client =
        LockClient.builder()
            .store(ClocklessToyStoreUnderTest.open(new FarDocuments(1), Ticker.SYSTEM))
            .ttl(Duration.ofMinutes(1))
            .build()) {
      DistributedLatch latch = client.latch("crowded", parties);
      List<CompletableFuture<Integer>> counted = new ArrayList<>();
      for (int i = 0; i < parties; i++) {
        counted.add(latch.countDownAsync("party " + i));
      }
      await()
          .atMost(Duration.ofSeconds(60))
          .until(() -> counted.stream().allMatch(CompletableFuture::isDone));
      assertThat(counted).noneMatch(CompletableFuture::isCompletedExceptionally);
      assertThat(latch.remaining()).isZero();
    }
    assertThat(conflicts).hasValue(0);
    assertThat(factsWritten.get()).isLessThan(parties / 2);
  }

  /** A server that answers after some milliseconds. Counts failed writes of locks and facts. */
  private final class FarDocuments implements VersionedDocuments {
    private final Random random;

    FarDocuments(int seed) {
      random = new Random(seed);
    }

    private Executor later() {
      long micros;
      synchronized (random) {
        micros = 200L + random.nextInt(1_800);
      }
      return CompletableFuture.delayedExecutor(micros, TimeUnit.MICROSECONDS);
    }

    /** Both the request and its answer take time. */
    private <T> CompletionStage<T> ask(Supplier<CompletionStage<T>> request) {
      return CompletableFuture.supplyAsync(request, later())
          .thenCompose(answer -> answer)
          .thenApplyAsync(answer -> answer, later());
    }

    @Override
    public CompletionStage<VersionedText> read(String key) {
      return ask(() -> server.read(key));
    }

    @Override
    public CompletionStage<Written> compareAndSet(
        String key, VersionedText found, @Nullable String text) {
      return ask(() -> server.compareAndSet(key, found, text))
          .thenApply(
              written -> {
                if (!written.made() && !key.startsWith("session/")) {
                  conflicts.incrementAndGet();
                } else if (key.startsWith("fact/")) {
                  factsWritten.incrementAndGet();
                }
                return written;
              });
    }

    @Override
    public CompletionStage<List<String>> scan(String prefix, String after, int limit) {
      return ask(() -> server.scan(prefix, after, limit));
    }

    @Override
    public Runnable watch(String key, Consumer<@Nullable VersionedText> changed) {
      return server.watch(key, found -> later().execute(() -> changed.accept(found)));
    }
  }
}
