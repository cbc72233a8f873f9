package io.mortise.jdbc.dialect;

import io.mortise.jdbc.table.SqlText;
import io.mortise.spi.StoreReport;
import java.sql.Connection;
import java.sql.SQLException;
import java.util.HashMap;
import java.util.Map;

/** Reports the settings of a MySQL or MariaDB server that matter to locks. */
final class MySqlSettingsReport {
  private final String store;
  private final SqlText text;
  private final Map<String, String> values = new HashMap<>();

  MySqlSettingsReport(String store, SqlText text) {
    this.store = store;
    this.text = text;
  }

  StoreReport of(Connection connection) throws SQLException {
    for (String statement : new String[] {"examine", "examine_state"}) {
      values.putAll(MySqlFamilyDialect.variables(connection, text.statement(statement)));
    }
    StoreReport.Builder report = StoreReport.about(store);
    report.fine("version", value("version", "unknown"), "Supported.");
    durability(report);
    replication(report);
    connections(report);
    report.fine(
        "isolation",
        "READ COMMITTED",
        "Set for the locks' own connections, whatever the server says.");
    return report.build();
  }

  private String value(String name, String otherwise) {
    return values.getOrDefault(name, otherwise);
  }

  private boolean isOn(String name) {
    String value = value(name, "OFF");
    return value.equalsIgnoreCase("ON") || value.equals("1");
  }

  private void durability(StoreReport.Builder report) {
    String flush = value("innodb_flush_log_at_trx_commit", "1");
    boolean binlogForced = !isOn("log_bin") || value("sync_binlog", "1").equals("1");
    switch (flush) {
      case "1" ->
          report.fine(
              "innodb_flush_log_at_trx_commit",
              "1",
              "A grant is on the disk before it is answered.");
      case "2" ->
          report.weak(
              "innodb_flush_log_at_trx_commit",
              "2",
              "A power loss forgets about the last second: its grants are given again.",
              "Set innodb_flush_log_at_trx_commit = 1.",
              "power-loss");
      default ->
          report.weak(
              "innodb_flush_log_at_trx_commit",
              flush,
              "A crash of the server forgets about the last second: its grants are given again.",
              "Set innodb_flush_log_at_trx_commit = 1.",
              "server-crash",
              "power-loss");
    }
    if (binlogForced) {
      report.fine(
          "sync_binlog",
          isOn("log_bin") ? "1" : "no binary log",
          "The binary log forgets no commit at a power loss.");
    } else {
      report.weak(
          "sync_binlog",
          value("sync_binlog", "unknown"),
          "After a power loss, commits that the binary log has lost are rolled back: their grants are given again.",
          "Set sync_binlog = 1.",
          "power-loss");
    }
    report.mode(
        switch (flush) {
          case "1" -> binlogForced ? store : store + "/relaxed";
          case "2" -> store + "/relaxed";
          default -> store + "/lazy";
        });
  }

  private void replication(StoreReport.Builder report) {
    if (isOn("wsrep_on") || !value("group_replication_group_name", "").isEmpty()) {
      report.weak(
          isOn("wsrep_on") ? "wsrep_on" : "group_replication_group_name",
          "a group of servers",
          "Galera and group replication were not tried: what this page says was tried on one server that takes the writes.",
          "Keep locks on a server of their own, or in a group with one primary that all clients name.",
          "failover",
          "partition-servers");
      return;
    }
    int replicas = Integer.parseInt(value("slaves_connected", "0"));
    boolean semi = isOn("rpl_semi_sync_master_enabled") || isOn("rpl_semi_sync_source_enabled");
    if (semi) {
      report.note(
          "semi-synchronous replication",
          "on",
          "A commit waits for a replica, but goes on without after rpl_semi_sync_…_timeout: a replica that takes over may"
              + " lack the last grants.",
          "Let the resource compare tokens.",
          "failover");
    } else if (replicas > 0 || isOn("log_bin")) {
      report.note(
          "replication",
          "asynchronous",
          "A replica that takes over may lack the last grants, and gives them again.",
          "Let the resource compare tokens.",
          "failover");
    } else {
      report.fine(
          "replication", "none", "There is no binary log, hence no replica that could take over.");
    }
  }

  private void connections(StoreReport.Builder report) {
    int most = Integer.parseInt(value("max_connections", "0"));
    int now = Integer.parseInt(value("threads_connected", "0"));
    String shown = now + " of " + most;
    if (now * 10L >= most * 9L) {
      report.note(
          "max_connections",
          shown,
          "Few connections are left, and each process needs two.",
          "Raise max_connections, or make pools smaller.");
    } else {
      report.fine("max_connections", shown, "Each process needs two.");
    }
  }
}
