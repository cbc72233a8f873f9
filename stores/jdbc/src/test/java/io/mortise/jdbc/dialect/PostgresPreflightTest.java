package io.mortise.jdbc.dialect;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.mortise.StoreUnavailableException;
import io.mortise.StoreUnfitException;
import io.mortise.jdbc.JdbcStore;
import io.mortise.jdbc.PostgresServers;
import io.mortise.jdbc.TestSession;
import io.mortise.spi.AttemptId;
import io.mortise.spi.LockStore;
import io.mortise.spi.Reply;
import io.mortise.spi.SessionNotification;
import io.mortise.testserver.PostgresServer;
import java.io.IOException;
import java.lang.reflect.Proxy;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.sql.Connection;
import java.sql.DriverManager;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.sql.Statement;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.CopyOnWriteArrayList;
import javax.sql.DataSource;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.postgresql.ds.PGSimpleDataSource;

/** Refusals of servers, users and tables that PostgreSQL stores cannot use. */
@Tag("extended")
class PostgresPreflightTest {
  private static PostgresServer server;

  @BeforeAll
  static void start() {
    server = PostgresServers.V14.start();
  }

  @AfterAll
  static void stop() {
    if (server != null) {
      server.close();
    }
  }

  private static void sql(String... statements) {
    try (Connection connection = DriverManager.getConnection(server.url());
        Statement statement = connection.createStatement()) {
      for (String each : statements) {
        statement.execute(each);
      }
    } catch (SQLException e) {
      throw new AssertionError(e);
    }
  }

  private static String as(String user) {
    return server.address() + "?user=" + user + "&password=secret";
  }

  private static void opens(String url) {
    try (LockStore store = JdbcStore.open(url)) {
      TestSession session = new TestSession(store, Duration.ofSeconds(10));
      AttemptId attempt = session.attempt();
      session.granted("opens", attempt);
      session.abandon("opens", attempt);
    }
  }

  private static void refuses(Class<?> type, String url, String message) {
    assertThatThrownBy(() -> JdbcStore.open(url))
        .isInstanceOf(type)
        .hasMessageContaining(message)
        .hasMessageNotContaining(PostgresServer.PASSWORD)
        .hasMessageNotContaining("secret");
  }

  @Test
  void givenNoPassword_whenOpened_thenItIsUnfit() {
    refuses(StoreUnfitException.class, server.address() + "?user=postgres", "user and password");
  }

  @Test
  void givenPlusInThePassword_whenOpened_thenItIsAPlus_asTypedAndEncoded() {
    sql("CREATE ROLE plus LOGIN PASSWORD 'pa+ss wd'", "CREATE SCHEMA plus AUTHORIZATION plus");
    for (String password : List.of("pa+ss%20wd", "pa%2Bss wd")) {
      opens(server.address() + "?user=plus&currentSchema=plus&password=" + password);
    }
  }

  @Test
  void givenServerWithoutTls_whenTlsIsRequired_thenItIsUnfit() {
    refuses(StoreUnfitException.class, server.url() + "&sslmode=require", "TLS");
  }

  @Test
  void givenUnknownHost_whenOpened_thenItIsNamed() {
    refuses(
        StoreUnavailableException.class,
        "jdbc:postgresql://no-such-host.invalid/app?user=postgres",
        "unknown host: no-such-host.invalid");
  }

  @Test
  void givenTablesMadeBySomebodyElse_whenOpenedByOneWhoMayOnlyUseThem_thenTheyAreGoodEnough()
      throws Exception {
    sql(
        "CREATE SCHEMA made",
        "CREATE USER clerk PASSWORD 'secret'",
        "GRANT USAGE ON SCHEMA made TO clerk");
    String ddl;
    try (var in = ClassLoader.getSystemResourceAsStream("META-INF/mortise/postgresql/schema.sql")) {
      ddl = new String(in.readAllBytes(), StandardCharsets.UTF_8);
    }
    sql(
        "SET search_path = made; " + ddl,
        "GRANT SELECT, INSERT, UPDATE, DELETE ON ALL TABLES IN SCHEMA made TO clerk");

    opens(as("clerk") + "&currentSchema=made");
    opens(as("clerk") + "&currentSchema=made&create=false");

    sql("DROP TABLE made.mortise_wait", "DELETE FROM made.mortise_meta");
    refuses(StoreUnfitException.class, as("clerk") + "&currentSchema=made", "schema.sql");
  }

  @Test
  void givenWrongPassword_whenOpened_thenItIsUnfit_andThePasswordIsNotShown() {
    String url = server.address() + "?user=postgres&password=secret";

    refuses(StoreUnfitException.class, url, "does not let this user in");
  }

  @Test
  void givenUnknownDatabase_whenOpened_thenItIsUnfit() {
    String url = server.url().replace("/postgres?", "/nowhere?");

    refuses(StoreUnfitException.class, url, "does not exist");
  }

  @Test
  void givenNobodyThere_whenOpened_thenItIsUnavailable() {
    refuses(
        StoreUnavailableException.class,
        "jdbc:postgresql://127.0.0.1:1/postgres?user=a&password=secret",
        "cannot be used");
  }

  @Test
  void givenUnknownParameter_whenOpened_thenItIsRefused() {
    refuses(
        IllegalArgumentException.class,
        server.address() + "?socketTimeout=0&password=secret",
        "Unknown parameter 'socketTimeout'");
    refuses(
        IllegalArgumentException.class,
        "jdbc:postgresql://me:secret@host/db",
        "?user=…&password=…");
  }

  @Test
  void givenUserWhoMayUseButNotMakeTables_whenOpened_thenItWorks() {
    opens(server.url() + "&prefix=granted_");
    sql(
        "CREATE ROLE uses LOGIN PASSWORD 'secret'",
        "REVOKE CREATE ON SCHEMA public FROM PUBLIC",
        "GRANT SELECT, INSERT, UPDATE, DELETE ON ALL TABLES IN SCHEMA public TO uses");

    opens(as("uses") + "&prefix=granted_");

    sql("GRANT CREATE ON SCHEMA public TO PUBLIC");
  }

  @Test
  void givenUserWhoMayNotTryAdvisoryLocks_whenOthersWait_thenTheyAreServed() {
    String url = server.url() + "&prefix=unasked_";
    opens(url);
    sql(
        "CREATE ROLE deaf LOGIN PASSWORD 'secret'",
        "GRANT SELECT, INSERT, UPDATE, DELETE ON ALL TABLES IN SCHEMA public TO deaf",
        "REVOKE EXECUTE ON FUNCTION pg_try_advisory_xact_lock_shared(bigint) FROM PUBLIC",
        "REVOKE EXECUTE ON FUNCTION pg_try_advisory_lock(bigint) FROM PUBLIC");
    try (LockStore store = JdbcStore.open(as("deaf") + "&prefix=unasked_");
        LockStore other = JdbcStore.open(url)) {
      TestSession holder = new TestSession(store, Duration.ofSeconds(30));
      TestSession waiter = new TestSession(other, Duration.ofSeconds(30));
      for (String name : List.of("a", "b")) {
        AttemptId held = holder.attempt();
        holder.granted(name, held);
        assertThat(waiter.acquire(name, waiter.attempt())).isInstanceOf(Reply.Queued.class);
        assertThat(holder.abandon(name, held)).isInstanceOf(Reply.Ended.class);
        assertThat(waiter.notifications())
            .hasAtLeastOneElementOfType(SessionNotification.HoldGranted.class);
      }
    } finally {
      sql(
          "GRANT EXECUTE ON FUNCTION pg_try_advisory_xact_lock_shared(bigint) TO PUBLIC",
          "GRANT EXECUTE ON FUNCTION pg_try_advisory_lock(bigint) TO PUBLIC");
    }
  }

  @Test
  void givenUserWithoutRights_whenOpened_thenTheRightsAreNamed() {
    opens(server.url() + "&prefix=barred_");
    sql("CREATE ROLE barred LOGIN PASSWORD 'secret'");

    refuses(
        StoreUnfitException.class,
        as("barred") + "&prefix=barred_",
        "grant SELECT, INSERT, UPDATE and DELETE");
  }

  @Test
  void givenReadOnlyUser_whenOpened_thenItIsUnfit() {
    sql(
        "CREATE ROLE reads LOGIN PASSWORD 'secret'",
        "ALTER ROLE reads SET default_transaction_read_only = on");

    refuses(StoreUnfitException.class, as("reads"), "read-only");
  }

  @Test
  void givenNoConnectionLeft_whenOpened_thenItIsUnavailable_andSaysSo() {
    sql("CREATE ROLE crowded LOGIN PASSWORD 'secret' CONNECTION LIMIT 0");

    refuses(StoreUnavailableException.class, as("crowded"), "no connection left");
  }

  @Test
  void givenNoTables_whenOpenedWithCreateFalse_thenTheFileIsNamed() {
    refuses(
        StoreUnfitException.class,
        server.url() + "&prefix=none_&create=false",
        "META-INF/mortise/postgresql/schema.sql");
  }

  @Test
  void givenTablesOfAnotherVersion_whenOpened_thenTheWayOutIsTold() {
    opens(server.url() + "&prefix=old_");
    sql("UPDATE old_meta SET content = '0' WHERE fact = 'schema'");

    refuses(
        StoreUnfitException.class, server.url() + "&prefix=old_", "bring the tables up to date");
  }

  @Test
  void givenOtherSchema_whenNamedByCurrentSchema_thenTheTablesAreMadeThere() throws Exception {
    sql("CREATE SCHEMA other");

    opens(server.url() + "&currentSchema=other");

    try (Connection connection = DriverManager.getConnection(server.url());
        Statement statement = connection.createStatement();
        ResultSet row = statement.executeQuery("SELECT to_regclass('other.mortise_lock')")) {
      row.next();
      assertThat(row.getString(1)).isNotNull();
    }
  }

  @Test
  void givenDataSource_whenOpened_thenItWorks() throws Exception {
    PGSimpleDataSource pool = new PGSimpleDataSource();
    pool.setUrl(server.url());

    try (LockStore store = JdbcStore.over(pool, "namespace=pool")) {
      assertThat(store.profile().display()).isEqualTo(server.url().replaceFirst("\\?.*", ""));
      TestSession session = new TestSession(store, Duration.ofSeconds(10));
      session.granted("a", session.attempt());
    }
  }

  @Test
  void givenDataSource_whenTheStoreIsClosed_thenConnectionsComeBackWithTheirSettings()
      throws Exception {
    PGSimpleDataSource direct = new PGSimpleDataSource();
    direct.setUrl(server.url());
    List<Connection> lent = new CopyOnWriteArrayList<>();
    DataSource pool =
        (DataSource)
            Proxy.newProxyInstance(
                DataSource.class.getClassLoader(),
                new Class<?>[] {DataSource.class},
                (self, method, arguments) -> {
                  Connection connection = direct.getConnection();
                  lent.add(connection);
                  return thatStaysOpen(connection);
                });
    try {
      try (LockStore store = JdbcStore.over(pool, "namespace=lent")) {
        TestSession session = new TestSession(store, Duration.ofSeconds(10));
        session.granted("a", session.attempt());
      }
      JdbcStore.over(pool, "namespace=lent").close();

      // The one that listened is aborted: nothing else ends its wait.
      lent.removeIf(PostgresPreflightTest::isClosed);
      assertThat(lent).hasSizeGreaterThan(3);
      for (Connection connection : lent) {
        assertThat(connection.getAutoCommit()).isTrue();
        try (Statement statement = connection.createStatement();
            ResultSet row =
                statement.executeQuery(
                    "SELECT current_setting('enable_seqscan') ||"
                        + " current_setting('lock_timeout')")) {
          row.next();
          assertThat(row.getString(1)).isEqualTo("on0");
        }
      }
    } finally {
      for (Connection connection : lent) {
        connection.close();
      }
    }
  }

  private static boolean isClosed(Connection connection) {
    try {
      return connection.isClosed();
    } catch (SQLException e) {
      throw new AssertionError(e);
    }
  }

  private static Connection thatStaysOpen(Connection connection) {
    return (Connection)
        Proxy.newProxyInstance(
            Connection.class.getClassLoader(),
            new Class<?>[] {Connection.class},
            (self, method, arguments) ->
                method.getName().equals("close") ? null : method.invoke(connection, arguments));
  }

  @Test
  void givenStandby_whenOpened_thenItIsUnfit_alsoForAStoreThatConnectsAgain() throws IOException {
    try (PostgresServer standby = PostgresServers.V18.start();
        LockStore store = JdbcStore.open(standby.url())) {
      TestSession session = new TestSession(store, Duration.ofSeconds(20));
      session.granted("a", session.attempt());
      standby.stop();
      Path signal = standby.data().resolve("standby.signal");
      Files.createFile(signal);
      standby.restart();

      refuses(StoreUnfitException.class, standby.url(), "is a standby");
      // The first request finds the connection gone.
      session.acquire("b", session.attempt());
      assertThat(session.acquire("c", session.attempt()))
          .extracting(reply -> ((Reply.Failed) reply).cause())
          .isInstanceOf(StoreUnfitException.class);
    }
  }
}
