package io.mortise.jdbc.table;

import static io.mortise.jdbc.table.TestTables.NAMESPACE;
import static io.mortise.jdbc.table.TestTables.asking;
import static io.mortise.jdbc.table.TestTables.hold;
import static io.mortise.jdbc.table.TestTables.lock;
import static io.mortise.jdbc.table.TestTables.waiter;
import static org.assertj.core.api.Assertions.assertThat;

import io.mortise.HoldTerms;
import io.mortise.jdbc.PostgresServers;
import io.mortise.spi.AttemptId;
import io.mortise.spi.Mode;
import io.mortise.spi.Request;
import io.mortise.spi.SessionId;
import io.mortise.spi.SessionNotification;
import io.mortise.support.table.LockTable;
import java.sql.Connection;
import java.sql.DriverManager;
import java.sql.PreparedStatement;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.sql.Statement;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedClass;
import org.junit.jupiter.params.provider.ValueSource;

/**
 * As {@link ServerStatementsTest}, for PostgreSQL alone: hints to other processes, and the server's
 * settings as a connection reads them. Also for blocks of tokens that are cut short, and for a lock
 * with more holders than a step reads.
 */
@ParameterizedClass
@ValueSource(strings = "postgresql")
class PostgresStatementsTest extends ServerStatementsFixture {
  private static final String LAST = "last";

  /** More tokens than there ever may be left. */
  private static final long MANY = 2 * LEAD;

  private static final int CROWD = LockTable.STEPS + 6;
  private static final Duration BOUND = Duration.ofSeconds(8);

  private Connection listening;

  @BeforeEach
  void listen() throws SQLException {
    listening = connect();
    for (AttemptId alive : List.of(ATTEMPT, OTHER, THIRD)) {
      execute(listening, "LISTEN \"" + PostgresNotificationCodec.channel(alive.session()) + "\"");
    }
    execute(listening, "LISTEN " + LAST);
  }

  @AfterEach
  void listenNoMore() throws SQLException {
    listening.close();
  }

  private Map<String, Object> held(String name, Object... changes) {
    return with(
        with(
            lock(NAMESPACE, name, "capacity", WHOLE, "used", WHOLE),
            "owner",
            OTHER.encoded(),
            "free_us",
            Long.MAX_VALUE,
            "shut_us",
            0,
            "closed_us",
            0),
        changes);
  }

  private void alone(Map<String, Object> lock) throws SQLException {
    for (String table : List.of("lock", "wait", "hold", "news")) {
      tables.execute("DELETE FROM " + tables.text.table(table));
    }
    tables.put("lock", lock);
  }

  /** The notifications since the last call. */
  private List<String> hints() throws SQLException {
    return PostgresNotificationRecorder.heard(tables.connection, listening, LAST, BOUND).stream()
        .map(one -> one.getName() + " " + one.getParameter())
        .toList();
  }

  private static String hint(SessionNotification sessionNotification) {
    return PostgresNotificationCodec.channel(sessionNotification.attempt().session())
        + " "
        + PostgresNotificationCodec.encode(sessionNotification);
  }

  private static Request.Acquire acquire(AttemptId attempt) {
    return new Request.Acquire(NAME, attempt, Mode.EXCLUSIVE, true, HoldTerms.NONE, 5, 3, null);
  }

  @Test
  void givenHeldLock_whenTheFirstJoinsItsQueue_thenTheHolderHearsUnlessItKnewWhenGranted()
      throws SQLException {
    String wanted = hint(new SessionNotification.Contended(NAME, OTHER));
    for (int told = 0; told < 4; told++) {
      alone(held("lock", "told", told));
      // Of others nobody hears, though they may have been told.
      tables.put("lock", held("other", "told", 3));
      assertThat(
              ContendedRequestRunner.queueUp(
                  storeConnection.repository, acquire(ATTEMPT), sessionNotification -> {}))
          .isNotNull();
      if (told == HoldRow.TOLD) {
        assertThat(hints()).as("it was granted with it").isEmpty();
      } else {
        assertThat(hints()).as("told %s", told).containsExactly(wanted);
      }
      assertThat(
              ContendedRequestRunner.queueUp(
                  storeConnection.repository, acquire(THIRD), sessionNotification -> {}))
          .isNotNull();
      assertThat(hints()).as("another is first").isEmpty();
    }
    alone(with(held("lock"), "owner", new AttemptId(ATTEMPT.session(), 7).encoded()));
    assertThat(
            ContendedRequestRunner.queueUp(
                storeConnection.repository, acquire(ATTEMPT), sessionNotification -> {}))
        .isNotNull();
    assertThat(hints()).as("it is of the same process").isEmpty();
  }

  @Test
  void givenLockThatAnotherHas_whenReleasedOnceMore_thenTheHolderHearsNothing()
      throws SQLException {
    Request.Abandon abandon = new Request.Abandon(NAME, ATTEMPT);
    Map<String, Object> released = held("lock", "ended", ATTEMPT.encoded());
    for (Map<String, Object> lock :
        List.of(
            with(released, "told", 0),
            with(released, "told", 1),
            held("lock", "told", 3),
            held("lock", "told", 2, "ended", THIRD.encoded()))) {
      alone(lock);
      assertThat(
              ContendedRequestRunner.handOff(
                  storeConnection.repository, abandon, sessionNotification -> {}))
          .isFalse();
      assertThat(hints()).as(lock.toString()).isEmpty();
    }
    // After a lost answer the request is sent again; the notification may be lost as well.
    alone(with(released, "told", 2, "token", 7, "tokens", 8));
    assertThat(
            ContendedRequestRunner.handOff(
                storeConnection.repository, abandon, sessionNotification -> {}))
        .isFalse();
    assertThat(hints())
        .containsExactly(
            hint(new SessionNotification.HoldGranted(NAME, OTHER, 7, 8, false, false)));
  }

  /**
   * Of a block that is cut short, as many are given as are counted. More are wished for than anyone
   * may, so that it is cut however long the test takes.
   */
  @Test
  void givenCounterFarAhead_whenMoreIsWishedForThanIsLeft_thenTheBlockEndsWhereTokensMayBe()
      throws SQLException {
    for (String name :
        List.of(
            "acquire_fast",
            "exchange",
            "queue_up",
            "hand_off",
            "together_acquire",
            "exchange all")) {
      cutShort(name, halfAhead(), 0);
      cutShort(name, 0, halfAhead());
      cutShort(name, 0, 0);
    }
  }

  @Test
  void givenNewLocks_whenMadeTogether_thenInOrderOfName_andWhatIsThereStaysAsItIs()
      throws SQLException {
    only(held(OTHER));
    assertThat(made(MANY)).isEmpty();
    assertThat(made(1)).containsExactly(THIRD.encoded(), ATTEMPT.encoded());
    tables.execute("DELETE FROM " + tables.text.table("lock") + " WHERE name LIKE 'new%'");
    assertUnchanged(held(OTHER));
  }

  private List<String> made(long tokens) throws SQLException {
    List<String> made = new ArrayList<>();
    try (NamedStatement namedStatement = tables.statement("together_new")) {
      namedStatement
          .set("names", "text", new String[] {"new b", "lock", "new a"})
          .set("attempts", "text", attempts(ATTEMPT, VAIN, THIRD))
          .set("sessions", "text", sessions(ATTEMPT, VAIN, THIRD))
          .set("labels", "text", new String[0])
          .set("capacities", "int8", new Long[] {1L, 1L, 1L})
          .set("token_counts", "int8", new Long[] {tokens, tokens, tokens})
          .set("token_floors", "int8", new Long[0])
          .set("at_most_us", "int8", new Long[0])
          .set("at_least_us", "int8", new Long[0])
          .run(
              (result, rows) -> {
                while (rows.next()) {
                  made.add(rows.getString(1));
                }
              });
    }
    return made;
  }

  private static String[] attempts(AttemptId... attempts) {
    return Stream.of(attempts).map(AttemptId::encoded).toArray(String[]::new);
  }

  private static String[] sessions(AttemptId... attempts) {
    return Stream.of(attempts).map(one -> one.session().value()).toArray(String[]::new);
  }

  private long halfAhead() throws SQLException {
    return (long) tables.column("now").get(0) + LEAD / 2;
  }

  private void cutShort(String name, long last, long floor) throws SQLException {
    boolean fresh = !name.equals("hand_off") && !name.startsWith("exchange");
    Map<String, Object> before =
        with(
            held("lock", "last_token", last),
            "owner",
            fresh ? null : OTHER.encoded(),
            "used",
            fresh ? 0 : WHOLE,
            "waiters",
            name.equals("hand_off") ? 1 : 0);
    Map<String, Object> other = with(before, "name", "other");
    alone(before);
    tables.put("lock", other);
    if (name.equals("hand_off")) {
      Map<String, Object> waiter = waiter(NAMESPACE, "lock", ATTEMPT.encoded(), 3);
      tables.put("wait", with(waiter, "weight", WHOLE, "tokens", MANY, "token_floor", floor));
    }
    try (NamedStatement namedStatement =
        tables.statement(name.equals("exchange all") ? "together_acquire" : name)) {
      boolean hands = name.equals("hand_off");
      TestTables.bind(
          namedStatement,
          asking(
              hands ? OTHER : ATTEMPT,
              WHOLE,
              MANY,
              floor,
              "old",
              OTHER.encoded(),
              "channels",
              PostgresNotificationCodec.CHANNELS,
              "connections",
              SessionRepository.CONNECTIONS,
              "ahead",
              LockTable.STEPS));
      if (name.equals("together_acquire") || name.equals("exchange all")) {
        namedStatement
            .set("names", "text", new String[] {"lock"})
            .set("attempts", "text", new String[] {ATTEMPT.encoded()})
            .set("sessions", "text", new String[] {ATTEMPT.session().value()})
            .set("labels", "text", new String[0])
            .set("olds", "text", fresh ? new String[0] : new String[] {OTHER.encoded()})
            .set("capacities", "int8", new Long[] {(long) WHOLE})
            .set("token_counts", "int8", new Long[] {MANY})
            .set("token_floors", "int8", new Long[] {floor})
            .set("at_most_us", "int8", new Long[0])
            .set("at_least_us", "int8", new Long[0]);
      }
      namedStatement.run((result, row) -> {});
    }
    Map<String, Object> lock = apartFrom(other);
    long time = (long) lock.get("touched_us");
    long token = Math.max(Math.max(last + 1, floor), time);
    long end = time + LEAD;
    assertThat(lock)
        .as("%s %s %s", name, last, floor)
        .containsEntry("owner", ATTEMPT.encoded())
        .containsEntry("token", token)
        .containsEntry("tokens", end - token)
        .containsEntry("last_token", end - 1);
  }

  /** The lock; and the other is as it was. */
  private Map<String, Object> apartFrom(Map<String, Object> other) throws SQLException {
    List<Map<String, Object>> locks = tables.all("lock");
    assertThat(locks).hasSize(2).contains(other);
    locks.remove(other);
    return locks.get(0);
  }

  @Test
  void givenTwoLocks_whenOneIsReleased_thenTheOtherIsHeld() throws SQLException {
    Map<String, Object> other = held("other");
    Request.Abandon abandon = new Request.Abandon(NAME, OTHER);
    alone(held("lock"));
    tables.put("lock", other);
    assertThat(storeConnection.repository.abandonFast(abandon, () -> now)).isTrue();
    assertThat(apartFrom(other)).containsEntry("used", 0L);
    alone(held("lock"));
    tables.put("lock", other);
    assertThat(
            ContendedRequestRunner.handOff(
                storeConnection.repository, abandon, sessionNotification -> {}))
        .isTrue();
    assertThat(apartFrom(other)).containsEntry("used", 0L);
  }

  @Test
  void givenMoreHoldersThanAreRead_whenAStepBegins_thenTheSessionsOfThoseReadAreKnown()
      throws SQLException {
    alone(held("lock", "owner", null, "used", CROWD));
    holds("lock", NAMESPACE, 1, THIRD.session());
    holds("lock", NAMESPACE, CROWD - 1, OTHER.session());
    // Of other locks, and first.
    tables.put("lock", held("other"));
    holds("other", NAMESPACE, CROWD, new SessionId("sessionDdddd"));
    holds("lock", "two", CROWD, new SessionId("sessionDdddd"));
    storeConnection.begin(LockRepository.PrefetchTarget.of(acquire(ATTEMPT)));
    List<HoldRow> holds = storeConnection.repository.holds("lock", LockTable.STEPS);
    assertThat(holds).hasSize(LockTable.STEPS);
    assertThat(holds.get(0).attempt.session()).isEqualTo(THIRD.session());
    for (HoldRow hold : holds) {
      assertThat(storeConnection.repository.session(hold.attempt.session().value()))
          .as(hold.attempt.toString())
          .isNotNull();
    }
    storeConnection.rollback();
  }

  /** In one statement each: there are many. */
  private void holds(String name, String namespace, int count, SessionId session)
      throws SQLException {
    long place = name.equals("lock") && namespace.equals(NAMESPACE) ? count : 0;
    Map<String, Object> row =
        with(hold(namespace, name, new AttemptId(session, 1).encoded()), "place", place);
    List<String> columns = List.copyOf(row.keySet());
    tables.connection.setAutoCommit(false);
    try (PreparedStatement insert =
        tables.connection.prepareStatement(
            "INSERT INTO %s (%s) VALUES (%s)"
                .formatted(
                    tables.text.table("hold"),
                    String.join(", ", columns),
                    "?, ".repeat(columns.size() - 1) + "?"))) {
      for (int i = 0; i < count; i++) {
        row.put("attempt", new AttemptId(session, 100 + i).encoded());
        row.put("place", place + i);
        for (int column = 0; column < columns.size(); column++) {
          insert.setObject(column + 1, row.get(columns.get(column)));
        }
        insert.addBatch();
      }
      insert.executeBatch();
    }
    tables.connection.commit();
    tables.connection.setAutoCommit(true);
  }

  @Test
  void givenConnection_whenItIsSetUp_thenItIsToldWhatTheServerIs() throws SQLException {
    for (String name : List.of("setup", "setup_pooled")) {
      try (Connection connection = connect()) {
        // The test's server has fsync on.
        assertThat(said(connection, name)).as(name).startsWith(false, false, false);
        execute(connection, "SET default_transaction_read_only = on");
        assertThat(said(connection, name)).as(name).startsWith(false, true, false);
      }
    }
    try (Connection connection = connect()) {
      assertThat(said(connection, "setup_pooled")).endsWith(false);
      execute(connection, "SET default_transaction_isolation = 'serializable'");
      assertThat(said(connection, "setup_pooled")).endsWith(true);
    }
  }

  private List<Boolean> said(Connection connection, String name) throws SQLException {
    try (NamedStatement namedStatement =
            new NamedStatement(connection, tables.text.statement(name));
        ResultSet row =
            namedStatement
                .set("lock_timeout", "0")
                .set("statement_timeout", "0")
                .set("idle_timeout", "0")
                .set("transaction_timeout", "0")
                .set("keepalive", "0")
                .query()) {
      row.next();
      List<Boolean> said = new ArrayList<>();
      for (int i = 1; i <= (name.equals("setup") ? 3 : 4); i++) {
        said.add(row.getBoolean(i));
      }
      return said;
    }
  }

  @Test
  void givenServer_whenExamined_thenItsSettingsAreToldAndThoseBeforeOurs() throws SQLException {
    String url = PostgresServers.V18.shared().url();
    try (Connection connection =
        DriverManager.getConnection(url + "&options=-c%20synchronous_commit=local")) {
      execute(connection, "SET synchronous_commit = on");
      execute(connection, "SET idle_session_timeout = '1h'");
      Map<String, @Nullable String> row = examined(connection, "idle_session_timeout");
      assertThat(row)
          .containsEntry("version", setting(connection, "server_version"))
          .containsEntry("fsync", "on")
          .containsEntry("full_page_writes", "on")
          .containsEntry("synchronous_commit", "on")
          .containsEntry("synchronous_commit_configured", "local")
          .containsEntry("synchronous_standby_names", "")
          .containsEntry("standbys", "0")
          .containsEntry("isolation", "read committed")
          .containsEntry("idle_session_timeout", "1h")
          .containsEntry("is_superuser", "on");
      assertThat(row.get("connections_most"))
          .isEqualTo(
              Integer.toString(
                  Integer.parseInt(setting(connection, "max_connections"))
                      - Integer.parseInt(setting(connection, "superuser_reserved_connections"))));
      assertThat(Integer.parseInt(String.valueOf(row.get("connections_now")))).isBetween(2, 100);
      // Versions 12 and 13 do not have it.
      assertThat(examined(connection, "idle_unknown_timeout"))
          .containsEntry("idle_session_timeout", "0");
    }
  }

  private Map<String, @Nullable String> examined(Connection connection, String idle)
      throws SQLException {
    SqlText.SqlStatement text = tables.text.statement("examine");
    String sql = text.sql().replace("'idle_session_timeout'", "'" + idle + "'");
    try (Statement statement = connection.createStatement();
        ResultSet row = statement.executeQuery(sql)) {
      row.next();
      Map<String, @Nullable String> columns = new HashMap<>();
      for (int i = 1; i <= row.getMetaData().getColumnCount(); i++) {
        columns.put(row.getMetaData().getColumnLabel(i), row.getString(i));
      }
      return columns;
    }
  }

  private static String setting(Connection connection, String name) throws SQLException {
    try (Statement statement = connection.createStatement();
        ResultSet row = statement.executeQuery("SHOW " + name)) {
      row.next();
      return row.getString(1);
    }
  }
}
