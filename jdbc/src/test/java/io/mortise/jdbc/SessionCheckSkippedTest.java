package io.mortise.jdbc;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import io.mortise.spi.AttemptId;
import io.mortise.spi.LockStore;
import io.mortise.spi.Reply;
import java.sql.Connection;
import java.sql.DriverManager;
import java.sql.PreparedStatement;
import java.sql.SQLException;
import java.time.Duration;
import java.util.UUID;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.Parameter;
import org.junit.jupiter.params.ParameterizedClass;
import org.junit.jupiter.params.provider.EnumSource;

/** A session that takes one lock after the other, and is not looked at each time. */
@ParameterizedClass
@EnumSource(names = {"MYSQL", "MARIADB"})
class SessionCheckSkippedTest {
  /** Nobody renews meanwhile. */
  private static final Duration TTL = Duration.ofMinutes(5);

  @Parameter DatabaseProduct product;
  private String url;

  @BeforeEach
  void startServer() {
    url = product == DatabaseProduct.MYSQL ? MySqlServers.MYSQL.url() : MySqlServers.MARIADB.url();
  }

  @Test
  void givenSessionWhoseRowIsDeleted_whenItGoesOnTakingLocks_thenItIsToldWithinMoments()
      throws SQLException {
    try (LockStore store = open()) {
      TestSession session = new TestSession(store, TTL);
      take(session);
      take(session);
      delete(session);
      await().atMost(Duration.ofSeconds(30)).until(() -> take(session) instanceof Reply.Refused);
    }
  }

  /** Else the statement that does not look would be of no use, and nobody would notice. */
  @Test
  void givenSessionThatWasSeenJustNow_whenItTakesALock_thenItIsNotLookedAtAgain()
      throws SQLException {
    try (LockStore store = open()) {
      boolean granted = false;
      // On a machine that stands still it may be looked at.
      for (int i = 0; i < 20 && !granted; i++) {
        TestSession session = new TestSession(store, TTL);
        // The first makes the row.
        take(session);
        take(session);
        delete(session);
        granted = take(session) instanceof Reply.Granted;
      }
      assertThat(granted).isTrue();
    }
  }

  private LockStore open() {
    return JdbcStore.open(url + "&namespace=seen" + UUID.randomUUID());
  }

  /** Takes the lock and gives it back. */
  private static Reply take(TestSession session) {
    AttemptId attempt = session.attempt();
    Reply reply = session.acquire("lock", attempt);
    session.abandon("lock", attempt);
    return reply;
  }

  private void delete(TestSession session) throws SQLException {
    try (Connection connection = DriverManager.getConnection(url);
        PreparedStatement delete =
            connection.prepareStatement("DELETE FROM mortise_session WHERE id = ?")) {
      delete.setString(1, session.id().value());
      assertThat(delete.executeUpdate()).isEqualTo(1);
    }
  }
}
