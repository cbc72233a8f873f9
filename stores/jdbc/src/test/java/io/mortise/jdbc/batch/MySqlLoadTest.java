package io.mortise.jdbc.batch;

import static org.assertj.core.api.Assertions.assertThat;

import io.mortise.Lease;
import io.mortise.LockClient;
import io.mortise.jdbc.MySqlServers;
import java.sql.Connection;
import java.sql.ResultSet;
import java.sql.Statement;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.ThreadLocalRandom;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

@Tag("extended")
class MySqlLoadTest {
  private static final int THREADS = 64;
  private static final int LOCKS = 16;
  private static final int ROUNDS = 20;

  /**
   * InnoDB locks gaps where isolation or unique keys make it, and then steps on different locks
   * wait for each other in cycles.
   */
  @Timeout(150)
  @ParameterizedTest
  @MethodSource("io.mortise.jdbc.dialect.MySqlFailureTest#servers")
  void givenManyThreadsOfTwoClients_whenTheyFightForNeighbouringLocks_thenNoTransactionDeadlocks(
      MySqlServers server) throws Exception {
    String url = server.url() + "&namespace=load";
    int[] inside = new int[LOCKS];
    long before = deadlocks(server);
    ExecutorService threads = Executors.newFixedThreadPool(THREADS);
    try (LockClient one = LockClient.connect(url);
        LockClient two = LockClient.connect(url)) {
      List<Future<?>> done = new ArrayList<>();
      for (int t = 0; t < THREADS; t++) {
        LockClient client = t % 2 == 0 ? one : two;
        done.add(
            threads.submit(
                () -> {
                  for (int round = 0; round < ROUNDS; round++) {
                    int lock = ThreadLocalRandom.current().nextInt(LOCKS);
                    try (Lease lease =
                        client.lock("load" + lock).acquireWithin(Duration.ofSeconds(100))) {
                      // Not atomic: another holder would get into its way.
                      int count = inside[lock];
                      Thread.onSpinWait();
                      inside[lock] = count + 1;
                      lease.ensureValid();
                    }
                    // New names: first inserts meet.
                    try (Lease lease =
                        client.lock("new" + round).acquireWithin(Duration.ofSeconds(100))) {
                      lease.ensureValid();
                    }
                  }
                  return null;
                }));
      }
      for (Future<?> each : done) {
        each.get(110, TimeUnit.SECONDS);
      }
    } finally {
      threads.shutdownNow();
    }
    int sum = 0;
    for (int count : inside) {
      sum += count;
    }
    assertThat(sum).isEqualTo(THREADS * ROUNDS);
    assertThat(deadlocks(server) - before).as("deadlocks").isZero();
  }

  private static long deadlocks(MySqlServers server) throws Exception {
    try (Connection connection = server.adminConnection();
        Statement statement = connection.createStatement();
        ResultSet row =
            statement.executeQuery(
                "SELECT count FROM information_schema.innodb_metrics WHERE name ="
                    + " 'lock_deadlocks'")) {
      assertThat(row.next()).isTrue();
      return row.getLong(1);
    }
  }
}
