package io.mortise.jdbc.dialect;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.mortise.FencingToken;
import io.mortise.Lease;
import io.mortise.LockClient;
import io.mortise.StaleTokenException;
import io.mortise.jdbc.DatabaseProduct;
import io.mortise.sql.SqlFence;
import io.mortise.sql.SqlHelpers;
import java.sql.Connection;
import java.sql.SQLException;
import java.time.Duration;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import javax.sql.DataSource;
import org.awaitility.Awaitility;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/** What a replica that lags behind loses when it takes over, and what is left to notice it. */
@Timeout(200)
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
      FencingToken known = first.lock("known").acquire().fencingToken();
      try (SqlHelpers helpers = SqlHelpers.open(resource)) {
        enter(helpers.fence(), resource, known);
      }
      pair.awaitReplica();
      assertThat(second.lock("known").tryAcquire()).isEmpty();

      pair.disconnect();
      Lease old = first.lock(LOCK).acquire();
      FencingToken stale = old.fencingToken();
      CountDownLatch lost = new CountDownLatch(1);
      old.onLost(loss -> lost.countDown());
      // So that the session of the replica is another state of it than the primary's.
      long left = old.remaining().toNanos();
      Awaitility.await().atMost(TTL.multipliedBy(2)).until(() -> old.remaining().toNanos() > left);
      pair.failOver();

      FencingToken current =
          Awaitility.await()
              .atMost(Duration.ofSeconds(60))
              .ignoreExceptions()
              .until(
                  () -> second.lock(LOCK).tryAcquire(TTL).orElseThrow().fencingToken(),
                  token -> true);
      assertThat(current.value()).isGreaterThan(stale.value());
      assertThat(lost.await(20, TimeUnit.SECONDS)).isTrue();

      try (SqlHelpers helpers = SqlHelpers.open(resource)) {
        // What was shown to the old primary is lost too: the successor's entry makes it safe again.
        enter(helpers.fence(), resource, current);
        assertThatThrownBy(() -> enter(helpers.fence(), resource, stale))
            .isInstanceOf(StaleTokenException.class);
      }
    }
  }

  private static LockClient client(ReplicaPair pair) {
    return LockClient.builder().url(pair.url()).ttl(TTL).build();
  }

  private static void enter(SqlFence fence, DataSource resource, FencingToken token)
      throws SQLException {
    try (Connection connection = resource.getConnection()) {
      connection.setAutoCommit(false);
      fence.enter(connection, token);
      connection.commit();
    }
  }
}
