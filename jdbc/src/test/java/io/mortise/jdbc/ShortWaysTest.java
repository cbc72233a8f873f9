package io.mortise.jdbc;

import static org.assertj.core.api.Assertions.assertThat;

import io.mortise.jdbc.LockStates.Way;
import io.mortise.jdbc.LockStates.Who;
import io.mortise.spi.AttemptId;
import io.mortise.spi.News;
import io.mortise.spi.Reply;
import io.mortise.spi.Request;
import io.mortise.spi.SessionId;
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
 * The steps of one statement, or of one flush, on locks in many states: where nothing special goes
 * on they are taken, elsewhere they leave all as it was; and what they answer, write and tell is
 * what {@link LockSteps} does to an equal lock at the same moment. And that does the same whether
 * all is read ahead or when it is asked for.
 */
class ShortWaysTest {
  private static final int ROUNDS = 6;

  /** There is more to try of the long one. */
  private static final List<Way> WAYS =
      Stream.concat(Stream.of(Way.values()), Stream.of(Way.LONG, Way.LONG)).toList();

  private static final int CASES = 10 * WAYS.size();
  private static final int TOGETHER = 6;
  private static final int TRIED = 0;
  private static final int REFERENCE = 1;
  private static final Duration BOUND = Duration.ofSeconds(40);
  private static final Pattern NUMBER = Pattern.compile("#(\\d+)");
  private static final Pattern ASK_AGAIN = Pattern.compile("askAgain=\\w+(\\.\\w+)?");

  /** What says nothing while nobody has the whole lock. */
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
      Run run = new Run(dialect, connection, listening, prefix);
      for (int round = 0; round < ROUNDS; round++) {
        try {
          run.check(round);
        } finally {
          run.remove();
        }
      }
    }
  }

  /** A lock, twice. */
  private record Case(List<LockStates> copies) {
    LockStates first() {
      return copies.get(TRIED);
    }

    LockStates last() {
      return copies.get(REFERENCE);
    }
  }

  /** What is known of it when it is over. */
  private static final class Outcome {
    boolean taken;
    long began;
    final List<String> answers = new ArrayList<>();
    final List<String> told = new ArrayList<>();
  }

  private static final class Run {
    final Connection connection;
    final Connection listening;
    final String prefix;
    final List<Link> links = new ArrayList<>();
    final List<Case> cases = new ArrayList<>();
    final Map<LockStates, Outcome> outcomes = new HashMap<>();
    SessionId asking = Who.SOON.id;

    Run(Dialect dialect, Connection connection, Connection listening, String prefix)
        throws SQLException {
      this.connection = connection;
      this.listening = listening;
      this.prefix = prefix;
      SqlText text = new SqlText(dialect.folders(), SqlText.DEFAULT_PREFIX);
      for (int copy = 0; copy < 2; copy++) {
        links.add(dialect.link(connection, text, namespace(copy), id -> id.equals(asking)));
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
        Way way = one.first().way;
        if (way == Way.ACQUIRE_TOGETHER
            || way == Way.ABANDON_TOGETHER
            || way == Way.EXCHANGE_TOGETHER) {
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
        for (Who who : Who.values()) {
          listen.execute("LISTEN \"" + PostgresHints.channel(who.id) + "\"");
        }
        listen.execute("LISTEN " + prefix);
      }
    }

    void prepare(int from) throws SQLException {
      cases.clear();
      long now = links.get(TRIED).now();
      List<Map<String, Object>> sessions = new ArrayList<>();
      for (Who who : Who.values()) {
        if (who != Who.ABSENT) {
          Map<String, Object> row = new LinkedHashMap<>();
          row.put("id", who.id.value());
          row.put("beat", 1);
          row.put("expires_us", now + who.seconds * 1_000_000);
          row.put("ttl_us", Who.TTL);
          row.put("client", "test");
          sessions.add(row);
        }
      }
      insert("mortise_session", sessions);
      List<Map<String, Object>> locks = new ArrayList<>();
      List<Map<String, Object>> waits = new ArrayList<>();
      List<Map<String, Object>> holds = new ArrayList<>();
      List<Map<String, Object>> news = new ArrayList<>();
      for (int i = from; i < from + CASES; i++) {
        Way way = WAYS.get(i % WAYS.size());
        List<LockStates> copies = new ArrayList<>();
        for (int copy = 0; copy < 2; copy++) {
          LockStates state =
              new LockStates(way, prefix + "/" + i, i, copy, now, i / (2 * WAYS.size()) % 2 == 0);
          copies.add(state);
          String namespace = namespace(copy);
          if (!state.lock.isEmpty()) {
            locks.add(placed(state, namespace, state.lock));
          }
          state.waits.forEach(row -> waits.add(placed(state, namespace, row)));
          state.holds.forEach(row -> holds.add(placed(state, namespace, row)));
          news.addAll(state.news);
        }
        cases.add(new Case(copies));
      }
      insert("mortise_lock", locks);
      insert("mortise_wait", waits);
      insert("mortise_hold", holds);
      insert("mortise_news", news);
    }

    void remove() throws SQLException {
      for (Link link : links) {
        link.rollback();
      }
      try (Statement delete = connection.createStatement()) {
        for (String table : List.of("lock", "wait", "hold")) {
          delete.execute(
              "DELETE FROM mortise_" + table + " WHERE namespace LIKE '" + prefix + "copy%'");
        }
        delete.execute("DELETE FROM mortise_news WHERE name LIKE '" + prefix + "/%'");
        for (Who who : Who.values()) {
          delete.execute("DELETE FROM mortise_session WHERE id = '" + who.id.value() + "'");
        }
      }
    }

    static Map<String, Object> placed(
        LockStates state, String namespace, Map<String, Object> columns) {
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
      LockStates state = one.first();
      asking = state.request.attempt().session();
      lead(one);
      Link link = links.get(TRIED);
      if (state.way == Way.LONG) {
        long now = link.now();
        outcomes.put(state, longWay(link, state, true, now));
        outcomes.put(one.last(), longWay(links.get(REFERENCE), one.last(), false, now));
        return;
      }
      long began = link.now();
      Reply reply =
          switch (state.way) {
            case EXCHANGE -> exchange(link, state);
            case HAND_OVER -> Guessing.reply(link, state.request);
            case QUEUE_UP -> Guessing.reply(link, state.request);
            default -> link.fast.alone(state.request, link::now);
          };
      noteShort(state, reply, link.takeTold(), began);
      compareLater(one);
    }

    private static @Nullable Reply exchange(Link link, LockStates state) throws SQLException {
      return link.fast
          .together(List.of(new Rows.Ask(state.next, state.request.attempt(), false)))
          .get(0);
    }

    void together(List<Case> asked) throws SQLException {
      List<Rows.Ask> asks = new ArrayList<>();
      for (Case one : asked) {
        LockStates state = one.first();
        lead(one);
        asks.add(
            state.next == null
                ? new Rows.Ask(state.request, null, true)
                : new Rows.Ask(state.next, state.request.attempt(), false));
      }
      long began = links.get(TRIED).now();
      List<@Nullable Reply> replies = links.get(TRIED).fast.together(asks);
      for (int i = 0; i < asked.size(); i++) {
        noteShort(asked.get(i).first(), replies.get(i), List.of(), began);
      }
      for (Case one : asked) {
        compareLater(one);
      }
    }

    private void noteShort(LockStates state, @Nullable Reply reply, List<News> told, long began) {
      Outcome outcome = new Outcome();
      outcome.began = began;
      outcome.taken = reply != null;
      if (reply != null) {
        if (state.next != null) {
          outcome.answers.add(shown(FastSteps.released(state.request.attempt())));
        }
        outcome.answers.add(shown(reply));
        told.forEach(news -> outcome.told.add(shown(news)));
      }
      outcomes.put(state, outcome);
    }

    /** The long way, as if at the moment of the short one. */
    private void compareLater(Case one) throws SQLException {
      LockStates first = one.first();
      if (outcomes.get(first).taken) {
        asking = first.request.attempt().session();
        long now =
            number(
                "SELECT touched_us FROM mortise_lock WHERE namespace = ? AND name = ?",
                namespace(TRIED),
                first.name);
        assertThat(now).as("when").isBetween(outcomes.get(first).began, links.get(TRIED).now());
        outcomes.put(one.last(), longWay(links.get(REFERENCE), one.last(), true, now));
      }
    }

    private static Outcome longWay(Link link, LockStates state, boolean ahead, long now)
        throws SQLException {
      Outcome outcome = new Outcome();
      outcome.taken = true;
      List<Request> requests = new ArrayList<>(List.of(state.request));
      if (state.next != null) {
        requests.add(state.next);
      }
      for (Request request : requests) {
        link.begin(ahead ? Rows.Expected.of(request) : null);
        outcome.answers.add(shown(link.locks.apply(request, now)));
        link.commit();
        link.takeTold().forEach(news -> outcome.told.add(shown(news)));
      }
      return outcome;
    }

    /** Sets the counter so that a block of tokens is cut short. */
    private void lead(Case one) throws SQLException {
      if (!one.first().nearLead) {
        return;
      }
      long now = links.get(TRIED).now();
      try (PreparedStatement update =
          connection.prepareStatement(
              "UPDATE mortise_lock SET last_token = ? WHERE name = ? AND namespace LIKE ?")) {
        update.setLong(1, now + LockSteps.TOKEN_LEAD_MICROS - 100);
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
      for (PGNotification one : Notifications.heard(connection, listening, prefix, BOUND)) {
        News news = PostgresHints.decode(one.getParameter());
        assertThat(news).as(one.getParameter()).isNotNull();
        hints
            .computeIfAbsent(copy(news.attempt()) + news.name().value(), unknown -> new TreeSet<>())
            .add(one.getName() + " " + shown(news));
      }
      return hints;
    }

    private void compare(
        Case one,
        Map<String, List<String>> before,
        Map<String, List<String>> after,
        Map<String, Set<String>> hints,
        List<String> wrong) {
      LockStates state = one.first();
      String key = TRIED + state.name;
      String reference = REFERENCE + state.name;
      Outcome tried = outcomes.get(state);
      List<String> different = new ArrayList<>();
      same("taken", state.isCommon(), tried.taken, different);
      if (tried.taken) {
        Outcome expected = outcomes.get(one.last());
        same("answers", answers(expected), answers(tried), different);
        same("told", expected.told, tried.told, different);
        same("rows", rows(state, after.get(reference)), rows(state, after.get(key)), different);
        // Who is the first to wait tells the holder again: another one may not have come to it.
        if (state.way != Way.QUEUE_UP || !state.isToldInVain()) {
          same("hints", hints.get(reference), hints.get(key), different);
        }
      } else {
        same("rows", led(state, before.get(key)), led(state, after.get(key)), different);
        same("hints", null, hints.get(key), different);
      }
      if (!different.isEmpty()) {
        wrong.add(
            state.way
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

    /** Who reads ahead counts those too whose turn comes in this step, and asks again too soon. */
    private static List<String> answers(Outcome outcome) {
      return outcome.told.stream().noneMatch(news -> news.startsWith("Granted"))
          ? outcome.answers
          : outcome.answers.stream()
              .map(answer -> ASK_AGAIN.matcher(answer).replaceAll("askAgain"))
              .toList();
    }

    /** Without what the test itself has set. */
    private static @Nullable List<String> led(LockStates state, @Nullable List<String> rows) {
      return rows == null || !state.nearLead
          ? rows
          : rows.stream().map(row -> row.replaceAll("last_token=\\d+", "last_token")).toList();
    }

    /** One who has it all needs no place among the holders of a part. */
    private static @Nullable List<String> rows(LockStates state, @Nullable List<String> rows) {
      return rows == null || state.way == Way.HAND_OVER || state.way == Way.LONG
          ? rows
          : rows.stream().map(row -> row.replaceAll("next_place=\\d+", "next_place")).toList();
    }

    private static void same(
        String what, @Nullable Object expected, @Nullable Object actual, List<String> different) {
      if (expected == null ? actual != null : !expected.equals(actual)) {
        different.add(what + ": expected\n    " + expected + "\n  got\n    " + actual);
      }
    }
  }

  private static int copy(AttemptId attempt) {
    return (int) (attempt.number() / LockStates.COPIES);
  }

  /** Without the number of the copy. */
  private static String shown(Object said) {
    return NUMBER
        .matcher(said.toString())
        .replaceAll(found -> "#" + Long.parseLong(found.group(1)) % LockStates.COPIES);
  }

  private static String attempts(String value) {
    for (Who who : Who.values()) {
      if (value.length() == AttemptId.LENGTH && value.startsWith(who.id.value())) {
        return shown(AttemptId.parse(value));
      }
    }
    return value;
  }
}
