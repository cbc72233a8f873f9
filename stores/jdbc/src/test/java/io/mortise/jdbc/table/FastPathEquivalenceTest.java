package io.mortise.jdbc.table;

import static org.assertj.core.api.Assertions.assertThat;

import io.mortise.jdbc.JdbcStore;
import io.mortise.jdbc.PostgresServers;
import io.mortise.jdbc.dialect.Dialect;
import io.mortise.jdbc.dialect.PostgresDialect;
import io.mortise.jdbc.table.LockStateGenerator.FirstStatement;
import io.mortise.jdbc.table.LockStateGenerator.SessionLiveness;
import io.mortise.spi.AttemptId;
import io.mortise.spi.Reply;
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
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;
import java.util.TreeSet;
import java.util.regex.Pattern;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;
import org.postgresql.PGNotification;

/**
 * The steps of one statement, or of one flush, on locks in many states. They serve the common
 * states, and change nothing in all others. Their answers, writes and notifications equal those
 * that {@link LockTable} gives for an equal lock at the same moment. And that does the same whether
 * all is read ahead or when it is asked for.
 */
class FastPathEquivalenceTest {
  private static final int ROUNDS = 6;

  /** There is more to try of the long one. */
  private static final List<FirstStatement> WAYS =
      Stream.concat(
              Stream.of(FirstStatement.values()),
              Stream.of(FirstStatement.LONG, FirstStatement.LONG))
          .toList();

  private static final int CASES = 10 * WAYS.size();
  private static final int TOGETHER = 6;
  private static final int TRIED = 0;
  private static final int REFERENCE = 1;
  private static final Duration BOUND = Duration.ofSeconds(40);
  private static final Pattern NUMBER = Pattern.compile("\\.(\\d{10,})");
  private static final Pattern ASK_AGAIN = Pattern.compile("askAgain=\\w+(\\.\\w+)?");

  /** Columns without meaning while nobody has the whole lock. */
  private static final List<String> OF_OWNER =
      List.of("token", "tokens", "since_us", "free_us", "shut_us", "label", "told", "evicted");

  @Test
  void givenPostgres_thenItsShortWaysDoWhatTheLongOneDoes() throws SQLException {
    String url = PostgresServers.V18.shared().url();
    String prefix = PostgresServers.namespace();
    JdbcStore.open(url + "&namespace=" + prefix).close();
    try (Connection connection = DriverManager.getConnection(url);
        Connection listening = DriverManager.getConnection(url)) {
      PostgresDialect dialect = new PostgresDialect();
      dialect.setUp(connection, "the test's store", BOUND);
      EquivalenceRun equivalenceRun = new EquivalenceRun(dialect, connection, listening, prefix);
      for (int round = 0; round < ROUNDS; round++) {
        try {
          equivalenceRun.check(round);
        } finally {
          equivalenceRun.remove();
        }
      }
    }
  }

  /** A lock, twice. */
  private record Case(List<LockStateGenerator> copies) {
    LockStateGenerator first() {
      return copies.get(TRIED);
    }

    LockStateGenerator last() {
      return copies.get(REFERENCE);
    }
  }

  /** The outcome of a step. */
  private static final class Outcome {
    boolean taken;
    long began;
    final List<String> answers = new ArrayList<>();
    final List<String> told = new ArrayList<>();
  }

  private static final class EquivalenceRun {
    final Connection connection;
    final Connection listening;
    final String prefix;
    final List<StoreConnection> storeConnections = new ArrayList<>();
    final List<Case> cases = new ArrayList<>();
    final Map<LockStateGenerator, Outcome> outcomes = new HashMap<>();
    SessionId asking = SessionLiveness.SOON.id;

    EquivalenceRun(Dialect dialect, Connection connection, Connection listening, String prefix)
        throws SQLException {
      this.connection = connection;
      this.listening = listening;
      this.prefix = prefix;
      SqlText text = new SqlText(dialect.folders(), SqlText.DEFAULT_PREFIX);
      for (int copy = 0; copy < 2; copy++) {
        storeConnections.add(
            dialect.storeConnection(connection, text, namespace(copy), id -> id.equals(asking)));
      }
      listen();
    }

    String namespace(int copy) {
      return prefix + "copy" + copy;
    }

    void check(int round) throws SQLException {
      prepare(round * CASES);
      Map<String, List<String>> before = snapshot();
      List<Case> together = new ArrayList<>();
      for (Case one : cases) {
        FirstStatement firstStatement = one.first().firstStatement;
        if (firstStatement == FirstStatement.ACQUIRE_TOGETHER
            || firstStatement == FirstStatement.ABANDON_TOGETHER
            || firstStatement == FirstStatement.RETAKE_TOGETHER) {
          together.add(one);
          if (together.size() == TOGETHER) {
            together(together);
            together.clear();
          }
        } else {
          alone(one);
        }
      }
      Map<String, List<String>> after = snapshot();
      Map<String, Set<String>> hints = hints();
      List<String> wrong = new ArrayList<>();
      for (Case one : cases) {
        compare(one, before, after, hints, wrong);
      }
      assertThat(wrong.stream().limit(5)).isEmpty();
    }

    private void listen() throws SQLException {
      try (Statement listen = listening.createStatement()) {
        for (SessionLiveness sessionLiveness : SessionLiveness.values()) {
          listen.execute(
              "LISTEN \"" + PostgresNotificationCodec.channel(sessionLiveness.id) + "\"");
        }
        listen.execute("LISTEN " + prefix);
      }
    }

    void prepare(int from) throws SQLException {
      cases.clear();
      long now = storeConnections.get(TRIED).now();
      List<Map<String, Object>> sessions = new ArrayList<>();
      for (SessionLiveness sessionLiveness : SessionLiveness.values()) {
        if (sessionLiveness != SessionLiveness.ABSENT) {
          Map<String, Object> row = new LinkedHashMap<>();
          row.put("id", sessionLiveness.id.value());
          row.put("beat", 1);
          row.put("expires_us", now + sessionLiveness.seconds * 1_000_000);
          row.put("ttl_us", SessionLiveness.TTL);
          row.put("client", "test");
          sessions.add(row);
        }
      }
      insert("mortise_session", sessions);
      List<Map<String, Object>> locks = new ArrayList<>();
      List<Map<String, Object>> waits = new ArrayList<>();
      List<Map<String, Object>> holds = new ArrayList<>();
      List<Map<String, Object>> notifications = new ArrayList<>();
      for (int i = from; i < from + CASES; i++) {
        FirstStatement firstStatement = WAYS.get(i % WAYS.size());
        List<LockStateGenerator> copies = new ArrayList<>();
        for (int copy = 0; copy < 2; copy++) {
          LockStateGenerator state =
              new LockStateGenerator(
                  firstStatement, prefix + "/" + i, i, copy, now, i / (2 * WAYS.size()) % 2 == 0);
          copies.add(state);
          String namespace = namespace(copy);
          if (!state.lock.isEmpty()) {
            locks.add(placed(state, namespace, state.lock));
          }
          state.waits.forEach(row -> waits.add(placed(state, namespace, row)));
          state.holds.forEach(row -> holds.add(placed(state, namespace, row)));
          notifications.addAll(state.notifications);
        }
        cases.add(new Case(copies));
      }
      insert("mortise_lock", locks);
      insert("mortise_wait", waits);
      insert("mortise_hold", holds);
      insert("mortise_news", notifications);
    }

    void remove() throws SQLException {
      for (StoreConnection storeConnection : storeConnections) {
        storeConnection.rollback();
      }
      try (Statement delete = connection.createStatement()) {
        for (String table : List.of("lock", "wait", "hold")) {
          delete.execute(
              "DELETE FROM mortise_" + table + " WHERE namespace LIKE '" + prefix + "copy%'");
        }
        delete.execute("DELETE FROM mortise_news WHERE name LIKE '" + prefix + "/%'");
        for (SessionLiveness sessionLiveness : SessionLiveness.values()) {
          delete.execute(
              "DELETE FROM mortise_session WHERE id = '" + sessionLiveness.id.value() + "'");
        }
      }
    }

    static Map<String, Object> placed(
        LockStateGenerator state, String namespace, Map<String, Object> columns) {
      Map<String, Object> row = new LinkedHashMap<>();
      row.put("namespace", namespace);
      row.put("name", state.name);
      row.putAll(columns);
      return row;
    }

    void insert(String table, List<Map<String, Object>> rows) throws SQLException {
      List<String> columns = List.copyOf(rows.get(0).keySet());
      String marks = "?, ".repeat(columns.size() - 1) + "?";
      connection.setAutoCommit(false);
      try (PreparedStatement insert =
          connection.prepareStatement(
              "INSERT INTO "
                  + table
                  + " ("
                  + String.join(", ", columns)
                  + ") VALUES ("
                  + marks
                  + ")")) {
        for (Map<String, Object> row : rows) {
          for (int i = 0; i < columns.size(); i++) {
            insert.setObject(i + 1, row.get(columns.get(i)));
          }
          insert.addBatch();
        }
        insert.executeBatch();
      }
      connection.commit();
      connection.setAutoCommit(true);
    }

    void alone(Case one) throws SQLException {
      LockStateGenerator state = one.first();
      asking = state.request.attempt().session();
      lead(one);
      StoreConnection storeConnection = storeConnections.get(TRIED);
      if (state.firstStatement == FirstStatement.LONG) {
        long now = storeConnection.now();
        outcomes.put(state, longWay(storeConnection, state, true, now));
        outcomes.put(one.last(), longWay(storeConnections.get(REFERENCE), one.last(), false, now));
        return;
      }
      long began = storeConnection.now();
      Reply reply =
          switch (state.firstStatement) {
            case RETAKE -> retake(storeConnection, state);
            case HAND_OFF -> ContendedRequestRunner.reply(storeConnection, state.request);
            case QUEUE_UP -> ContendedRequestRunner.reply(storeConnection, state.request);
            default -> storeConnection.repository.applyFast(state.request, storeConnection::now);
          };
      noteShort(state, reply, storeConnection.takeNotifications(), began);
      compareLater(one);
    }

    private static @Nullable Reply retake(StoreConnection storeConnection, LockStateGenerator state)
        throws SQLException {
      LockRepository.BatchedRequest retake =
          new LockRepository.BatchedRequest(state.next, state.request.attempt(), false);
      return retake.reply(storeConnection.repository.executeBatch(List.of(retake)));
    }

    void together(List<Case> asked) throws SQLException {
      List<LockRepository.BatchedRequest> batchedRequests = new ArrayList<>();
      for (Case one : asked) {
        LockStateGenerator state = one.first();
        lead(one);
        batchedRequests.add(
            state.next == null
                ? new LockRepository.BatchedRequest(state.request, null, true)
                : new LockRepository.BatchedRequest(state.next, state.request.attempt(), false));
      }
      long began = storeConnections.get(TRIED).now();
      Map<String, LockRepository.TokenRange> done =
          storeConnections.get(TRIED).repository.executeBatch(batchedRequests);
      for (int i = 0; i < asked.size(); i++) {
        noteShort(asked.get(i).first(), batchedRequests.get(i).reply(done), List.of(), began);
      }
      for (Case one : asked) {
        compareLater(one);
      }
    }

    private void noteShort(
        LockStateGenerator state,
        @Nullable Reply reply,
        List<SessionNotification> told,
        long began) {
      Outcome outcome = new Outcome();
      outcome.began = began;
      outcome.taken = reply != null;
      if (reply != null) {
        if (state.next != null) {
          outcome.answers.add(shown(LockRepository.released(state.request.attempt())));
        }
        outcome.answers.add(shown(reply));
        told.forEach(sessionNotification -> outcome.told.add(shown(sessionNotification)));
      }
      outcomes.put(state, outcome);
    }

    /** The long way, as if at the moment of the short one. */
    private void compareLater(Case one) throws SQLException {
      LockStateGenerator first = one.first();
      if (outcomes.get(first).taken) {
        asking = first.request.attempt().session();
        long now =
            number(
                "SELECT touched_us FROM mortise_lock WHERE namespace = ? AND name = ?",
                namespace(TRIED),
                first.name);
        assertThat(now)
            .as("when")
            .isBetween(outcomes.get(first).began, storeConnections.get(TRIED).now());
        outcomes.put(one.last(), longWay(storeConnections.get(REFERENCE), one.last(), true, now));
      }
    }

    private static Outcome longWay(
        StoreConnection storeConnection, LockStateGenerator state, boolean ahead, long now)
        throws SQLException {
      Outcome outcome = new Outcome();
      outcome.taken = true;
      List<Request> requests = new ArrayList<>(List.of(state.request));
      if (state.next != null) {
        requests.add(state.next);
      }
      for (Request request : requests) {
        storeConnection.begin(ahead ? LockRepository.PrefetchTarget.of(request) : null);
        outcome.answers.add(shown(storeConnection.locks.apply(request, now)));
        storeConnection.commit();
        storeConnection
            .takeNotifications()
            .forEach(sessionNotification -> outcome.told.add(shown(sessionNotification)));
      }
      return outcome;
    }

    /** Sets the counter so that a block of tokens is cut short. */
    private void lead(Case one) throws SQLException {
      if (!one.first().nearLead) {
        return;
      }
      long now = storeConnections.get(TRIED).now();
      try (PreparedStatement update =
          connection.prepareStatement(
              "UPDATE mortise_lock SET last_token = ? WHERE name = ? AND namespace LIKE ?")) {
        update.setLong(1, now + LockTable.TOKEN_LEAD_MICROS - 100);
        update.setString(2, one.first().name);
        update.setString(3, prefix + "copy%");
        update.executeUpdate();
      }
    }

    private long number(String query, String... values) throws SQLException {
      try (PreparedStatement select = connection.prepareStatement(query)) {
        for (int i = 0; i < values.length; i++) {
          select.setString(i + 1, values[i]);
        }
        try (ResultSet row = select.executeQuery()) {
          row.next();
          return row.getLong(1);
        }
      }
    }

    /** All rows of each copy of each lock. */
    private Map<String, List<String>> snapshot() throws SQLException {
      Map<String, List<String>> rows = new HashMap<>();
      for (String table : List.of("lock", "wait", "hold", "news")) {
        try (Statement statement = connection.createStatement();
            ResultSet row =
                statement.executeQuery(
                    "SELECT * FROM mortise_" + table + " WHERE name LIKE '" + prefix + "/%'")) {
          while (row.next()) {
            Map<String, String> columns = new TreeMap<>();
            for (int i = 1; i <= row.getMetaData().getColumnCount(); i++) {
              columns.put(row.getMetaData().getColumnName(i), row.getString(i));
            }
            String namespace = columns.remove("namespace");
            int copy =
                namespace == null
                    ? copy(AttemptId.parse(columns.get("attempt")))
                    : namespace.charAt(namespace.length() - 1) - '0';
            columns.remove("id");
            rows.computeIfAbsent(copy + columns.get("name"), unknown -> new ArrayList<>())
                .add(table + row(columns));
          }
        }
      }
      rows.values().forEach(of -> of.sort(null));
      return rows;
    }

    private static String row(Map<String, String> columns) {
      if (columns.containsKey("owner") && columns.get("owner") == null) {
        OF_OWNER.forEach(columns::remove);
      }
      columns.replaceAll((column, value) -> value == null ? null : attempts(value));
      return columns.toString();
    }

    private Map<String, Set<String>> hints() throws SQLException {
      Map<String, Set<String>> hints = new HashMap<>();
      for (PGNotification one :
          PostgresNotificationRecorder.heard(connection, listening, prefix, BOUND)) {
        SessionNotification sessionNotification =
            PostgresNotificationCodec.decode(one.getParameter());
        assertThat(sessionNotification).as(one.getParameter()).isNotNull();
        hints
            .computeIfAbsent(
                copy(sessionNotification.attempt()) + sessionNotification.name().value(),
                unknown -> new TreeSet<>())
            .add(one.getName() + " " + shown(sessionNotification));
      }
      return hints;
    }

    private void compare(
        Case one,
        Map<String, List<String>> before,
        Map<String, List<String>> after,
        Map<String, Set<String>> hints,
        List<String> wrong) {
      LockStateGenerator state = one.first();
      String key = TRIED + state.name;
      String reference = REFERENCE + state.name;
      Outcome tried = outcomes.get(state);
      List<String> different = new ArrayList<>();
      same("taken", state.isCommon(), tried.taken, different);
      if (tried.taken) {
        Outcome expected = outcomes.get(one.last());
        same("answers", answers(expected), answers(tried), different);
        same("told", expected.told, tried.told, different);
        same("rows", after.get(reference), after.get(key), different);
        // The first waiter notifies the holder again, as an earlier notification may be lost.
        if (state.firstStatement != FirstStatement.QUEUE_UP || !state.isToldInVain()) {
          same("hints", hints.get(reference), hints.get(key), different);
        }
      } else {
        same("rows", led(state, before.get(key)), led(state, after.get(key)), different);
        same("hints", null, hints.get(key), different);
      }
      if (!different.isEmpty()) {
        wrong.add(
            state.firstStatement
                + " "
                + state.lock
                + " "
                + state.waits
                + ": "
                + state.request
                + " "
                + state.next
                + "\n"
                + String.join("\n", different));
      }
    }

    /**
     * A prefetching step also counts waiters whose turn comes within it, so its retry is too early.
     */
    private static List<String> answers(Outcome outcome) {
      return outcome.told.stream()
              .noneMatch(sessionNotification -> sessionNotification.startsWith("Granted"))
          ? outcome.answers
          : outcome.answers.stream()
              .map(answer -> ASK_AGAIN.matcher(answer).replaceAll("askAgain"))
              .toList();
    }

    /** The rows without the test's own settings. */
    private static @Nullable List<String> led(
        LockStateGenerator state, @Nullable List<String> rows) {
      return rows == null || !state.nearLead
          ? rows
          : rows.stream().map(row -> row.replaceAll("last_token=\\d+", "last_token")).toList();
    }

    private static void same(
        String what, @Nullable Object expected, @Nullable Object actual, List<String> different) {
      if (expected == null ? actual != null : !expected.equals(actual)) {
        different.add(what + ": expected\n    " + expected + "\n  got\n    " + actual);
      }
    }
  }

  private static int copy(AttemptId attempt) {
    return (int) (attempt.number() / LockStateGenerator.COPIES);
  }

  /** Without the number of the copy. */
  private static String shown(Object said) {
    return NUMBER
        .matcher(said.toString())
        .replaceAll(found -> "." + Long.parseLong(found.group(1)) % LockStateGenerator.COPIES);
  }

  private static String attempts(String value) {
    for (SessionLiveness sessionLiveness : SessionLiveness.values()) {
      if (value.length() == AttemptId.LENGTH && value.startsWith(sessionLiveness.id.value())) {
        return shown(AttemptId.parse(value));
      }
    }
    return value;
  }
}
