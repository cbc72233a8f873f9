package io.mortise.jdbc.table;

import static org.assertj.core.api.Assertions.assertThat;

import java.sql.Connection;
import java.sql.SQLException;
import java.sql.Statement;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import org.postgresql.PGConnection;
import org.postgresql.PGNotification;

/** The notifications that a listening connection receives. */
final class PostgresNotificationRecorder {
  private PostgresNotificationRecorder() {}

  /**
   * The notifications since the last call. Notifications come in the order in which they were sent,
   * so one more is sent, on a channel of which nothing else is heard: all before it have come when
   * it has.
   */
  static List<PGNotification> heard(
      Connection sending, Connection listening, String last, Duration bound) throws SQLException {
    try (Statement statement = sending.createStatement()) {
      statement.execute("NOTIFY " + last);
    }
    List<PGNotification> heard = new ArrayList<>();
    while (true) {
      PGNotification[] come =
          listening.unwrap(PGConnection.class).getNotifications((int) bound.toMillis());
      assertThat(come).as("notifications in time").isNotEmpty();
      for (PGNotification one : come) {
        if (one.getName().equals(last)) {
          return heard;
        }
        heard.add(one);
      }
    }
  }
}
