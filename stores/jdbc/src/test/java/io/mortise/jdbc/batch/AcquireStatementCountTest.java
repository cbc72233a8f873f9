package io.mortise.jdbc.batch;

import static org.assertj.core.api.Assertions.assertThat;

import io.mortise.jdbc.CountingDataSource;
import io.mortise.jdbc.DatabaseProduct;
import io.mortise.jdbc.JdbcStore;
import io.mortise.jdbc.MySqlServers;
import io.mortise.jdbc.PostgresServers;
import io.mortise.jdbc.TestSession;
import io.mortise.spi.AttemptId;
import io.mortise.spi.LockStore;
import java.sql.SQLException;
import java.time.Duration;
import java.util.UUID;
import java.util.function.IntConsumer;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

/** How many statements it takes to get a lock, the first time and later. */
class AcquireStatementCountTest {
  private static final int TRIES = 20;

  @ParameterizedTest
  @MethodSource("io.mortise.jdbc.DatabaseProduct#servers")
  void givenFreeLock_whenTaken_thenByOneStatement_andWhereOthersHaveUsedItOneMoreTheFirstTime(
      DatabaseProduct databaseProduct) throws SQLException {
    String prefix = UUID.randomUUID() + "/";
    CountingDataSource counting =
        new CountingDataSource(databaseProduct.source(url(databaseProduct)));
    CountingDataSource elsewhere =
        new CountingDataSource(databaseProduct.source(url(databaseProduct)));
    try (LockStore store = JdbcStore.over(counting.source(), "namespace=first");
        LockStore another = JdbcStore.over(elsewhere.source(), "namespace=first")) {
      TestSession session = new TestSession(store, Duration.ofMinutes(1));
      TestSession other = new TestSession(another, Duration.ofMinutes(1));
      assertThat(fewest(counting, i -> takeAndRelease(session, prefix + i))).isEqualTo(2);
      assertThat(fewest(counting, i -> takeAndRelease(session, prefix + i))).isEqualTo(2);
      assertThat(fewest(elsewhere, i -> takeAndRelease(other, prefix + i))).isEqualTo(3);
    }
  }

  private static String url(DatabaseProduct databaseProduct) {
    return switch (databaseProduct) {
      case POSTGRESQL -> PostgresServers.V18.shared().url();
      case MYSQL -> MySqlServers.MYSQL.url();
      default -> MySqlServers.MARIADB.url();
    };
  }

  private static void takeAndRelease(TestSession session, String name) {
    AttemptId attempt = session.attempt();
    session.granted(name, attempt);
    session.abandon(name, attempt);
  }

  /** The fewest statements of some tries: meanwhile others look for notifications. */
  private static long fewest(CountingDataSource counting, IntConsumer doing) {
    long fewest = Long.MAX_VALUE;
    for (int i = 0; i < TRIES; i++) {
      long before = counting.count();
      doing.accept(i);
      fewest = Math.min(fewest, counting.count() - before);
    }
    return fewest;
  }
}
