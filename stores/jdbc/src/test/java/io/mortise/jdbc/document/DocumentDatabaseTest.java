package io.mortise.jdbc.document;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.mortise.Lease;
import io.mortise.LockClient;
import io.mortise.LockOptions;
import io.mortise.StoreUnavailableException;
import io.mortise.StoreUnfitException;
import io.mortise.UnsupportedByStoreException;
import io.mortise.jdbc.JdbcStore;
import io.mortise.spi.LockStore;
import io.mortise.spi.StoreReport;
import io.mortise.spi.StoreUrl;
import io.mortise.spi.time.Ticker;
import io.mortise.spi.time.WallClock;
import java.lang.reflect.InvocationTargetException;
import java.lang.reflect.Proxy;
import java.sql.Connection;
import java.sql.DatabaseMetaData;
import java.sql.DriverManager;
import java.sql.PreparedStatement;
import java.sql.SQLException;
import java.time.Duration;
import java.util.UUID;
import java.util.concurrent.atomic.AtomicInteger;
import javax.sql.DataSource;
import org.hsqldb.jdbc.JDBCDataSource;
import org.junit.jupiter.api.Test;

/** How a database without a dialect is opened, and refused. HSQLDB in memory plays all of them. */
class DocumentDatabaseTest {
  private static final Duration LONG = Duration.ofSeconds(60);

  private final String url = "jdbc:hsqldb:mem:" + UUID.randomUUID();

  /** Connections of a pool that came back in another state than they had. */
  private final AtomicInteger changed = new AtomicInteger();

  /** Changes what a call returns. */
  private interface Answer {
    Object of(String method, Object[] arguments, Object returned) throws SQLException;
  }

  @SuppressWarnings("unchecked")
  private static <T> T proxy(Class<T> type, T target, Answer answer) {
    return (T)
        Proxy.newProxyInstance(
            DocumentDatabaseTest.class.getClassLoader(),
            new Class<?>[] {type},
            (proxy, method, arguments) -> {
              try {
                return answer.of(method.getName(), arguments, method.invoke(target, arguments));
              } catch (InvocationTargetException e) {
                throw e.getCause();
              }
            });
  }

  private static Connection named(Connection connection, String product) {
    return proxy(
        Connection.class,
        connection,
        (method, arguments, returned) ->
            returned instanceof DatabaseMetaData meta
                ? proxy(
                    DatabaseMetaData.class,
                    meta,
                    (asked, none, told) -> asked.equals("getDatabaseProductName") ? product : told)
                : returned);
  }

  private LockStore open(DatabaseChange change) {
    return DocumentDatabase.open(
        () -> change.of(DriverManager.getConnection(url)),
        false,
        new DocumentDatabase.Settings("jdbc:x", "mortise_", "default", LONG, true),
        Ticker.SYSTEM,
        WallClock.SYSTEM);
  }

  private interface DatabaseChange {
    Connection of(Connection connection) throws SQLException;
  }

  @Test
  void givenDatabaseInMemory_whenAClientUsesIt_thenLocksExclude_andTokensRise() throws Exception {
    try (LockClient first = LockClient.connect(url);
        LockClient other = LockClient.connect(url)) {
      Lease lease = first.lock("x").acquireWithin(LONG);
      assertThat(other.lock("x").tryAcquire()).isEmpty();
      long token = lease.token();
      lease.close();
      try (Lease next = other.lock("x").acquireWithin(LONG)) {
        assertThat(next.token()).isGreaterThan(token);
      }
    }
  }

  @Test
  void givenTimes_thenTheyAreRefused() {
    try (LockClient locks = LockClient.connect(url)) {
      var timed = locks.lock("x").with(LockOptions.DEFAULTS.withAtLeast(Duration.ofSeconds(1)));
      assertThatThrownBy(timed::acquire).isInstanceOf(UnsupportedByStoreException.class);
    }
  }

  @Test
  void givenProductThatIsNotTested_thenTheReportSaysSo() {
    try (LockStore store = open(connection -> named(connection, "Odd Base"));
        LockStore known = open(connection -> connection)) {
      assertThat(StoreReport.of(store).findings())
          .anyMatch(
              finding ->
                  finding.value().startsWith("Odd Base")
                      && finding.grade() == StoreReport.Grade.NOTE);
      assertThat(StoreReport.of(known).findings())
          .anyMatch(
              finding ->
                  finding.value().startsWith("HSQL") && finding.grade() == StoreReport.Grade.FINE);
    }
  }

  @Test
  void givenDatabaseThatMiscountsRows_thenItIsRefused() {
    assertThatThrownBy(
            () ->
                open(
                    connection ->
                        proxy(
                            Connection.class,
                            connection,
                            (method, arguments, returned) ->
                                returned instanceof PreparedStatement statement
                                    ? proxy(
                                        PreparedStatement.class,
                                        statement,
                                        (called, none, told) ->
                                            called.equals("executeUpdate") ? 1 : told)
                                    : returned)))
        .isInstanceOf(StoreUnfitException.class)
        .hasMessageContaining("changes a row that the condition does not meet");
  }

  @Test
  void givenConnectionsToTwoDatabases_thenTheSecondIsRefused() throws Exception {
    AtomicInteger connections = new AtomicInteger();
    String other = "jdbc:hsqldb:mem:" + UUID.randomUUID();
    LockClient.connect(other).close();
    try (Connection kept = DriverManager.getConnection(other);
        LockStore made = JdbcStore.open(other);
        LockStore store =
            open(
                connection -> {
                  if (connections.getAndIncrement() == 0) {
                    return connection;
                  }
                  connection.close();
                  return DriverManager.getConnection(other);
                });
        LockClient locks = LockClient.builder().store(store).build()) {
      assertThat(kept.isValid(1)).isTrue();
      assertThat(made.profile().display()).isEqualTo(other);
      assertThatThrownBy(() -> locks.lock("x").tryAcquire())
          .hasStackTraceContaining("lead to different servers");
    }
  }

  @Test
  void givenNoTable_whenItMustNotBeMade_thenItIsSaidHowToMakeIt() {
    assertThatThrownBy(() -> JdbcStore.open(url + "?create=false"))
        .isInstanceOf(StoreUnfitException.class)
        .hasMessageContaining("lacks table 'mortise_document'")
        .hasMessageContaining("META-INF/mortise/document/schema.sql");
    JdbcStore.open(url + "?prefix=other_").close();
  }

  @Test
  void givenUrlWithoutADriver_thenItIsSaidWhatMayBeMeant() {
    assertThatThrownBy(() -> LockStore.connect(StoreUrl.parse("jdbc:postgres://h/d?user=a")))
        .isInstanceOf(StoreUnfitException.class)
        .hasMessageContaining("No driver on the class path takes 'jdbc:postgres://h/d?user=a'")
        .hasMessageContaining("Did you mean 'jdbc:postgresql:'?");
    assertThatThrownBy(() -> JdbcStore.open("jdbc:nosuch:thing"))
        .isInstanceOf(StoreUnfitException.class)
        .hasMessageContaining("Add the driver of the database");
  }

  @Test
  void givenWrongParameters_thenTheyAreRefused() {
    assertThatThrownBy(() -> JdbcStore.open(url + "?namspace=a"))
        .isInstanceOf(IllegalArgumentException.class)
        .hasMessageContaining("Did you mean 'namespace'?");
    assertThatThrownBy(() -> JdbcStore.open(url + "?timeout=1ms"))
        .isInstanceOf(IllegalArgumentException.class)
        .hasMessageContaining("'timeout'");
  }

  @Test
  void givenParametersOfDialects_thenTheyAreRefused() {
    for (String name : new String[] {"strict-expiry", "pooler"}) {
      assertThatThrownBy(() -> JdbcStore.open(url + "?" + name + "=true"))
          .isInstanceOf(IllegalArgumentException.class)
          .hasMessageContaining(name);
    }
  }

  @Test
  void givenParameterOfTheDriver_thenTheDriverGetsIt() {
    assertThatThrownBy(() -> JdbcStore.open(url + "x?driver.ifexists=true"))
        .isInstanceOf(StoreUnavailableException.class)
        .hasMessageContaining("cannot be opened");
  }

  @Test
  void givenWrongPassword_thenItIsRefused_andNotShown() throws Exception {
    try (Connection kept = DriverManager.getConnection(url)) {
      assertThat(kept.isValid(1)).isTrue();
      assertThatThrownBy(() -> JdbcStore.open(url + "?user=SA&password=s3cret"))
          .isInstanceOf(StoreUnfitException.class)
          .hasMessageContaining("Check user and password")
          .message()
          .doesNotContain("s3cret");
    }
  }

  /** Looks at a connection before it is closed. */
  private Connection pooled(Connection made) {
    return (Connection)
        Proxy.newProxyInstance(
            DocumentDatabaseTest.class.getClassLoader(),
            new Class<?>[] {Connection.class},
            (proxy, method, arguments) -> {
              if (method.getName().equals("close")
                  && !made.isClosed()
                  && (made.getAutoCommit()
                      || made.getTransactionIsolation() != Connection.TRANSACTION_SERIALIZABLE)) {
                changed.incrementAndGet();
              }
              try {
                return method.invoke(made, arguments);
              } catch (InvocationTargetException e) {
                throw e.getCause();
              }
            });
  }

  private static Connection unclosed(Connection connection) {
    return (Connection)
        Proxy.newProxyInstance(
            DocumentDatabaseTest.class.getClassLoader(),
            new Class<?>[] {Connection.class},
            (proxy, method, arguments) ->
                method.getName().equals("close") ? null : method.invoke(connection, arguments));
  }

  @Test
  void givenDataSource_thenItsConnectionsComeBackAsTheyWere() throws Exception {
    JDBCDataSource source = new JDBCDataSource();
    source.setUrl(url);
    try (Connection kept = source.getConnection()) {
      kept.setAutoCommit(false);
      DataSource pool =
          (DataSource)
              Proxy.newProxyInstance(
                  DocumentDatabaseTest.class.getClassLoader(),
                  new Class<?>[] {DataSource.class},
                  (proxy, method, arguments) -> {
                    Connection made = source.getConnection();
                    made.setTransactionIsolation(Connection.TRANSACTION_SERIALIZABLE);
                    made.setAutoCommit(false);
                    return pooled(made);
                  });
      try (LockStore store = JdbcStore.over(pool, "namespace=a");
          LockClient locks = LockClient.builder().store(store).build();
          Lease lease = locks.lock("x").acquireWithin(LONG)) {
        lease.ensureValid();
        assertThat(store.profile().display()).isEqualTo("jdbc:hsqldb:mem:" + url.substring(16));
      }
      assertThat(changed).hasValue(0);
      DataSource one =
          (DataSource)
              Proxy.newProxyInstance(
                  DocumentDatabaseTest.class.getClassLoader(),
                  new Class<?>[] {DataSource.class},
                  (proxy, method, arguments) -> unclosed(kept));
      assertThatThrownBy(() -> JdbcStore.over(one, ""))
          .isInstanceOf(StoreUnfitException.class)
          .hasMessageContaining("the same connection twice");
      assertThat(kept.getAutoCommit()).isFalse();
    }
  }
}
