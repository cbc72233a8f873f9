package io.mortise.field;

import static org.assertj.core.api.Assertions.assertThat;

import com.zaxxer.hikari.HikariConfig;
import com.zaxxer.hikari.HikariDataSource;
import io.mortise.Lease;
import io.mortise.LockClient;
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
import java.util.ArrayList;
import java.util.List;
import java.util.Set;
import java.util.TreeSet;
import java.util.concurrent.CompletableFuture;
import java.util.stream.Collectors;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/** Connections borrowed from a pool of the application. */
@Tag("long")
class DatabasePoolTest {
  private static final int SIZE = 3;
  private static final Duration BOUND = Duration.ofSeconds(25);
  private static final List<String> TABLES =
      List.of("meta", "session", "lock", "hold", "wait", "news", "fact");

  @ParameterizedTest
  @EnumSource(names = {"POSTGRESQL", "MYSQL", "MARIADB"})
  @Report({
    "brettwooldridge/HikariCP#2040",
    "brettwooldridge/HikariCP#1403",
    "scalikejdbc/scalikejdbc#256"
  })
  void givenPoolWithSettingsOfItsOwn_whenTheStoreIsClosed_thenTheyHoldAgain(FieldStore kind)
      throws Exception {
    HikariConfig config = config(kind.newUrl());
    config.setConnectionInitSql(
        kind == FieldStore.POSTGRESQL
            ? "SET statement_timeout = '77s'; SET lock_timeout = '66s'; SET jit = off; SET TIME"
                + " ZONE 'Asia/Tokyo'"
            : "SET SESSION time_zone = '+02:00', sql_mode = 'ANSI,STRICT_TRANS_TABLES',"
                + " wait_timeout = 777, lock_wait_timeout = 77, innodb_lock_wait_timeout = 7,"
                + " sql_safe_updates = 1");
    try (HikariDataSource pool = new HikariDataSource(config)) {
      Set<String> before = settings(kind, pool);
      useAndClose(pool, "namespace=settings");
      BoundedWait.until(
          BOUND,
          "all connections are back",
          () -> pool.getHikariPoolMXBean().getActiveConnections() == 0);
      assertThat(before).isNotEmpty();
      assertThat(settings(kind, pool)).isEqualTo(before);
    }
  }

  @ParameterizedTest
  @EnumSource(names = {"POSTGRESQL", "MYSQL", "MARIADB", "H2"})
  @Report({
    "brettwooldridge/HikariCP#674",
    "pgjdbc/pgjdbc#1018",
    "spring-projects/spring-framework#31785"
  })
  void givenPoolOfReadOnlyConnections_whenAStoreIsOpenedOverIt_thenItWrites(FieldStore kind)
      throws Exception {
    for (boolean autoCommit : new boolean[] {true, false}) {
      HikariConfig config = config(kind.newUrl());
      config.setReadOnly(true);
      config.setAutoCommit(autoCommit);
      try (HikariDataSource pool = new HikariDataSource(config)) {
        useAndClose(pool, "namespace=reads");
      }
    }
  }

  @Test
  @Report({
    "brettwooldridge/HikariCP#2144",
    "brettwooldridge/HikariCP#1369",
    "brettwooldridge/HikariCP#2328"
  })
  void givenPoolWithASchemaAndWithoutAutoCommit_thenTheTablesStandThere_andThePathStays()
      throws Exception {
    try (LocalServer server = FieldStore.POSTGRESQL.start()) {
      Trial.execute(server.url(), "CREATE SCHEMA locks");
      HikariConfig config = config(server.url());
      config.setAutoCommit(false);
      config.setSchema("locks");
      try (HikariDataSource pool = new HikariDataSource(config)) {
        useAndClose(pool, "");
        assertThat(all(pool, "SHOW search_path")).containsOnly("locks");
        assertThat(
                query(
                    server.url(),
                    "SELECT to_regclass('locks.mortise_lock') IS NOT NULL"
                        + " AND to_regclass('public.mortise_lock') IS NULL"))
            .isEqualTo("t");
      }
    }
  }

  /** The pool is given another user, and the database drops the former one. */
  @ParameterizedTest
  @EnumSource(names = {"POSTGRESQL", "MYSQL", "MARIADB"})
  @Report({
    "brettwooldridge/HikariCP#1836",
    "spring-cloud/spring-cloud-vault#152",
    "hashicorp/vault#699",
    "brettwooldridge/HikariCP#2014",
    "brettwooldridge/HikariCP#582",
    "quarkiverse/quarkus-vault#66"
  })
  void givenUserThatIsDropped_whenThePoolHasAnother_thenLocksGoOn(FieldStore kind)
      throws Exception {
    LocalServer server = kind.shared();
    String prefix = "prefix=rotated_";
    JdbcStore.open(FieldStore.with(server.url(), prefix)).close();
    String[] users = {"rota", "rotb"};
    for (String user : users) {
      Trial.execute(admin(server), granted(kind, user));
    }
    HikariConfig config = config(server.url().replaceFirst("\\?.*", ""));
    config.setUsername(users[0]);
    config.setPassword("secret");
    try (HikariDataSource pool = new HikariDataSource(config);
        LockStore store = JdbcStore.over(pool, prefix);
        LockClient locks = LockClient.builder().store(store).ttl(Duration.ofSeconds(6)).build();
        Lease held = locks.lock("held").acquire()) {
      pool.getHikariConfigMXBean().setUsername(users[1]);
      pool.getHikariPoolMXBean().softEvictConnections();
      Trial.execute(admin(server), dropped(kind, users[0]));
      BoundedWait.until(BOUND, "a lock is granted", () -> Trial.isGranted(locks, "free"));
      BoundedWait.pass(Duration.ofSeconds(7));
      held.ensureValid();
    } finally {
      Trial.execute(admin(server), dropped(kind, users[1]));
    }
  }

  /** The former writer lives, the pool's connections lead to it, and it is read-only. */
  @Test
  @Report({
    "brettwooldridge/HikariCP#2185",
    "brettwooldridge/HikariCP#1802",
    "sidorares/node-mysql2#2050",
    "awslabs/aws-mysql-jdbc#214"
  })
  void givenPoolWhoseConnectionsLeadToTheFormerWriter_thenLocksAreServedByTheNewOne()
      throws Exception {
    try (PostgresServer primary = (PostgresServer) FieldStore.POSTGRESQL.start()) {
      JdbcStore.open(primary.url()).close();
      try (PostgresServer standby =
              primary.startStandby(
                  TestPrerequisites.required(PostgresServer.installed(), "PostgreSQL"),
                  primary.port());
          FaultInjectionProxy address = FaultInjectionProxy.to(primary.port())) {
        HikariConfig config = config(FieldStore.through(address, primary, primary.url()));
        config.setMaximumPoolSize(6);
        config.setMinimumIdle(6);
        try (HikariDataSource pool = new HikariDataSource(config);
            LockStore store = JdbcStore.over(pool, "");
            LockClient locks = LockClient.builder().store(store).build()) {
          locks.lock("before").acquire().close();
          BoundedWait.until(
              BOUND,
              "the pool is full",
              () -> pool.getHikariPoolMXBean().getTotalConnections() == 6);
          Trial.execute(
              primary.url(),
              "ALTER SYSTEM SET default_transaction_read_only = on",
              "SELECT pg_reload_conf()");
          query(standby.url(), "SELECT pg_promote()");
          // Moves new connections only.
          address.spread(standby.port());
          BoundedWait.until(BOUND, "a lock is granted", () -> Trial.isGranted(locks, "after"));
        }
      }
    }
  }

  private static HikariConfig config(String url) {
    HikariConfig config = new HikariConfig();
    // The driver does not know our parameters.
    config.setJdbcUrl(url.replaceFirst("[?&;]namespace=\\w+", ""));
    config.setMaximumPoolSize(SIZE);
    config.setMinimumIdle(SIZE);
    return config;
  }

  /** Includes a hand-off, for which PostgreSQL listens on a third connection. */
  private static void useAndClose(HikariDataSource pool, String parameters) throws Exception {
    try (LockStore store = JdbcStore.over(pool, parameters);
        LockClient locks = LockClient.builder().store(store).build()) {
      Lease held = locks.lock("a").acquire();
      CompletableFuture<Lease> waiter = locks.lock("a").acquireAsync().toCompletableFuture();
      held.close();
      BoundedWait.join(waiter).close();
    }
  }

  private static Set<String> settings(FieldStore kind, HikariDataSource pool) throws SQLException {
    return all(
        pool,
        kind == FieldStore.POSTGRESQL
            ? "SELECT string_agg(name || '=' || setting, ' ' ORDER BY name) FROM pg_settings"
                + " WHERE context IN ('user', 'superuser') AND name NOT LIKE 'transaction_%'"
            : "SELECT CONCAT_WS(' ', @@time_zone, @@sql_mode, @@wait_timeout, @@lock_wait_timeout,"
                + " @@innodb_lock_wait_timeout, @@sql_safe_updates, @@sql_select_limit,"
                + " @@completion_type, "
                + (kind == FieldStore.MYSQL
                    ? "@@max_execution_time)"
                    : "@@max_statement_time, @@idle_transaction_timeout)"));
  }

  /** The results of the query on all connections of the pool. */
  private static Set<String> all(HikariDataSource pool, String query) throws SQLException {
    Set<String> told = new TreeSet<>();
    List<Connection> lent = new ArrayList<>();
    try {
      for (int i = 0; i < SIZE; i++) {
        Connection connection = pool.getConnection();
        lent.add(connection);
        told.add(query(connection, query));
      }
    } finally {
      for (Connection connection : lent) {
        connection.close();
      }
    }
    return told;
  }

  private static String query(String url, String query) throws SQLException {
    try (Connection connection = DriverManager.getConnection(url)) {
      return query(connection, query);
    }
  }

  private static String query(Connection connection, String query) throws SQLException {
    try (Statement statement = connection.createStatement();
        ResultSet row = statement.executeQuery(query)) {
      row.next();
      return row.getString(1);
    }
  }

  private static String admin(LocalServer server) {
    return server instanceof MySqlServer mySql
        ? mySql.adminUrl()
        : server instanceof MariaDbServer mariaDb ? mariaDb.adminUrl() : server.url();
  }

  private static String[] granted(FieldStore kind, String user) {
    if (kind == FieldStore.POSTGRESQL) {
      return new String[] {
        "CREATE ROLE " + user + " LOGIN PASSWORD 'secret'",
        TABLES.stream()
            .map(table -> "rotated_" + table)
            .collect(
                Collectors.joining(", ", "GRANT SELECT, INSERT, UPDATE, DELETE ON ", " TO " + user))
      };
    }
    List<String> statements = new ArrayList<>();
    statements.add("CREATE USER '" + user + "'@'%' IDENTIFIED BY 'secret'");
    for (String table : TABLES) {
      statements.add(
          "GRANT SELECT, INSERT, UPDATE, DELETE ON mortise.rotated_%s TO '%s'@'%%'"
              .formatted(table, user));
    }
    return statements.toArray(String[]::new);
  }

  private static String[] dropped(FieldStore kind, String user) {
    return kind == FieldStore.POSTGRESQL
        ? new String[] {"DROP OWNED BY " + user, "DROP ROLE " + user}
        : new String[] {"DROP USER '" + user + "'@'%'"};
  }
}
