package io.mortise.jdbc;

import static org.assertj.core.api.Assertions.assertThat;

import io.mortise.spi.StoreProfile;
import java.sql.SQLException;
import java.time.Duration;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.locks.ReentrantLock;
import org.awaitility.Awaitility;
import org.junit.jupiter.api.Test;

class LaneTest {
  @Test
  void givenConnectionThatWasIdleForTooLong_whenWorkComes_thenItGetsANewOne() {
    try (ServerDatabase h2 =
        new ServerDatabase(
                new H2Dialect(),
                () -> java.sql.DriverManager.getConnection("jdbc:h2:mem:lane;DB_CLOSE_DELAY=-1"),
                "h2",
                SqlText.DEFAULT_PREFIX,
                "default",
                Duration.ofSeconds(5))
            .prepare(true)) {
      Forgetful database = new Forgetful(h2);
      try (Lane lane = new Lane("lane", database, new ReentrantLock(), news -> {})) {
        work(lane);
        work(lane);
        assertThat(database.connections).hasValue(1);
        Awaitility.await()
            .pollInterval(Forgetful.LIMIT.multipliedBy(2))
            .atMost(Duration.ofSeconds(10))
            .until(
                () -> {
                  work(lane);
                  return database.connections.get() > 1;
                });
      }
    }
  }

  private static void work(Lane lane) {
    Work.Call<Long> call = new Work.Call<>(Link::now);
    lane.submit(call);
    assertThat(TestSession.get(call.answer)).isPositive();
  }

  /** Ends idle connections early. */
  private static final class Forgetful implements Database {
    static final Duration LIMIT = Duration.ofMillis(500);

    final AtomicInteger connections = new AtomicInteger();
    private final Database database;

    Forgetful(Database database) {
      this.database = database;
    }

    @Override
    public StoreProfile profile() {
      return database.profile();
    }

    @Override
    public Link connect() throws SQLException {
      connections.incrementAndGet();
      return database.connect();
    }

    @Override
    public Trouble trouble(SQLException error) {
      return database.trouble(error);
    }

    @Override
    public Duration idleLimit() {
      return LIMIT;
    }

    @Override
    public boolean callerRuns() {
      return database.callerRuns();
    }

    @Override
    public int batch() {
      return database.batch();
    }
  }
}
