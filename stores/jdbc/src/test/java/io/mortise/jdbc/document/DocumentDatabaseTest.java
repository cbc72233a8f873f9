package io.mortise.jdbc.document;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.mortise.Lease;
import io.mortise.LockClient;
import io.mortise.StoreUnavailableException;
import io.mortise.StoreUnfitException;
import io.mortise.jdbc.JdbcStore;
import io.mortise.spi.LockStore;
import io.mortise.spi.StoreReport;
import io.mortise.spi.StoreUrl;
import io.mortise.spi.time.Ticker;
import io.mortise.spi.time.WallClock;
import io.mortise.support.document.VersionedDocuments.ListedText;
import io.mortise.testkit.BoundedWait;
import java.io.PrintWriter;
import java.io.StringWriter;
import java.lang.reflect.InvocationTargetException;
import java.lang.reflect.Proxy;
import java.sql.Connection;
import java.sql.DatabaseMetaData;
import java.sql.Driver;
import java.sql.DriverManager;
import java.sql.DriverPropertyInfo;
import java.sql.PreparedStatement;
import java.sql.SQLException;
import java.sql.SQLTimeoutException;
import java.sql.Statement;
import java.time.Duration;
import java.util.List;
import java.util.Properties;
import java.util.Queue;
import java.util.UUID;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.logging.Logger;
import java.util.stream.IntStream;
import java.util.stream.Stream;
import javax.sql.DataSource;
import org.hsqldb.jdbc.JDBCDataSource;
import org.junit.jupiter.api.Test;

/** How a database without a dialect is opened, and refused. HSQLDB in memory plays most of them. */
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
        settings(LONG),
        Ticker.SYSTEM,
        WallClock.SYSTEM);
  }

  private static DocumentDatabase.Settings settings(Duration timeout) {
    return new DocumentDatabase.Settings("jdbc:x", "mortise_", "default", timeout, true);
  }

  private SqlDocuments documents(Duration timeout, DatabaseChange change) {
    return new DocumentDatabase(
            () -> change.of(DriverManager.getConnection(url)),
            false,
            settings(timeout),
            Ticker.SYSTEM,
            WallClock.SYSTEM)
        .prepare("test", 2);
  }

  /** Has the answer look at calls of prepared statements. */
  private static Connection statements(Connection connection, Answer answer) {
    return proxy(
        Connection.class,
        connection,
        (method, arguments, returned) ->
            returned instanceof PreparedStatement statement
                ? proxy(PreparedStatement.class, statement, answer)
                : returned);
  }

  /** Writes rows by hand; a text without the mark is none of Mortise. */
  private void insert(List<String> keys, String text) throws SQLException {
    try (Connection connection = DriverManager.getConnection(url);
        PreparedStatement insert =
            connection.prepareStatement("INSERT INTO mortise_document VALUES (?, ?, 1, ?)")) {
      for (String key : keys) {
        DocumentKey row = DocumentKey.of("default", key);
        insert.setString(1, row.row());
        insert.setString(2, row.name());
        insert.setString(3, text);
        insert.addBatch();
      }
      insert.executeBatch();
    }
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
                        statements(
                            connection,
                            (called, none, told) -> called.equals("executeUpdate") ? 1 : told)))
        .isInstanceOf(StoreUnfitException.class)
        .hasMessageContaining("changes a row that the condition does not meet");
  }

  @Test
  void givenConnectionsToTwoDatabases_thenTheSecondIsRefused() throws Exception {
    AtomicInteger connections = new AtomicInteger();
    String other = "jdbc:hsqldb:mem:" + UUID.randomUUID();
    LockClient.connect(other).close();
    try (Connection kept = DriverManager.getConnection(other);
        LockStore made = JdbcStore.open(other)) {
      assertThat(kept.isValid(1)).isTrue();
      assertThat(made.profile().display()).isEqualTo(other);
      assertThatThrownBy(
              () ->
                  open(
                      connection -> {
                        if (connections.getAndIncrement() == 0) {
                          return connection;
                        }
                        connection.close();
                        return DriverManager.getConnection(other);
                      }))
          .isInstanceOf(StoreUnfitException.class)
          .hasMessageContaining("lead to different servers");
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
  void givenDatabaseOfH2InMemory_whenItHasNoName_thenItIsRefused_asNoSecondConnectionReachesIt() {
    assertThatThrownBy(() -> JdbcStore.open("jdbc:h2:mem:"))
        .isInstanceOf(StoreUnfitException.class)
        .hasMessageContaining("Give a database in memory a name");
  }

  @Test
  void givenDatabaseOfH2_whenItIsNotThere_orTheUserHasNoRight_thenItIsUnfit() throws Exception {
    String h2 = "jdbc:h2:mem:" + UUID.randomUUID();
    assertThatThrownBy(() -> JdbcStore.open(h2 + ";IFEXISTS=TRUE"))
        .isInstanceOf(StoreUnfitException.class)
        .hasMessageContaining("not found");
    try (Connection admin = DriverManager.getConnection(h2);
        Statement statement = admin.createStatement()) {
      statement.execute("CREATE USER plain PASSWORD 'secret'");
      assertThatThrownBy(() -> JdbcStore.open(h2 + "?user=plain&password=wrong"))
          .isInstanceOf(StoreUnfitException.class)
          .hasMessageContaining("does not let this user in")
          .hasMessageContaining("user");
      assertThatThrownBy(() -> JdbcStore.open(h2 + "?user=plain&password=secret"))
          .isInstanceOf(StoreUnfitException.class)
          .hasMessageContaining("Grant the right");
      JdbcStore.open(h2).close();
      statement.execute("GRANT SELECT, INSERT, UPDATE, DELETE ON mortise_document TO plain");
      try (LockStore store = JdbcStore.open(h2 + "?user=plain&password=secret");
          LockClient locks = LockClient.builder().store(store).build()) {
        assertThat(BoundedWait.join(store.examine().toCompletableFuture()).mode())
            .isEqualTo("database/lazy");
        locks.lock("x").acquireWithin(LONG).close();
        statement.execute("REVOKE UPDATE ON mortise_document FROM plain");
        assertThatThrownBy(() -> locks.lock("x").tryAcquire())
            .hasMessageContaining("Not enough rights");
      }
    }
  }

  @Test
  void givenBusyTable_whenOpened_thenItIsNotTakenForMissing() throws Exception {
    try (Connection kept = DriverManager.getConnection(url);
        LockStore made = open(connection -> connection)) {
      assertThat(kept.isValid(1)).isTrue();
      assertThat(made.profile().display()).isEqualTo("jdbc:x");
      Answer locked =
          (called, none, told) -> {
            if (called.equals("executeQuery")) {
              throw new SQLTimeoutException("locked");
            }
            return told;
          };
      for (boolean create : new boolean[] {true, false}) {
        DocumentDatabase busy =
            new DocumentDatabase(
                () -> statements(DriverManager.getConnection(url), locked),
                false,
                new DocumentDatabase.Settings("jdbc:x", "mortise_", "default", LONG, create),
                Ticker.SYSTEM,
                WallClock.SYSTEM);
        assertThatThrownBy(() -> busy.prepare("test", 1))
            .isInstanceOf(StoreUnavailableException.class)
            .hasMessageContaining("busy");
      }
    }
  }

  @Test
  void givenStoreThatServedNothing_whenItIsClosed_thenNoConnectionIsLeft() throws Exception {
    JDBCDataSource source = new JDBCDataSource();
    source.setUrl(url);
    Queue<Connection> lent = new ConcurrentLinkedQueue<>();
    DataSource counting =
        proxy(
            DataSource.class,
            source,
            (method, arguments, returned) -> {
              if (returned instanceof Connection connection) {
                lent.add(connection);
              }
              return returned;
            });
    JdbcStore.over(counting, "").close();
    assertThat(lent).hasSizeGreaterThan(2).allMatch(DocumentDatabaseTest::isClosed);
  }

  private static boolean isClosed(Connection connection) {
    try {
      return connection.isClosed();
    } catch (SQLException e) {
      throw new AssertionError(e);
    }
  }

  @Test
  void givenConnectsThatNeverEnd_whenTheServerIsWellAgain_thenItIsConnectedTo() throws Exception {
    CountDownLatch end = new CountDownLatch(1);
    AtomicBoolean hangs = new AtomicBoolean();
    List<Connection> made = new CopyOnWriteArrayList<>();
    try (Connection kept = DriverManager.getConnection(url);
        SqlDocuments documents =
            documents(
                Duration.ofMillis(200),
                connection -> {
                  if (hangs.get()) {
                    awaitUnchecked(end);
                  }
                  made.add(connection);
                  return connection;
                })) {
      assertThat(kept.isValid(1)).isTrue();
      hangs.set(true);
      made.get(0).close();
      BoundedWait.until(
          Duration.ofSeconds(60),
          "a connect hangs",
          () -> failure(documents).contains("gave no connection"));
      hangs.set(false);
      BoundedWait.until(
          Duration.ofSeconds(60), "connected again", () -> failure(documents).isEmpty());
    } finally {
      end.countDown();
    }
  }

  private static void awaitUnchecked(CountDownLatch latch) {
    try {
      latch.await();
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
    }
  }

  /** The message of a failed read; empty if it succeeds. */
  private static String failure(SqlDocuments documents) {
    try {
      BoundedWait.join(documents.read("lock/a"));
      return "";
    } catch (RuntimeException | AssertionError e) {
      StringWriter trace = new StringWriter();
      e.printStackTrace(new PrintWriter(trace));
      return trace.toString();
    }
  }

  @Test
  void givenConnectionThatBreaksAfterTheChecks_thenTheFirstReadTakesAnother() throws Exception {
    List<Connection> made = new CopyOnWriteArrayList<>();
    try (Connection kept = DriverManager.getConnection(url);
        SqlDocuments documents =
            documents(
                LONG,
                connection -> {
                  made.add(connection);
                  return connection;
                })) {
      assertThat(kept.isValid(1)).isTrue();
      assertThat(made).hasSize(1);
      made.get(0).close();
      assertThat(BoundedWait.join(documents.read("lock/a")).text()).isNull();
      assertThat(made).hasSize(2);
    }
  }

  @Test
  void givenPrefix_thenTheTextsOfOtherLocksAreNotRead() throws Exception {
    try (SqlDocuments documents = documents(LONG, connection -> connection)) {
      List<String> wanted = List.of("lock/a/1", "lock/a/2");
      insert(wanted, AsciiText.encode("text"));
      insert(List.of("lock/b", "lock/c/1"), "unreadable");
      for (String prefix : List.of("lock/a", "lock/a/")) {
        List<ListedText> listed = BoundedWait.join(documents.scanTexts(prefix, "", 10));
        assertThat(listed).extracting(ListedText::key).containsExactlyInAnyOrderElementsOf(wanted);
        assertThat(listed).allSatisfy(each -> assertThat(each.found().text()).isEqualTo("text"));
      }
    }
  }

  @Test
  void givenManyLocks_whenAPrefixIsListed_thenTheTimeoutBoundsEachPage_andNotAll()
      throws Exception {
    List<String> keys = IntStream.range(0, 2_500).mapToObj(i -> "lock/n" + i).toList();
    Duration pause = Duration.ofMillis(700);
    try (SqlDocuments documents = documents(LONG, connection -> connection);
        SqlDocuments slow =
            documents(
                Duration.ofSeconds(2),
                connection ->
                    statements(
                        connection,
                        (called, none, told) -> {
                          if (called.equals("setMaxRows")) {
                            BoundedWait.pass(pause);
                          }
                          return told;
                        }))) {
      insert(keys, AsciiText.encode("text"));
      assertThat(BoundedWait.join(slow.scan("lock/none", "", 10))).isEmpty();

      List<ListedText> first = BoundedWait.join(documents.scanTexts("lock/n", "", 2_000));
      List<ListedText> rest =
          BoundedWait.join(documents.scanTexts("lock/n", first.get(1_999).key(), 2_000));
      assertThat(first).hasSize(2_000);
      assertThat(Stream.concat(first.stream(), rest.stream()))
          .allSatisfy(each -> assertThat(each.found().text()).isEqualTo("text"))
          .extracting(ListedText::key)
          .containsExactlyInAnyOrderElementsOf(keys);
    }
  }

  /** A driver that reaches nothing. */
  private static final class UnreachableDriver implements Driver {
    @Override
    public Connection connect(String url, Properties properties) throws SQLException {
      if (!acceptsURL(url)) {
        return null;
      }
      throw new SQLException("nobody answers", "08001");
    }

    @Override
    public boolean acceptsURL(String url) {
      return url.startsWith("jdbc:oracle:");
    }

    @Override
    public DriverPropertyInfo[] getPropertyInfo(String url, Properties properties) {
      return new DriverPropertyInfo[0];
    }

    @Override
    public int getMajorVersion() {
      return 1;
    }

    @Override
    public int getMinorVersion() {
      return 0;
    }

    @Override
    public boolean jdbcCompliant() {
      return false;
    }

    @Override
    public Logger getParentLogger() {
      return Logger.getGlobal();
    }
  }

  @Test
  void givenUrlOfOracle_thenTheStoreIsCalledByHostAndDatabase_withoutASecret() throws Exception {
    Driver driver = new UnreachableDriver();
    DriverManager.registerDriver(driver);
    try {
      for (String shown :
          List.of("jdbc:oracle:thin:@//db.example:1521/one", "jdbc:oracle:thin:@two")) {
        assertThatThrownBy(() -> JdbcStore.open(shown + "?user=app&password=hunter2"))
            .isInstanceOf(StoreUnavailableException.class)
            .hasMessageContaining("(store=" + shown + ")");
      }
      for (String hidden :
          List.of(
              "app/hunter2@//db.example:1521/one",
              "app/hunter2@two",
              "@app/hunter2@two",
              "@//app:hunter2@two",
              "@(DESCRIPTION=(PASSWORD=hunter2))")) {
        assertThatThrownBy(() -> JdbcStore.open("jdbc:oracle:thin:" + hidden))
            .isInstanceOf(StoreUnavailableException.class)
            .hasMessageContaining("(store=jdbc:oracle:(data source))")
            .message()
            .doesNotContain("app", "hunter2");
      }
    } finally {
      DriverManager.deregisterDriver(driver);
    }
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
    assertThatThrownBy(() -> JdbcStore.open(url + "?timeout=3s&max-in-flight=4s"))
        .isInstanceOf(IllegalArgumentException.class)
        .hasMessageContaining("'timeout' and 'max-in-flight'");
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
