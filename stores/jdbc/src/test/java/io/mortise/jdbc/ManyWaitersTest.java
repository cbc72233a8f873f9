package io.mortise.jdbc;

import static org.assertj.core.api.Assertions.assertThat;

import io.mortise.DistributedLock;
import io.mortise.Lease;
import io.mortise.LockClient;
import io.mortise.LockOptions;
import io.mortise.testkit.BoundedWait;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.Function;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/**
 * A thousand waiters that each stand in the queue for themselves. Where releases stood behind their
 * polls, one of them was served in ten seconds.
 */
@Tag("extended")
@Timeout(240)
class ManyWaitersTest {
  private static final int WAITERS = 1_000;

  /**
   * How many of them an administrator has to see before the first release. Fair ones of the client
   * that holds the lock, half of all, are not seen.
   */
  private static final int CROWD = 400;

  private static final Duration LONG = Duration.ofSeconds(60);
  private static final Duration SERVED = Duration.ofSeconds(100);

  @TempDir private Path folder;

  @Test
  void givenPostgres_thenAllFairWaitersAreServed() throws Exception {
    serveAll(PostgresServers.V18.shared().url() + "&namespace=many-fair", ManyWaitersTest::fair);
  }

  @Test
  void givenPostgres_thenAllThatWantAPermitAreServed() throws Exception {
    serveAll(
        PostgresServers.V18.shared().url() + "&namespace=many-permits", ManyWaitersTest::permits);
  }

  @Test
  void givenMariaDb_thenAllFairWaitersAreServed() throws Exception {
    serveAll(MySqlServers.MARIADB.url() + "&namespace=many-fair", ManyWaitersTest::fair);
  }

  @Test
  void givenMariaDb_thenAllThatWantAPermitAreServed() throws Exception {
    serveAll(MySqlServers.MARIADB.url() + "&namespace=many-permits", ManyWaitersTest::permits);
  }

  @Test
  void givenSqlite_thenAllFairWaitersAreServed() throws Exception {
    serveAll("jdbc:sqlite:" + folder.resolve("fair.db"), ManyWaitersTest::fair);
  }

  @Test
  void givenSqlite_thenAllThatWantAPermitAreServed() throws Exception {
    serveAll("jdbc:sqlite:" + folder.resolve("permits.db"), ManyWaitersTest::permits);
  }

  private static DistributedLock fair(LockClient client) {
    return client.lock("many", LockOptions.DEFAULTS.withFair(true));
  }

  private static DistributedLock permits(LockClient client) {
    return client.semaphore("many", 1).permits(1);
  }

  private static void serveAll(String url, Function<LockClient, DistributedLock> lock)
      throws Exception {
    try (LockClient one = LockClient.connect(url);
        LockClient two = LockClient.connect(url)) {
      List<DistributedLock> locks = List.of(lock.apply(one), lock.apply(two));
      Lease lease = locks.get(0).acquire();
      AtomicInteger inside = new AtomicInteger();
      AtomicInteger together = new AtomicInteger();
      List<CompletableFuture<Void>> served = new ArrayList<>();
      for (int i = 0; i < WAITERS; i++) {
        served.add(
            locks
                .get(i % 2)
                .acquireAsync()
                .thenCompose(
                    own -> {
                      together.accumulateAndGet(inside.incrementAndGet(), Math::max);
                      inside.decrementAndGet();
                      return own.releaseAsync();
                    }));
      }
      BoundedWait.until(
          LONG,
          "the crowd stood in the queue",
          () -> one.admin().find("many").orElseThrow().waiters().size() >= CROWD);

      lease.close();

      CompletableFuture.allOf(served.toArray(CompletableFuture[]::new))
          .get(BoundedWait.scaled(SERVED).toMillis(), TimeUnit.MILLISECONDS);
      assertThat(together).hasValue(1);
      assertThat(one.admin().find("many"))
          .hasValueSatisfying(
              view -> {
                assertThat(view.holders()).isEmpty();
                assertThat(view.waiters()).isEmpty();
              });
    }
  }
}
