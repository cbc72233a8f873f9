package io.mortise.jdbc.dialect;

import io.mortise.jdbc.table.NamedStatement;
import io.mortise.jdbc.table.SqlText;
import io.mortise.spi.StoreReport;
import io.mortise.spi.time.DurationText;
import java.nio.file.Files;
import java.nio.file.InvalidPathException;
import java.nio.file.Path;
import java.sql.Connection;
import java.sql.DatabaseMetaData;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.time.Duration;
import java.util.Locale;

/** Reports the settings of an H2 database that matter to locks. */
final class H2SettingsReport {
  private static final SqlText TEXT = new SqlText("h2", SqlText.DEFAULT_PREFIX);

  private H2SettingsReport() {}

  static StoreReport of(Connection connection) throws SQLException {
    DatabaseMetaData meta = connection.getMetaData();
    String place = meta.getURL().toLowerCase(Locale.ROOT).replaceFirst("^jdbc:h2:", "");
    StoreReport.Builder report = StoreReport.about("h2/server");
    report.fine("version", meta.getDatabaseProductVersion(), "Supported from 2.0.");
    if (place.startsWith("mem:")) {
      report.mode("h2/memory");
      report.fine("place", "memory", "The locks are seen in this process only, and end with it.");
      return report.build();
    }
    boolean remote = place.startsWith("tcp:") || place.startsWith("ssl:");
    if (remote || isServed(meta.getURL())) {
      writeDelay(report, connection);
    } else {
      report.mode("h2/file");
      report.fine(
          "place", "a file", "One process at a time has it open; other processes get no locks.");
    }
    return report.build();
  }

  /** A process that serves others leaves this file beside the database. */
  private static boolean isServed(String url) {
    String name = url.replaceFirst("^jdbc:h2:(file:)?", "").replaceFirst(";.*", "");
    try {
      return Files.exists(Path.of(name + ".lock.db"));
    } catch (InvalidPathException e) {
      return true;
    }
  }

  private static void writeDelay(StoreReport.Builder report, Connection connection)
      throws SQLException {
    String delay = "unknown";
    try (NamedStatement namedStatement = new NamedStatement(connection, TEXT.statement("examine"));
        ResultSet row = namedStatement.query()) {
      if (row.next()) {
        delay = row.getString(1);
      }
    }
    if (delay.equals("0")) {
      report.mode("h2/immediate");
      report.note(
          "WRITE_DELAY",
          "0s",
          "A grant is written before it is answered, but not forced to the disk: a power loss may forget it.",
          "For locks that must outlast a power loss, use another store.",
          "server-crash",
          "power-loss");
      return;
    }
    report.note(
        "WRITE_DELAY",
        delay.matches("\\d{1,9}")
            ? DurationText.formatExact(Duration.ofMillis(Long.parseLong(delay)))
            : delay,
        "H2 writes commits up to that much later than it answers: a crash of the server forgets the last grants, and gives them"
            + " again.",
        "Open the database with ;WRITE_DELAY=0, or SET WRITE_DELAY 0.",
        "server-crash",
        "power-loss");
  }
}
