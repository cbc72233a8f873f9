package io.mortise.jdbc.dialect;

import static org.assertj.core.api.Assertions.assertThat;

import io.mortise.guarantee.GuaranteeTable;
import io.mortise.jdbc.JdbcStore;
import io.mortise.jdbc.MySqlServers;
import io.mortise.jdbc.PostgresServers;
import io.mortise.jdbc.TestSession;
import io.mortise.spi.LockStore;
import io.mortise.spi.StoreReport;
import io.mortise.spi.StoreReport.Finding;
import io.mortise.spi.StoreReport.Grade;
import io.mortise.testserver.PostgresServer;
import java.nio.file.Path;
import java.sql.Connection;
import java.sql.DriverManager;
import java.sql.SQLException;
import java.sql.Statement;
import java.time.Duration;
import java.util.stream.Stream;
import org.awaitility.Awaitility;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.condition.EnabledOnOs;
import org.junit.jupiter.api.condition.OS;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

/** The report of a database's settings that matter to locks. */
class JdbcSettingsReportTest {
  private static final GuaranteeTable TABLE = GuaranteeTable.load();

  @TempDir Path folder;

  private static StoreReport examine(String url) {
    try (LockStore store = JdbcStore.open(url)) {
      StoreReport report = TestSession.get(store.examine());
      assertThat(report.findings()).allSatisfy(finding -> finding.faults().forEach(TABLE::fault));
      assertThat(TABLE.row(report.mode())).isNotEmpty();
      return report;
    }
  }

  private static Finding finding(StoreReport report, String id) {
    return report.findings().stream()
        .filter(each -> each.id().equals(id))
        .findFirst()
        .orElseThrow();
  }

  private static Grade grade(StoreReport report, String id) {
    return finding(report, id).grade();
  }

  private static void sql(String url, String... statements) throws SQLException {
    try (Connection connection = DriverManager.getConnection(url);
        Statement statement = connection.createStatement()) {
      for (String each : statements) {
        statement.execute(each);
      }
    }
  }

  @Test
  void givenPostgres_whenExamined_thenItsCommitSettingsAreTold() throws SQLException {
    try (PostgresServer server = PostgresServers.V18.start()) {
      StoreReport good = examine(server.url());
      assertThat(good.mode()).isEqualTo("postgresql");
      assertThat(grade(good, "fsync")).isEqualTo(Grade.FINE);
      assertThat(grade(good, "user")).as("a superuser").isEqualTo(Grade.NOTE);
      assertThat(good.findings()).extracting(Finding::grade).doesNotContain(Grade.WEAK);

      sql(server.url(), "ALTER DATABASE postgres SET synchronous_commit = off");
      StoreReport overruled = examine(server.url());
      assertThat(overruled.mode()).isEqualTo("postgresql");
      assertThat(finding(overruled, "synchronous_commit").value()).isEqualTo("off, overruled");
      StoreReport pooled = examine(server.url() + "&pooler=true");
      assertThat(pooled.mode()).isEqualTo("postgresql/unsafe");
      assertThat(grade(pooled, "synchronous_commit")).isEqualTo(Grade.WEAK);

      sql(
          server.url(),
          "ALTER DATABASE postgres SET synchronous_commit = local",
          "ALTER SYSTEM SET synchronous_standby_names = 'other'",
          "SELECT pg_reload_conf()");
      Awaitility.await()
          .atMost(Duration.ofSeconds(30))
          .until(
              () ->
                  examine(server.url()).findings().stream()
                      .anyMatch(JdbcSettingsReportTest::isLocal));
      assertThat(examine(server.url()).mode()).isEqualTo("postgresql");
      assertThat(examine(server.url()).toString()).doesNotContain(PostgresServer.PASSWORD);

      // By a connection that does not wait for the standby, which is not there.
      sql(server.url(), "ALTER DATABASE postgres SET synchronous_commit = on");
      assertThat(examine(server.url()).mode()).isEqualTo("postgresql/synchronous");
    }
  }

  @Test
  void givenOldSnapshot_whenExamined_thenItAndItsOwnerAreTold() throws SQLException {
    try (PostgresServer server = PostgresServers.V18.start();
        Connection report = DriverManager.getConnection(server.url());
        Statement reading = report.createStatement()) {
      assertThat(grade(examine(server.url()), "oldest snapshot")).isEqualTo(Grade.FINE);
      report.setAutoCommit(false);
      report.setTransactionIsolation(Connection.TRANSACTION_REPEATABLE_READ);
      reading.execute("SELECT 1");
      sql(
          server.url(),
          "DO $$ BEGIN FOR i IN 1..1100 LOOP PERFORM txid_current(); COMMIT; END LOOP; END $$");
      Finding old = finding(examine(server.url()), "oldest snapshot");
      assertThat(old.grade()).isEqualTo(Grade.NOTE);
      assertThat(old.value()).contains("transactions, session ");
    }
  }

  private static boolean isLocal(Finding finding) {
    return finding.value().equals("local") && finding.faults().contains("failover");
  }

  @Test
  void givenPostgresWithoutFsync_whenExamined_thenItIsUnsafe_andAStandbyDoesNotHelp() {
    try (PostgresServer server =
        PostgresServers.V18.start("-c", "fsync=off", "-c", "full_page_writes=off")) {
      StoreReport bad = examine(server.url());
      assertThat(bad.mode()).isEqualTo("postgresql/unsafe");
      assertThat(grade(bad, "fsync")).isEqualTo(Grade.WEAK);
      assertThat(grade(bad, "full_page_writes")).isEqualTo(Grade.WEAK);
      assertThat(finding(bad, "fsync").remedy()).contains("fsync = on");
    }
  }

  static Stream<MySqlServers> servers() {
    return Stream.of(MySqlServers.MYSQL, MySqlServers.MARIADB);
  }

  @ParameterizedTest
  @MethodSource("servers")
  void givenMySqlOrMariaDb_whenExamined_thenItsCommitSettingsAreTold(MySqlServers server) {
    String name = server == MySqlServers.MYSQL ? "mysql" : "mariadb";
    try {
      StoreReport good = examine(server.url());
      assertThat(good.mode()).isEqualTo(name);
      assertThat(good.findings()).extracting(Finding::grade).doesNotContain(Grade.WEAK);

      server.admin("SET GLOBAL innodb_flush_log_at_trx_commit = 2");
      StoreReport relaxed = examine(server.url());
      assertThat(relaxed.mode()).isEqualTo(name + "/relaxed");
      assertThat(finding(relaxed, "innodb_flush_log_at_trx_commit").faults())
          .containsExactly("power-loss");

      server.admin("SET GLOBAL innodb_flush_log_at_trx_commit = 0");
      StoreReport lazy = examine(server.url());
      assertThat(lazy.mode()).isEqualTo(name + "/lazy");
      assertThat(grade(lazy, "innodb_flush_log_at_trx_commit")).isEqualTo(Grade.WEAK);
      assertThat(lazy.toString()).doesNotContain("secret");
    } finally {
      server.admin("SET GLOBAL innodb_flush_log_at_trx_commit = 1");
    }
  }

  @Test
  void givenMySqlWhoseBinaryLogIsNotForced_whenExamined_thenItIsRelaxed() {
    MySqlServers server = MySqlServers.MYSQL;
    server.url();
    try {
      server.admin("SET GLOBAL sync_binlog = 0");
      StoreReport report = examine(server.url());
      assertThat(report.mode()).isEqualTo("mysql/relaxed");
      assertThat(grade(report, "sync_binlog")).isEqualTo(Grade.WEAK);
    } finally {
      server.admin("SET GLOBAL sync_binlog = 1");
    }
  }

  @Test
  @EnabledOnOs(OS.LINUX)
  void givenSqlite_whenExamined_thenItsReachAndClockAreTold() {
    StoreReport report = examine("jdbc:sqlite:" + folder.resolve("locks.db"));
    assertThat(report.mode()).isEqualTo("sqlite");
    assertThat(finding(report, "reach").meaning()).contains("other hosts do not");
    assertThat(finding(report, "clock").value()).isEqualTo("monotonic");
  }
}
