package io.mortise.jdbc;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.mortise.Lease;
import io.mortise.LockClient;
import io.mortise.StoreUnfitException;
import io.mortise.spi.LockStore;
import io.mortise.testkit.server.LocalServer;
import java.lang.reflect.InvocationTargetException;
import java.lang.reflect.Proxy;
import java.sql.Connection;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.sql.SQLTransientConnectionException;
import java.sql.Statement;
import java.util.concurrent.Semaphore;
import java.util.function.Predicate;
import javax.sql.DataSource;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.AfterParameterizedClassInvocation;
import org.junit.jupiter.params.BeforeParameterizedClassInvocation;
import org.junit.jupiter.params.ParameterizedClass;
import org.junit.jupiter.params.provider.EnumSource;

/** A store over data sources of applications and frameworks. */
@ParameterizedClass
@EnumSource
class DataSourceTest {
  private static LocalServer server;

  private final DatabaseProduct databaseProduct;

  DataSourceTest(DatabaseProduct databaseProduct) {
    this.databaseProduct = databaseProduct;
  }

  @BeforeParameterizedClassInvocation
  static void start(DatabaseProduct databaseProduct) {
    server = databaseProduct.start();
  }

  @AfterParameterizedClassInvocation
  static void stop() {
    server.close();
  }

  @AfterEach
  void dropTable() throws SQLException {
    try (Connection connection = databaseProduct.source(server.url()).getConnection()) {
      execute(connection, "DROP TABLE IF EXISTS mine");
    }
  }

  private interface ConnectionSource {
    Connection get() throws SQLException;
  }

  /** Also seen by threads that are started meanwhile. */
  private static final InheritableThreadLocal<Connection> BOUND = new InheritableThreadLocal<>();

  @Test
  void givenTransactionOfTheThread_whenTheStoreIsOpened_thenItIsNotJoined() throws Exception {
    try (Connection own = databaseProduct.source(server.url()).getConnection()) {
      DataSource pool = databaseProduct.source(server.url());
      execute(own, "CREATE TABLE mine (x INT)");
      own.setAutoCommit(false);
      execute(own, "INSERT INTO mine VALUES (1)");
      BOUND.set(own);
      DataSource aware =
          source(
              () -> {
                Connection joined = BOUND.get();
                return joined == null ? pool.getConnection() : unclosed(joined);
              });
      try (LockStore store = JdbcStore.over(aware, "");
          LockClient locks = LockClient.builder().store(store).build();
          Lease lease = locks.lock("a").acquire()) {
        lease.ensureValid();
      }
      BOUND.remove();
      execute(own, "INSERT INTO mine VALUES (2)");
      assertThat(own.getAutoCommit()).isFalse();
      own.rollback();
      own.setAutoCommit(true);
      assertThat(number(own, "SELECT COUNT(*) FROM mine")).isZero();
    }
  }

  @Test
  void givenPoolOfOne_whenOpened_thenItIsRefusedWithTheSizeThatItNeeds() throws Exception {
    DataSource direct = databaseProduct.source(server.url());
    Semaphore one = new Semaphore(1);
    DataSource pool =
        source(
            () -> {
              if (!one.tryAcquire()) {
                throw new SQLTransientConnectionException("timed out (total=1, active=1)");
              }
              return proxy(
                  Connection.class,
                  direct.getConnection(),
                  method -> {
                    if (method.equals("close")) {
                      one.release();
                    }
                    return true;
                  });
            });
    assertThatThrownBy(() -> JdbcStore.over(pool, ""))
        .isInstanceOf(StoreUnfitException.class)
        .hasMessageContaining("two connections")
        .hasMessageContaining("total=1");
    assertThat(one.availablePermits()).isOne();
  }

  @Test
  void givenSourceOfOneConnection_whenOpened_thenItIsRefused_andItsTransactionGoesOn()
      throws Exception {
    try (Connection own = databaseProduct.source(server.url()).getConnection()) {
      execute(own, "CREATE TABLE mine (x INT)");
      own.setAutoCommit(false);
      execute(own, "INSERT INTO mine VALUES (1)");
      assertThatThrownBy(() -> JdbcStore.over(source(() -> unclosed(own)), ""))
          .isInstanceOf(StoreUnfitException.class)
          .hasMessageContaining("the same connection twice");
      assertThat(own.getAutoCommit()).isFalse();
      assertThat(number(own, "SELECT COUNT(*) FROM mine")).isOne();
      own.rollback();
      assertThat(number(own, "SELECT COUNT(*) FROM mine")).isZero();
    }
  }

  @Test
  void givenSource_thenTheStoreIsCalledByHostAndDatabase_withoutASecret() throws Exception {
    try (LockStore store = JdbcStore.over(databaseProduct.source(server.url()), "")) {
      String name = store.profile().display();
      assertThat(server.url()).startsWith(name);
      assertThat(name).contains(":" + server.port() + "/").doesNotContain("password", "user");
    }
  }

  private static DataSource source(ConnectionSource connections) {
    return (DataSource)
        Proxy.newProxyInstance(
            DataSourceTest.class.getClassLoader(),
            new Class<?>[] {DataSource.class},
            (proxy, method, arguments) -> connections.get());
  }

  private static Connection unclosed(Connection connection) {
    return proxy(Connection.class, connection, method -> !method.equals("close"));
  }

  /** Calls what the filter lets through. */
  private static <T> T proxy(Class<T> type, T target, Predicate<String> filter) {
    return type.cast(
        Proxy.newProxyInstance(
            DataSourceTest.class.getClassLoader(),
            new Class<?>[] {type},
            (proxy, method, arguments) -> {
              try {
                return filter.test(method.getName()) ? method.invoke(target, arguments) : null;
              } catch (InvocationTargetException e) {
                throw e.getCause();
              }
            }));
  }

  private static void execute(Connection connection, String sql) throws SQLException {
    try (Statement statement = connection.createStatement()) {
      statement.execute(sql);
    }
  }

  private static long number(Connection connection, String sql) throws SQLException {
    try (Statement statement = connection.createStatement();
        ResultSet row = statement.executeQuery(sql)) {
      row.next();
      return row.getLong(1);
    }
  }
}
