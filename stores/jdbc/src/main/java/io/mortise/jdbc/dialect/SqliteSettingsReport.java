package io.mortise.jdbc.dialect;

import io.mortise.StoreUnfitException;
import io.mortise.spi.StoreReport;
import java.io.IOException;
import java.nio.file.FileStore;
import java.nio.file.Files;
import java.nio.file.Path;
import java.sql.Connection;
import java.sql.SQLException;

/** Reports the place and the settings of a SQLite file that matter to locks. */
final class SqliteSettingsReport {
  private static final long LITTLE = 16L << 20;

  private SqliteSettingsReport() {}

  static StoreReport of(Connection connection, Path file, boolean monotonic) throws SQLException {
    StoreReport.Builder report = StoreReport.about(monotonic ? "sqlite" : "sqlite/elsewhere");
    report.fine("version", connection.getMetaData().getDatabaseProductVersion(), "SQLite itself.");
    reach(report, file);
    if (monotonic) {
      report.fine(
          "clock",
          "monotonic",
          "It is the host's: setting the time of day neither frees nor prolongs a lock.");
    } else {
      report.weak(
          "clock",
          "time of day",
          "This system has no clock that all processes share but the time of day: setting it forward ends sessions early.",
          "Let the time of day be slewed, not stepped; or use a store that is a server.",
          "server-clock-forward");
    }
    report.note(
        "synchronous",
        "NORMAL, write-ahead log",
        "The crash of a process loses nothing. A power loss may lose the last commits, and ends every holder with them.",
        "",
        "power-loss");
    try {
      FileStore place = Files.getFileStore(file);
      report.fine(
          "file system",
          place.type(),
          "Local, as far as its kind tells; network file systems are refused.");
      long free = place.getUsableSpace();
      String value = (free >> 20) + " MiB free";
      if (free < LITTLE) {
        report.note("space", value, "On a full disk nobody gets a lock.", "Make room.");
      } else {
        report.fine("space", value, "On a full disk nobody gets a lock.");
      }
    } catch (IOException e) {
      throw new StoreUnfitException("Lock file '" + file + "' cannot be looked at: " + e + ".", e);
    }
    return report.build();
  }

  /** One that had a second name when it was opened was refused; it may have got one since. */
  private static void reach(StoreReport.Builder report, Path file) {
    String second;
    try {
      second = FileAliasCheck.of(file);
    } catch (IOException e) {
      second = "cannot be looked at: " + e;
    }
    if (second != null) {
      report.weak(
          "reach",
          "The file " + second,
          "Processes that opened it by different names do not see each other's locks.",
          SqliteLocation.ONE_NAME);
    } else {
      report.fine(
          "reach",
          "this host",
          "Processes of this host see these locks, those of other hosts do not.");
    }
  }
}
