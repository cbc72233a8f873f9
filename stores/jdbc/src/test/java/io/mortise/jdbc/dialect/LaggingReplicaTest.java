package io.mortise.jdbc.dialect;

import static org.assertj.core.api.Assertions.assertThat;

import io.mortise.Lease;
import io.mortise.LockClient;
import io.mortise.jdbc.DatabaseProduct;
import java.sql.Connection;
import java.sql.PreparedStatement;
import java.sql.SQLException;
import java.sql.Statement;
import java.time.Duration;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import javax.sql.DataSource;
import org.awaitility.Awaitility;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/** The locks that a lagging replica loses when it is promoted, and the signs that remain. */
@Timeout(200)
@Tag("extended")
class LaggingReplicaTest {
  private static final Duration TTL = Duration.ofSeconds(6);
  private static final String LOCK = "invoice/42";

  @ParameterizedTest
  @EnumSource(names = {"POSTGRESQL", "MYSQL", "MARIADB"})
  void givenReplicaThatLags_whenItTakesOver_thenAGrantIsForgotten_butTheOldTokenIsRefused(
      DatabaseProduct databaseProduct) throws Exception {
    try (ReplicaPair pair = ReplicaPair.start(databaseProduct);
        LockClient first = client(pair);
        LockClient second = client(pair)) {
      DataSource resource = databaseProduct.source(pair.url());
      first.lock("known").acquire();
      createGuarded(resource);
      pair.awaitReplica();
      assertThat(second.lock("known").tryAcquire()).isEmpty();

      pair.disconnect();
      Lease old = first.lock(LOCK).acquire();
      long stale = old.token();
      CountDownLatch lost = new CountDownLatch(1);
      old.onLost(loss -> lost.countDown());
      // The replica then has another state of the session than the primary.
      long left = old.remaining().toNanos();
      Awaitility.await().atMost(TTL.multipliedBy(2)).until(() -> old.remaining().toNanos() > left);
      pair.failOver();

      long current =
          Awaitility.await()
              .atMost(Duration.ofSeconds(60))
              .ignoreExceptions()
              .until(() -> second.lock(LOCK).tryAcquire(TTL).orElseThrow().token(), token -> true);
      assertThat(current).isGreaterThan(stale);
      assertThat(lost.await(20, TimeUnit.SECONDS)).isTrue();

      // Tokens shown to the old primary are lost too; the successor's write restores safety.
      assertThat(write(resource, current)).isTrue();
      assertThat(write(resource, stale)).isFalse();
    }
  }

  private static LockClient client(ReplicaPair pair) {
    return LockClient.builder().url(pair.url()).ttl(TTL).build();
  }

  /** A row that knows the greatest token of a write to it. */
  private static void createGuarded(DataSource resource) throws SQLException {
    try (Connection connection = resource.getConnection();
        Statement statement = connection.createStatement()) {
      statement.execute("CREATE TABLE guarded (token BIGINT NOT NULL)");
      statement.execute("INSERT INTO guarded VALUES (0)");
    }
  }

  private static boolean write(DataSource resource, long token) throws SQLException {
    try (Connection connection = resource.getConnection();
        PreparedStatement statement =
            connection.prepareStatement("UPDATE guarded SET token = ? WHERE token <= ?")) {
      statement.setLong(1, token);
      statement.setLong(2, token);
      return statement.executeUpdate() == 1;
    }
  }
}
