package io.mortise.jdbc.table;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.mortise.admin.Eviction;
import io.mortise.jdbc.table.LockRepository.PrefetchTarget;
import io.mortise.spi.Renewal;
import io.mortise.spi.Reply;
import io.mortise.spi.SessionNotification;
import java.sql.Connection;
import java.sql.SQLException;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedClass;
import org.junit.jupiter.params.provider.ValueSource;

/**
 * An eviction that leaves the lock shut, and a renewal of the holder at the same time: the renewal
 * counts, or it brings the notification. Else a holder that is cut off then works beside the next.
 */
@ParameterizedClass
@ValueSource(strings = {"postgresql", "mysql", "mariadb"})
class EvictedSessionTest extends ServerStatementsFixture {
  private static final String ID = ATTEMPT.session().value();

  @Test
  void givenRenewalAfterTheLockWasRead_whenClosed_thenShutUntilTheEndThatTheRenewalGave()
      throws SQLException {
    closeAfterRenewal(now + MINUTE);
  }

  @Test
  void givenSessionThatSeemedToHaveEnded_whenRenewedAndClosed_thenItIsToldAllTheSame()
      throws SQLException {
    closeAfterRenewal(now - 1);
  }

  private void closeAfterRenewal(long endBefore) throws SQLException {
    only(held(ATTEMPT));
    setEnd(tables.connection, endBefore);
    try (Connection renewing = connect()) {
      storeConnection.begin(new PrefetchTarget(NAME, ATTEMPT));
      setEnd(renewing, now + 3 * MINUTE);

      Reply.Ended ended =
          storeConnection.locks.evict(NAME, ATTEMPT, Eviction.CLOSE, storeConnection.now());

      assertThat(ended.how()).isEqualTo(Reply.EndReason.EVICTED);
      assertThatThrownBy(() -> lockSession(renewing))
          .as("a renewal waits until the eviction has committed")
          .isInstanceOf(SQLException.class);
      storeConnection.commit();
      lockSession(renewing);
    }
    assertThat(changed()).containsEntry("evicted", 1L).containsEntry("free_us", now + 3 * MINUTE);
    assertThat(storeConnection.repository.notifications(ID, 0, 9))
        .extracting(Renewal.NumberedNotification::notification)
        .containsExactly(new SessionNotification.HoldEnded(NAME, ATTEMPT, Reply.EndReason.EVICTED));
  }

  private void setEnd(Connection on, long end) throws SQLException {
    execute(
        on,
        "UPDATE %s SET expires_us = %d WHERE id = '%s'"
            .formatted(tables.text.table("session"), end, ID));
  }

  private void lockSession(Connection on) throws SQLException {
    execute(
        on,
        "SELECT * FROM %s WHERE id = '%s' FOR UPDATE NOWAIT"
            .formatted(tables.text.table("session"), ID));
  }
}
