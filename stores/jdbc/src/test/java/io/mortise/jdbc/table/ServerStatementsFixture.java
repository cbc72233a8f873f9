package io.mortise.jdbc.table;

import static io.mortise.jdbc.table.TestTables.NAMESPACE;
import static io.mortise.jdbc.table.TestTables.lock;
import static io.mortise.jdbc.table.TestTables.notifications;
import static io.mortise.jdbc.table.TestTables.pairs;
import static io.mortise.jdbc.table.TestTables.session;
import static io.mortise.jdbc.table.TestTables.waiter;
import static org.assertj.core.api.Assertions.assertThat;

import io.mortise.HoldTerms;
import io.mortise.LockName;
import io.mortise.jdbc.MySqlServers;
import io.mortise.jdbc.PostgresServers;
import io.mortise.jdbc.dialect.Dialect;
import io.mortise.jdbc.dialect.MariaDbDialect;
import io.mortise.jdbc.dialect.MySqlDialect;
import io.mortise.jdbc.dialect.PostgresDialect;
import io.mortise.jdbc.table.ContendedRequest.ContendedOutcome;
import io.mortise.jdbc.table.LockRepository.BatchedRequest;
import io.mortise.jdbc.table.LockRepository.TokenRange;
import io.mortise.spi.AttemptId;
import io.mortise.spi.Mode;
import io.mortise.spi.Request;
import io.mortise.spi.SessionId;
import io.mortise.spi.SessionNotification;
import io.mortise.support.table.LockRecord;
import io.mortise.support.table.LockTable;
import java.sql.Connection;
import java.sql.DriverManager;
import java.sql.SQLException;
import java.sql.Statement;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Properties;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Assumptions;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.params.BeforeParameterizedClassInvocation;
import org.junit.jupiter.params.Parameter;

/**
 * Common part of the tests of statements on a server: rows of one lock beside those of others, and
 * their state by the rules. A step counts from the time that it leaves in the row.
 */
abstract class ServerStatementsFixture {
  static final LockName NAME = LockName.of("lock");
  static final AttemptId ATTEMPT = new AttemptId(new SessionId("sessionAaaaa"), 1);
  static final AttemptId OLD = new AttemptId(new SessionId("sessionAaaaa"), 2);
  static final AttemptId OTHER = new AttemptId(new SessionId("sessionBbbbb"), 3);
  static final AttemptId THIRD = new AttemptId(new SessionId("sessionCcccc"), 4);
  static final AttemptId DEAD = new AttemptId(new SessionId("sessionDdddd"), 5);
  static final AttemptId VAIN = new AttemptId(new SessionId("sessionBbbbb"), 6);
  static final long NEVER = Long.MAX_VALUE;
  static final long MINUTE = 60_000_000;
  static final long LEAD = LockTable.TOKEN_LEAD_MICROS;
  static final int WHOLE = Mode.SHARERS;
  static final HoldTerms TERMS =
      new HoldTerms(Duration.ofSeconds(300), Duration.ofSeconds(200), "after");

  @Parameter String database;
  TestTables tables;
  StoreConnection storeConnection;

  /** When the test began. */
  long now;

  Map<String, Object> other;
  Map<String, Object> elsewhere;
  final List<SessionNotification> told = new ArrayList<>();

  /** Only the named database, or all; MySQL with the extended tests. */
  @BeforeParameterizedClassInvocation
  static void skipOthers(String database) {
    String only = System.getProperty("mortise.database");
    // MariaDB's statements are mostly the same.
    boolean isExtended = database.equals("mysql") && !Boolean.getBoolean("mortise.ci");
    Assumptions.assumeTrue(only == null ? !isExtended : only.equals(database));
  }

  @BeforeEach
  void makeTables() throws SQLException {
    Connection connection = connect();
    tables = new TestTables(connection, dialect().folders().toArray(new String[0]));
    storeConnection = storeConnection(connection);
    now = (long) tables.column("now").get(0);
    for (AttemptId alive : List.of(ATTEMPT, OTHER, THIRD)) {
      tables.put(
          "session", with(session(alive.session().value(), 1, now + MINUTE), "ttl_us", MINUTE));
    }
    tables.put("session", session(DEAD.session().value(), 1, now - MINUTE));
    other = tables.put("lock", with(held(OTHER), "name", "other"));
    elsewhere = tables.put("lock", with(held(OTHER), "namespace", "two"));
  }

  private Dialect dialect() {
    return switch (database) {
      case "postgresql" -> new PostgresDialect();
      case "mysql" -> new MySqlDialect();
      default -> new MariaDbDialect();
    };
  }

  /** On a connection that is set up for it. */
  StoreConnection storeConnection(Connection connection) throws SQLException {
    Dialect dialect = dialect();
    dialect.setUp(connection, "the test's store", Duration.ofSeconds(8));
    return dialect.storeConnection(connection, tables.text, NAMESPACE, session -> false);
  }

  Connection connect() throws SQLException {
    if (database.equals("postgresql")) {
      return DriverManager.getConnection(PostgresServers.V18.shared().url());
    }
    Properties properties = new Properties();
    properties.setProperty("allowMultiQueries", "true");
    properties.setProperty("allowPublicKeyRetrieval", "true");
    MySqlServers server = database.equals("mysql") ? MySqlServers.MYSQL : MySqlServers.MARIADB;
    return DriverManager.getConnection(
        server.url().replaceFirst("^jdbc:mysql:", "jdbc:mariadb:"), properties);
  }

  /** The server's own, for a store. */
  String url() {
    return switch (database) {
      case "postgresql" -> PostgresServers.V18.shared().url();
      case "mysql" -> MySqlServers.MYSQL.url();
      default -> MySqlServers.MARIADB.url();
    };
  }

  static void execute(Connection on, String sql) throws SQLException {
    try (Statement statement = on.createStatement()) {
      statement.execute(sql);
    }
  }

  @AfterEach
  void close() throws SQLException {
    tables.close();
  }

  boolean isPostgres() {
    return database.equals("postgresql");
  }

  Map<String, Object> free(Object... changes) {
    return with(
        lock(NAMESPACE, "lock", "capacity", WHOLE, "closed_us", now - MINUTE, "shut_us", 0),
        changes);
  }

  Map<String, Object> held(AttemptId owner, Object... changes) {
    return with(free("used", WHOLE, "owner", owner.encoded(), "free_us", NEVER), changes);
  }

  List<Map<String, Object>> notFree() {
    return List.of(
        free("used", 1),
        free("waiters", 1),
        free("closed_us", now + MINUTE),
        free("capacity", WHOLE + 1),
        free("ended", ATTEMPT.encoded()));
  }

  static Request.Acquire acquire(HoldTerms terms, int tokens, long floor) {
    return new Request.Acquire(NAME, ATTEMPT, Mode.EXCLUSIVE, true, terms, tokens, floor, null);
  }

  static Request.Acquire acquire() {
    return acquire(HoldTerms.NONE, 5, 3);
  }

  /** Nobody has ever asked for the lock. */
  void remove() throws SQLException {
    tables.execute(
        "DELETE FROM " + tables.text.table("lock") + " WHERE namespace = 'one' AND name = 'lock'");
  }

  void only(Map<String, Object> lock) throws SQLException {
    remove();
    tables.put("lock", lock);
  }

  /** The lock, when no other was changed. */
  Map<String, Object> changed() throws SQLException {
    List<Map<String, Object>> all = tables.all("lock");
    assertThat(all).hasSize(3).contains(other, elsewhere);
    all.remove(other);
    all.remove(elsewhere);
    return all.get(0);
  }

  /** The time of the statement that changed the lock, when the test knows that it is right. */
  long time() throws SQLException {
    long time = (long) changed().get("touched_us");
    assertThat(time).isBetween(now, (long) tables.column("now").get(0));
    return time;
  }

  void assertUnchanged(Map<String, Object> lock) throws SQLException {
    tables.assertAll("lock", lock, other, elsewhere);
  }

  /** The row of a lock after a grant, by the rules. */
  Map<String, Object> granted(Map<String, Object> lock, Request.Acquire request, long time) {
    long token = Math.max(Math.max((long) lock.get("last_token") + 1, time), request.tokenFloor());
    long tokens = Math.min(request.tokens(), Math.max(1, time + LEAD - token));
    Duration atMost = request.terms().atMost();
    Duration atLeast = request.terms().atLeast();
    return with(
        lock,
        "owner",
        request.attempt().encoded(),
        "used",
        lock.get("capacity"),
        "token",
        token,
        "tokens",
        tokens,
        "last_token",
        token + tokens - 1,
        "since_us",
        time,
        "free_us",
        atMost == null ? NEVER : time + LockRecord.micros(atMost),
        "shut_us",
        atLeast == null ? 0 : time + LockRecord.micros(atLeast),
        "label",
        request.terms().label(),
        "told",
        0,
        "evicted",
        0,
        "touched_us",
        time);
  }

  static Map<String, Object> released(Map<String, Object> lock, AttemptId attempt) {
    return with(
        lock,
        "closed_us",
        Math.max((long) lock.get("closed_us"), (long) lock.get("shut_us")),
        "ended",
        attempt.encoded(),
        "ended_was",
        "HELD",
        "ended_how",
        "RELEASED");
  }

  /** As {@link #released}, and nobody has it now. */
  Map<String, Object> vacated(Map<String, Object> lock, AttemptId attempt) {
    return with(
        released(lock, attempt), "owner", isPostgres() ? null : attempt.encoded(), "used", 0);
  }

  /** The last holder is still in the row, as on MySQL and MariaDB. */
  List<Map<String, Object>> left(AttemptId owner) {
    return isPostgres() ? List.of() : List.of(held(owner, "used", 0));
  }

  static TokenRange block(Map<String, Object> lock) {
    return new TokenRange((long) lock.get("token"), (int) (long) lock.get("tokens"));
  }

  void taken(Map<String, Object> lock, Request.Acquire request) throws SQLException {
    only(lock);
    TokenRange tokenRange = storeConnection.repository.acquireFast(request, () -> now);
    Map<String, Object> expected = granted(lock, request, time());
    assertThat(changed()).isEqualTo(expected);
    assertThat(tokenRange).isEqualTo(block(expected));
  }

  /** First by its time, then altogether. */
  void endSession() throws SQLException {
    String id = ATTEMPT.session().value();
    Map<String, Object> session = tables.query("session_select", "session", id).get(0);
    tables.update("session_delete", "session", id);
    if ((long) session.get("expires_us") > now) {
      tables.put("session", session(id, 1, now - 1));
    } else {
      tables.put("session", session("elsewhereAaa", 1, now - 1));
      tables.put("session", session(id.substring(0, 11), 1, now + MINUTE));
    }
  }

  void retaken(Map<String, Object> lock, Request.Acquire request) throws SQLException {
    only(lock);
    TokenRange tokenRange = retake(request);
    Map<String, Object> expected = granted(released(lock, OLD), request, time());
    assertThat(changed()).isEqualTo(expected);
    assertThat(tokenRange).isEqualTo(block(expected));
  }

  /** A release and the acquire behind it; null if nothing was changed. */
  @Nullable TokenRange retake(Request.Acquire request) throws SQLException {
    TokenRange taken =
        storeConnection
            .repository
            .executeBatch(List.of(new BatchedRequest(request, OLD, false)))
            .get(request.attempt().encoded());
    return taken == null || taken.tokens() == 0 ? null : taken;
  }

  /** As it stands in the queue, for the whole lock. */
  Map<String, Object> waits(AttemptId attempt, long ticket, Object... changes) {
    return with(
        waiter(NAMESPACE, "lock", attempt.encoded(), ticket),
        with(
            Map.of(
                "weight", WHOLE,
                "tokens", 5,
                "token_floor", 3,
                "at_most_us", -1,
                "at_least_us", -1,
                "label", ""),
            changes));
  }

  static Map<String, Object> with(Map<String, Object> row, Object... changes) {
    return TestTables.with(row, changes);
  }

  static Map<String, Object> with(Map<String, Object> row, Map<String, Object> changes) {
    return TestTables.with(row, pairs(changes));
  }

  void queue(List<Map<String, Object>> waiters) throws SQLException {
    tables.execute("DELETE FROM " + tables.text.table("wait"));
    tables.execute("DELETE FROM " + tables.text.table("news"));
    told.clear();
    // Those of others, who would come first.
    tables.put("wait", with(waits(DEAD, 0), "name", "other"));
    tables.put("wait", with(waits(DEAD, 0), "namespace", "two"));
    for (Map<String, Object> waiter : waiters) {
      tables.put("wait", waiter);
    }
  }

  List<Map<String, Object>> queue() throws SQLException {
    return tables.all("wait").stream()
        .filter(waiter -> !waiter.get("attempt").equals(DEAD.encoded()) || isMine(waiter))
        .toList();
  }

  static boolean isMine(Map<String, Object> waiter) {
    return waiter.get("namespace").equals(NAMESPACE) && waiter.get("name").equals("lock");
  }

  List<Map<String, Object>> newsWithoutIds() throws SQLException {
    List<Map<String, Object>> notifications = tables.all("news");
    notifications.forEach(each -> each.remove("id"));
    return notifications;
  }

  static Map<String, Object> grantedNews(Map<String, Object> lock) {
    Map<String, Object> notifications =
        notifications(
            0,
            ((String) lock.get("owner")).substring(0, 12),
            "granted",
            (String) lock.get("owner"),
            "token",
            lock.get("token"),
            "tokens",
            lock.get("tokens"),
            "flag",
            (long) lock.get("told") & 1,
            "timed",
            lock.get("free_us").equals(NEVER) ? 0 : 1);
    notifications.remove("id");
    return notifications;
  }

  void handedOver(Map<String, Object> lock, List<Map<String, Object>> waiters, Request.Acquire heir)
      throws SQLException {
    only(lock);
    queue(waiters);
    tables.put("news", notifications(1_000_001, OLD.session().value(), "wanted", OLD.encoded()));
    Map<String, Object> gone =
        tables.put("news", notifications(1_000_002, OLD.session().value(), "gone", OLD.encoded()));
    Map<String, Object> strangers =
        tables.put(
            "news", notifications(1_000_003, OLD.session().value(), "wanted", ATTEMPT.encoded()));
    gone.remove("id");
    strangers.remove("id");
    assertThat(
            ContendedRequestRunner.handOff(
                storeConnection.repository, new Request.Abandon(NAME, OLD), told::add))
        .isTrue();
    long left = waiters.size() - 1L;
    Map<String, Object> expected =
        with(granted(released(lock, OLD), heir, time()), "told", left > 0 ? 3 : 2, "waiters", left);
    assertThat(changed()).isEqualTo(expected);
    assertThat(queue())
        .containsExactlyElementsOf(
            waiters.stream()
                .filter(waiter -> !waiter.get("attempt").equals(heir.attempt().encoded()))
                .toList());
    assertThat(newsWithoutIds()).containsExactlyInAnyOrder(gone, strangers, grantedNews(expected));
    assertThat(told)
        .containsExactly(
            new SessionNotification.HoldGranted(
                NAME,
                heir.attempt(),
                (long) expected.get("token"),
                (int) (long) expected.get("tokens"),
                left > 0,
                heir.terms().atMost() != null));
  }

  void notHandedOver(Map<String, Object> lock, List<Map<String, Object>> waiters)
      throws SQLException {
    only(lock);
    queue(waiters);
    Map<String, Object> notifications =
        tables.put(
            "news", notifications(1_000_001, OLD.session().value(), "wanted", OLD.encoded()));
    assertThat(
            ContendedRequestRunner.handOff(
                storeConnection.repository, new Request.Abandon(NAME, OLD), told::add))
        .as(lock.toString())
        .isFalse();
    assertUnchanged(lock);
    assertThat(queue()).containsExactlyElementsOf(waiters);
    tables.assertAll("news", notifications);
    assertThat(told).isEmpty();
  }

  void takenInQueue(Map<String, Object> lock, Request.Acquire request) throws SQLException {
    only(lock);
    queue(List.of());
    ContendedOutcome outcome =
        ContendedRequestRunner.queueUp(storeConnection.repository, request, told::add);
    Map<String, Object> expected = granted(lock, request, time());
    assertThat(changed()).isEqualTo(expected);
    assertThat(outcome.taken()).isEqualTo(block(expected));
    assertThat(queue()).isEmpty();
    assertThat(tables.all("news")).isEmpty();
    assertThat(told).isEmpty();
  }

  void notQueued(Map<String, Object> lock, List<Map<String, Object>> waiters) throws SQLException {
    only(lock);
    queue(waiters);
    assertThat(ContendedRequestRunner.queueUp(storeConnection.repository, acquire(), told::add))
        .as(lock.toString())
        .isNull();
    assertUnchanged(lock);
    assertThat(queue()).containsExactlyElementsOf(waiters);
    assertThat(tables.all("news")).isEmpty();
    assertThat(told).isEmpty();
  }

  void setSession(AttemptId attempt, long expires) throws SQLException {
    String id = attempt.session().value();
    tables.update("session_delete", "session", id);
    tables.put("session", with(session(id, 1, expires), "ttl_us", MINUTE));
  }

  void queued(
      Map<String, Object> lock,
      Request.Acquire request,
      List<Map<String, Object>> waiters,
      long soonest)
      throws SQLException {
    only(lock);
    queue(waiters);
    ContendedOutcome outcome =
        ContendedRequestRunner.queueUp(storeConnection.repository, request, told::add);
    long before = (long) lock.get("told");
    long ticket = (long) lock.get("next_ticket");
    long time = time();
    assertThat(changed())
        .isEqualTo(
            with(
                lock,
                "waiters",
                (long) lock.get("waiters") + 1,
                "next_ticket",
                ticket + 1,
                "told",
                (before & 1) == 1 ? before : 3,
                "touched_us",
                time));
    List<Map<String, Object>> expected = new ArrayList<>(waiters);
    expected.add(
        waits(
            ATTEMPT,
            ticket,
            "tokens",
            request.tokens(),
            "token_floor",
            request.tokenFloor(),
            "at_most_us",
            WaitRow.length(request.terms().atMost()),
            "at_least_us",
            WaitRow.length(request.terms().atLeast()),
            "label",
            request.terms().label(),
            "since_us",
            time));
    assertThat(queue()).containsExactlyInAnyOrderElementsOf(expected);
    long ahead = waiters.size();
    Map<String, Object> holder =
        tables.query("session_select", "session", OTHER.session().value()).get(0);
    assertThat(outcome)
        .isEqualTo(
            new ContendedOutcome(
                null,
                OTHER.encoded(),
                (long) lock.get("token"),
                Math.min((long) holder.get("expires_us") - time, MINUTE),
                (long) lock.get("free_us"),
                ahead,
                ahead == 0 ? outcome.soonest() : soonest,
                time));
    Map<String, Object> wanted =
        notifications(
            0,
            OTHER.session().value(),
            "wanted",
            OTHER.encoded(),
            "token",
            0,
            "tokens",
            0,
            "flag",
            0);
    wanted.remove("id");
    if ((before & 1) == 1) {
      assertThat(tables.all("news")).isEmpty();
      assertThat(told).isEmpty();
    } else {
      assertThat(newsWithoutIds()).containsExactly(wanted);
      assertThat(told).containsExactly(new SessionNotification.Contended(NAME, OTHER));
    }
  }

  /**
   * Beside two others, of which one is served and one is not; on MySQL also as locks that are known
   * to have rows, of which none is taken whose tokens are ahead of time.
   */
  void together(Map<String, Object> lock, BatchedRequest batchedRequest, boolean served)
      throws SQLException {
    Request.Acquire vain = acquire(VAIN, Mode.EXCLUSIVE, HoldTerms.NONE, 2);
    together(
        lock,
        batchedRequest,
        new BatchedRequest(vain, null, true),
        served,
        batchedRequests -> storeConnection.repository.executeBatch(batchedRequests));
    if (!database.equals("mysql")) {
      return;
    }
    MySqlLockRepository repository = (MySqlLockRepository) storeConnection.repository;
    if (batchedRequest.request() instanceof Request.Acquire acquire) {
      if (acquire.tokenFloor() > FAR || acquire.terms().atMost() != null) {
        return;
      }
      if ((long) lock.get("last_token") > now) {
        lock = with(lock, "last_token", now + MINUTE);
        served = false;
      }
      AttemptId attempt = new AttemptId(acquire.attempt().session(), VAIN.number());
      vain = acquire(attempt, acquire.mode(), acquire.terms(), acquire.tokens());
      Request.Acquire known =
          new Request.Acquire(
              acquire.name(),
              acquire.attempt(),
              acquire.mode(),
              true,
              acquire.terms(),
              acquire.tokens(),
              0,
              null);
      batchedRequest = new BatchedRequest(known, batchedRequest.old(), false);
    } else {
      batchedRequest = new BatchedRequest(batchedRequest.request(), null, false);
    }
    together(
        lock,
        batchedRequest,
        new BatchedRequest(vain, null, false),
        served,
        batchedRequests -> known(repository, batchedRequests));
  }

  /** A floor above what a token of no floor may be. */
  private static final long FAR = 1_000;

  private static Request.Acquire acquire(
      AttemptId attempt, Mode mode, HoldTerms terms, int tokens) {
    return new Request.Acquire(LockName.of("nate"), attempt, mode, true, terms, tokens, 0, null);
  }

  private static Map<String, TokenRange> known(
      MySqlLockRepository repository, List<BatchedRequest> batchedRequests) throws SQLException {
    List<BatchedRequest> sorted = new ArrayList<>(batchedRequests);
    sorted.sort(Comparator.comparing(each -> each.request().name()));
    return repository.serveUniform(Objects.requireNonNull(UniformBatch.of(sorted)), sorted);
  }

  @FunctionalInterface
  private interface BatchStatement {
    Map<String, TokenRange> serve(List<BatchedRequest> batchedRequests) throws SQLException;
  }

  private void together(
      Map<String, Object> lock,
      BatchedRequest batchedRequest,
      BatchedRequest vain,
      boolean served,
      BatchStatement batchStatement)
      throws SQLException {
    only(lock);
    Map<String, Object> mate = tables.put("lock", with(held(THIRD), "name", "mate"));
    Map<String, Object> taken = tables.put("lock", with(held(DEAD), "name", "nate"));
    Map<String, TokenRange> done =
        batchStatement.serve(
            List.of(
                new BatchedRequest(
                    new Request.Abandon(LockName.of("mate"), THIRD), null, vain.isNew()),
                vain,
                batchedRequest));
    List<Map<String, Object>> after = tables.all("lock");
    tables.execute("DELETE FROM " + tables.text.table("lock") + " WHERE name IN ('mate', 'nate')");
    assertThat(after).contains(taken);
    Map<String, Object> freed =
        after.stream().filter(each -> each.get("name").equals("mate")).findFirst().orElseThrow();
    assertThat(with(freed, "since_us", 0))
        .isEqualTo(
            with(vacated(mate, THIRD), "since_us", 0, "touched_us", freed.get("touched_us")));
    assertThat(done).containsEntry(THIRD.encoded(), new TokenRange(0, 0));
    assertThat(done).doesNotContainKey(vain.request().attempt().encoded());
    String attempt = batchedRequest.request().attempt().encoded();
    if (!served) {
      assertUnchanged(lock);
      if (batchedRequest.request() instanceof Request.Acquire) {
        assertThat(done.getOrDefault(attempt, new TokenRange(0, 0)).tokens())
            .as(lock + "")
            .isZero();
      } else {
        assertThat(done).as(lock.toString()).doesNotContainKey(attempt);
      }
      return;
    }
    long time = time();
    Map<String, Object> expected =
        batchedRequest.old() == null ? lock : released(lock, batchedRequest.old());
    if (batchedRequest.request() instanceof Request.Acquire acquire) {
      expected = granted(expected, acquire, time);
      assertThat(done).containsEntry(attempt, block(expected));
    } else {
      // Since when it is held says nothing where nobody holds it.
      Object since = changed().get("since_us");
      expected = with(vacated(lock, ATTEMPT), "since_us", since, "touched_us", time);
      assertThat(done).containsEntry(attempt, new TokenRange(0, 0));
    }
    assertThat(changed()).isEqualTo(expected);
  }

  void begin() throws SQLException {
    storeConnection.begin(LockRepository.PrefetchTarget.of(acquire()));
  }
}
