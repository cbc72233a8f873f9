package io.mortise.field;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.assertj.core.api.Assertions.catchThrowable;

import io.mortise.Lease;
import io.mortise.LockClient;
import io.mortise.StoreUnavailableException;
import io.mortise.StoreUnfitException;
import io.mortise.jdbc.JdbcStore;
import io.mortise.spi.LockStore;
import io.mortise.testkit.BoundedWait;
import io.mortise.testkit.TestPrerequisites;
import io.mortise.testkit.server.FaultInjectionProxy;
import io.mortise.testkit.server.LocalServer;
import io.mortise.testserver.MariaDbServer;
import io.mortise.testserver.MySqlServer;
import io.mortise.testserver.PostgresServer;
import java.sql.Connection;
import java.sql.DriverManager;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.sql.Statement;
import java.time.Duration;
import java.util.Set;
import java.util.TreeSet;
import java.util.concurrent.CompletableFuture;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.EnumSource;
import org.junit.jupiter.params.provider.ValueSource;

/** Settings of a database's server, its users and its roles in a cluster. */
@Tag("long")
class DatabaseSettingsTest {
  private static final Duration BOUND = Duration.ofSeconds(25);

  @Test
  @Report({"alash3al/redix#43", "PostgREST/postgrest#3778", "impossibl/pgjdbc-ng#411"})
  void givenServerThatEndsIdleSessions_whenAProcessHoldsAndWaits_thenItKeepsItsConnections()
      throws Exception {
    LocalServer server = FieldStore.POSTGRESQL.shared();
    Trial.execute(
        server.url(),
        "CREATE ROLE quiet LOGIN PASSWORD 'secret'",
        "CREATE SCHEMA quiet AUTHORIZATION quiet",
        "ALTER ROLE quiet SET search_path = quiet",
        "ALTER ROLE quiet SET idle_session_timeout = '700ms'");
    try (LockClient locks = LockClient.connect(as(server, "quiet", "secret"))) {
      Lease held = locks.lock("held").acquire();
      CompletableFuture<Lease> waiter = locks.lock("held").acquireAsync().toCompletableFuture();
      BoundedWait.until(BOUND, "the third connection listens", () -> sessions(server).size() == 3);
      Set<String> before = sessions(server);
      BoundedWait.pass(Duration.ofSeconds(2));
      assertThat(sessions(server)).isEqualTo(before);
      held.close();
      BoundedWait.join(waiter).close();
    }
  }

  private static Set<String> sessions(LocalServer server) {
    return all(server.url(), "SELECT pid FROM pg_stat_activity WHERE usename = 'quiet'");
  }

  @ParameterizedTest
  @EnumSource(names = {"MYSQL", "MARIADB"})
  @Report({"robertpopa22/mRemoteNG#148", "logicalclocks/hopsworks-chef#552"})
  void givenServerWithSafeUpdatesAndLimits_thenAllStepsAndTheSweepGoOn(FieldStore kind)
      throws Exception {
    try (LocalServer server =
            kind.start(
                "--init-connect=SET SESSION sql_safe_updates = 1, sql_select_limit = 10,"
                    + " completion_type = 1");
        LockStore store = JdbcStore.open(server.url());
        LockClient locks = LockClient.builder().store(store).build()) {
      for (int i = 0; i < 3; i++) {
        Lease held = locks.lock("a").acquire();
        CompletableFuture<Lease> waiter = locks.lock("a").acquireAsync().toCompletableFuture();
        held.close();
        BoundedWait.join(waiter).close();
      }
      // Notifications of sessions that no longer exist.
      Trial.execute(
          admin(server),
          "INSERT INTO mortise.mortise_news (session, kind, name, attempt, token, tokens, flag,"
              + " timed, how) VALUES ('nobodynobody', 'wanted', 'a', 'nobodynobody0000000001', 0,"
              + " 0, 0, 0, ''), ('nobodynobody', 'wanted', 'b', 'nobodynobody0000000002', 0, 0, 0,"
              + " 0, '')");
      BoundedWait.join(store.sweep(100));
      assertThat(
              all(
                  admin(server),
                  "SELECT name FROM mortise.mortise_news WHERE session = 'nobodynobody'"))
          .isEmpty();
    }
  }

  @ParameterizedTest
  @ValueSource(strings = {"''", "\"a,public\"", "nowhere"})
  @Report({"brianc/node-postgres#2419", "osm2pgsql-dev/osm2pgsql#2011", "amacneil/dbmate#169"})
  void givenSearchPathWithoutASchema_whenOpened_thenItIsUnfit_byName(String path) throws Exception {
    LocalServer server = FieldStore.POSTGRESQL.shared();
    Trial.execute(server.url(), "CREATE ROLE lost LOGIN PASSWORD 'secret'");
    try {
      Trial.execute(server.url(), "ALTER ROLE lost SET search_path = " + path);
      assertThatThrownBy(() -> JdbcStore.open(as(server, "lost", "secret")))
          .isInstanceOf(StoreUnfitException.class)
          .hasMessageContaining("currentSchema");
    } finally {
      Trial.execute(server.url(), "DROP ROLE lost");
    }
  }

  @ParameterizedTest
  @ValueSource(
      strings = {
        "MySQL",
        "MariaDB",
        "PostgreSQL;DATABASE_TO_LOWER=TRUE;DEFAULT_NULL_ORDERING=HIGH",
        "DB2",
        "HSQLDB",
        "LEGACY",
        "Oracle",
        "MSSQLServer",
        "Derby",
        "STRICT"
      })
  @Report({
    "h2database/h2database#2472",
    "h2database/h2database#1066",
    "h2database/h2database#3918"
  })
  void givenH2InAMode_thenAllStepsWork(String mode) throws Exception {
    String name = mode.replaceAll("\\W.*", "");
    try (LockClient locks = LockClient.connect("jdbc:h2:mem:field" + name + ";MODE=" + mode)) {
      Lease held = locks.lock("a").acquire();
      CompletableFuture<Lease> waiter = locks.lock("a").acquireAsync().toCompletableFuture();
      held.close();
      BoundedWait.join(waiter).close();
      assertThat(locks.lock("b").tryAcquire()).isPresent();
    }
  }

  /** The server has the new password, but the process does not yet. */
  @ParameterizedTest
  @EnumSource(names = {"POSTGRESQL", "MYSQL", "MARIADB"})
  @Report({
    "brettwooldridge/HikariCP#2292",
    "brettwooldridge/HikariCP#2298",
    "brettwooldridge/HikariCP#1196",
    "linode/apl-core#3424"
  })
  void givenPasswordThatChanged_whenConnectedAnew_thenItIsUnfitUntilItIsSetBack(FieldStore kind)
      throws Exception {
    try (LocalServer server = kind.start();
        FaultInjectionProxy proxy = FaultInjectionProxy.to(server.port())) {
      boolean isPostgres = kind == FieldStore.POSTGRESQL;
      Trial.execute(
          admin(server),
          isPostgres
              ? "CREATE ROLE rotated LOGIN SUPERUSER PASSWORD 'first'"
              : "CREATE USER 'rotated'@'%' IDENTIFIED BY 'first'");
      if (!isPostgres) {
        Trial.execute(admin(server), "GRANT ALL ON mortise.* TO 'rotated'@'%'");
      }
      String change =
          isPostgres
              ? "ALTER ROLE rotated PASSWORD '%s'"
              : "ALTER USER 'rotated'@'%%' IDENTIFIED BY '%s'";
      String url = FieldStore.through(proxy, server, as(server, "rotated", "first"));
      try (LockClient locks = LockClient.connect(url)) {
        locks.lock("a").acquire().close();
        Trial.execute(admin(server), change.formatted("second"));
        proxy.reset();
        assertThatThrownBy(() -> locks.lock("a").tryAcquire())
            .isInstanceOf(StoreUnfitException.class)
            .hasMessageContaining("does not let this user in")
            .hasMessageContaining("Check user and password")
            .hasMessageNotContaining("first");
        Trial.execute(admin(server), change.formatted("first"));
        BoundedWait.until(BOUND, "a lock is granted", () -> Trial.isGranted(locks, "a"));
      }
    }
  }

  @Test
  @Report({
    "risingwavelabs/risingwave#25617",
    "sidorares/node-mysql2#2686",
    "mysql-net/MySqlConnector#1559"
  })
  void givenServerThatForgetsThePassword_whenConnectedAnew_thenTheMessageNamesTheParameter()
      throws Exception {
    try (MySqlServer server = (MySqlServer) FieldStore.MYSQL.start();
        FaultInjectionProxy proxy = FaultInjectionProxy.to(server.port())) {
      String plain = server.url() + "&sslMode=DISABLED";
      // Now the server caches the password.
      Trial.execute(plain + "&allowPublicKeyRetrieval=true", "SELECT 1");
      try (LockClient locks = LockClient.connect(FieldStore.through(proxy, server, plain))) {
        locks.lock("a").acquire().close();
        Trial.execute(server.adminUrl(), "FLUSH PRIVILEGES");
        proxy.reset();
        assertThatThrownBy(() -> locks.lock("a").tryAcquire())
            .isInstanceOf(StoreUnfitException.class)
            .hasMessageContaining("allowPublicKeyRetrieval");
      }
    }
  }

  /** An operator sets the former primary read-only; a user with SUPER may write there. */
  @ParameterizedTest
  @EnumSource(names = {"MYSQL", "MARIADB"})
  @Report({
    "mariadb-operator/mariadb-operator#291",
    "vitessio/vitess#12923",
    "openark/orchestrator#854"
  })
  void givenServerThatBecomesReadOnly_whenTheUserMayWriteAllTheSame_thenNothingIsGranted(
      FieldStore kind) throws Exception {
    try (LocalServer server = kind.start();
        LockClient locks =
            LockClient.builder().url(admin(server)).ttl(Duration.ofSeconds(6)).build();
        Lease held = locks.lock("held").acquire()) {
      assertThat(Trial.isGranted(locks, "a")).isTrue();
      Trial.execute(admin(server), "SET GLOBAL read_only = 1");
      // The connection is never idle.
      BoundedWait.until(
          BOUND,
          "no lock is granted",
          () ->
              catchThrowable(() -> locks.lock("a").tryAcquire().orElseThrow().close())
                  instanceof StoreUnavailableException);
      assertThat(held.isValid()).as("the session was not renewed and lives").isTrue();
      assertThat(Trial.isGranted(locks, "a")).isFalse();
      Trial.execute(admin(server), "SET GLOBAL read_only = 0");
      BoundedWait.until(BOUND, "a lock is granted", () -> Trial.isGranted(locks, "a"));
    }
  }

  @Test
  @Report({
    "pgjdbc/pgjdbc#4084",
    "pgjdbc/pgjdbc#1820",
    "npgsql/npgsql#6483",
    "patroni/patroni#1750"
  })
  void givenSeveralHosts_whenTheStandbyIsPromoted_thenItIsFoundSoon() throws Exception {
    try (PostgresServer primary = (PostgresServer) FieldStore.POSTGRESQL.start()) {
      JdbcStore.open(primary.url()).close();
      try (PostgresServer standby =
          primary.startStandby(
              TestPrerequisites.required(PostgresServer.installed(), "PostgreSQL"),
              primary.port())) {
        String hosts =
            primary
                .url()
                .replace(
                    ":" + primary.port() + "/",
                    ":" + primary.port() + ",127.0.0.1:" + standby.port() + "/");
        try (LockClient locks = LockClient.connect(hosts)) {
          locks.lock("a").acquire().close();
          primary.kill();
          BoundedWait.until(BOUND, "the outage is met", () -> !Trial.isGranted(locks, "a"));
          all(standby.url(), "SELECT pg_promote()");
          // By default the driver remembers a standby for ten seconds.
          BoundedWait.until(
              Duration.ofSeconds(6), "the new primary is found", () -> Trial.isGranted(locks, "a"));
        }
      }
    }
  }

  @ParameterizedTest
  @CsvSource({
    "MYSQL, --autocommit=0",
    "MARIADB, --autocommit=0",
    "MYSQL, --transaction-isolation=SERIALIZABLE",
    "MARIADB, --transaction-isolation=SERIALIZABLE"
  })
  @Report({"mysqljs/mysql#1726", "vert-x3/vertx-jdbc-client#356"})
  void givenServerWithAnotherDefault_thenOthersSeeWhatIsGranted(FieldStore kind, String option)
      throws Exception {
    try (LocalServer server = kind.start(option);
        LockClient locks = LockClient.connect(server.url());
        LockClient other = LockClient.connect(server.url())) {
      try (Lease held = locks.lock("a").acquire()) {
        assertThat(other.lock("a").tryAcquire()).isEmpty();
        held.ensureValid();
      }
      BoundedWait.until(BOUND, "a release is seen", () -> Trial.isGranted(other, "a"));
      BoundedWait.until(
          BOUND,
          "no transaction is left open",
          () -> all(admin(server), "SELECT trx_id FROM information_schema.innodb_trx").isEmpty());
    }
  }

  private static String as(LocalServer server, String user, String password) {
    return server
        .url()
        .replaceFirst("user=\\w+", "user=" + user)
        .replaceFirst("password=[\\w-]+", "password=" + password);
  }

  private static String admin(LocalServer server) {
    return server instanceof MySqlServer mySql
        ? mySql.adminUrl()
        : server instanceof MariaDbServer mariaDb ? mariaDb.adminUrl() : server.url();
  }

  private static Set<String> all(String url, String query) {
    Set<String> told = new TreeSet<>();
    try (Connection connection = DriverManager.getConnection(url);
        Statement statement = connection.createStatement();
        ResultSet row = statement.executeQuery(query)) {
      while (row.next()) {
        told.add(row.getString(1));
      }
    } catch (SQLException e) {
      throw new AssertionError(e);
    }
    return told;
  }
}
