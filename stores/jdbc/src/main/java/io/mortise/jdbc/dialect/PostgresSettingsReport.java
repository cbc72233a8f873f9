package io.mortise.jdbc.dialect;

import io.mortise.jdbc.table.NamedStatement;
import io.mortise.jdbc.table.SqlText;
import io.mortise.spi.StoreReport;
import java.sql.Connection;
import java.sql.ResultSet;
import java.sql.SQLException;

/** Reports the settings of a PostgreSQL server that matter to locks. */
final class PostgresSettingsReport {
  /** In transactions; a grant and its release on a busy lock are two. */
  private static final long OLD_SNAPSHOT = 1_000;

  private static final SqlText TEXT = new SqlText("postgresql", SqlText.DEFAULT_PREFIX);

  private PostgresSettingsReport() {}

  /**
   * Asks the server.
   *
   * @param pooled whether a pooler stands before it, so that steps of one round trip set nothing
   */
  static StoreReport of(Connection connection, boolean pooled) throws SQLException {
    try (NamedStatement namedStatement = new NamedStatement(connection, TEXT.statement("examine"));
        ResultSet row = namedStatement.query()) {
      row.next();
      StoreReport.Builder report = StoreReport.about("postgresql");
      report.fine("server_version", row.getString("version"), "Supported from 12.");
      boolean synchronous = replication(report, row);
      durability(report, row, synchronous, pooled);
      report.fine(
          "isolation",
          row.getString("isolation"),
          "Set for the locks' own connections, whatever the database says.");
      connections(report, row);
      snapshots(report, row);
      boolean mighty = row.getString("is_superuser").equals("on");
      String user = row.getString("user_name");
      String need = "It needs SELECT, INSERT, UPDATE and DELETE on six tables.";
      if (mighty) {
        report.note("user", user + ", a superuser", need, "Use one that may do no more than that.");
      } else {
        report.fine("user", user, need);
      }
      return report.build();
    }
  }

  private static boolean replication(StoreReport.Builder report, ResultSet row)
      throws SQLException {
    String names = row.getString("synchronous_standby_names");
    String commit = row.getString("synchronous_commit");
    boolean synchronous = !names.isEmpty() && !commit.equals("local");
    if (synchronous) {
      report.fine(
          "synchronous_standby_names",
          names,
          "A grant is answered when a synchronous standby has it; promote no other.");
    } else if (!names.isEmpty()) {
      report.weak(
          "synchronous_commit",
          "local",
          "Commits of locks do not wait for the synchronous standby: it may lack the last grants when it takes over.",
          "Set synchronous_commit = on for the user of the locks (ALTER ROLE … SET).",
          "failover");
    } else if (row.getInt("standbys") > 0) {
      report.note(
          "synchronous_standby_names",
          "empty, " + row.getInt("standbys") + " standby(s)",
          "Replication is asynchronous: a standby that takes over may lack the last grants, and gives them again.",
          "Name a synchronous standby in synchronous_standby_names; each grant then waits for it.",
          "failover");
    } else {
      report.fine("standbys", "none seen", "Nothing is there now that could take over.");
    }
    return synchronous;
  }

  private static void durability(
      StoreReport.Builder report, ResultSet row, boolean synchronous, boolean pooled)
      throws SQLException {
    boolean safe = true;
    for (String name : new String[] {"fsync", "full_page_writes"}) {
      String value = row.getString(name);
      if (value.equals("on")) {
        report.fine(name, value, "A power loss damages nothing.");
      } else {
        safe = false;
        report.weak(
            name,
            value,
            "A power loss may damage the whole database, locks and tokens with it.",
            "Set " + name + " = on.",
            "power-loss");
      }
    }
    String configured = row.getString("synchronous_commit_configured");
    if (configured.equals("off") && pooled) {
      safe = false;
      report.weak(
          "synchronous_commit",
          configured,
          "Through a pooler nothing overrules it: a server that is killed forgets the last grants.",
          "Set synchronous_commit = on for the user of the locks (ALTER ROLE … SET).",
          "server-crash");
    } else if (configured.equals("off")) {
      report.fine(
          "synchronous_commit",
          "off, overruled",
          "The locks' own connections wait for the disk all the same; other data of this database may be lost.");
    } else {
      report.fine(
          "synchronous_commit", configured, "A grant is on the disk before it is answered.");
    }
    report.mode(
        !safe ? "postgresql/unsafe" : synchronous ? "postgresql/synchronous" : "postgresql");
  }

  private static void snapshots(StoreReport.Builder report, ResultSet row) throws SQLException {
    long age = row.getLong("snapshot_age");
    if (age > OLD_SNAPSHOT) {
      report.note(
          "oldest snapshot",
          "%s transactions, %s".formatted(age, row.getString("snapshot_owner")),
          "Versions of a lock's row are kept for it, and each grant passes all of them: a busy lock gets slower.",
          "End it. Keep dumps, reports and forgotten sessions away, or locks in a database server of their own.");
    } else {
      report.fine("oldest snapshot", age + " transactions", "Old versions of rows are removed.");
    }
  }

  private static void connections(StoreReport.Builder report, ResultSet row) throws SQLException {
    int most = row.getInt("connections_most");
    int now = row.getInt("connections_now");
    String value = now + " of " + most;
    if (now * 10L >= most * 9L) {
      report.note(
          "max_connections",
          value,
          "Few connections are left, and each process needs up to three.",
          "Raise max_connections, or make pools smaller.");
    } else {
      report.fine("max_connections", value, "Each process needs up to three.");
    }
    String idle = row.getString("idle_session_timeout");
    if (!idle.equals("0")) {
      report.note(
          "idle_session_timeout",
          idle,
          "The server ends connections that were idle for so long; each time a process connects anew.",
          "Set it to 0 for the user of the locks (ALTER ROLE … SET).");
    }
  }
}
