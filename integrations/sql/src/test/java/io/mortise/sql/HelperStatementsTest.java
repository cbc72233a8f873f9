package io.mortise.sql;

import static org.assertj.core.api.Assertions.assertThat;

import java.nio.charset.StandardCharsets;
import java.sql.Connection;
import java.sql.PreparedStatement;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedClass;
import org.junit.jupiter.params.provider.EnumSource;

/**
 * The rows that each statement of the helpers reads and changes, and those it leaves alone. Its
 * file states its purpose.
 */
@ParameterizedClass
@EnumSource(TestDatabase.Kind.class)
class HelperStatementsTest extends HelperTest {
  private static final long MINUTE = 60_000_000;

  /** Of {@code mortise_once}: a key beside the one that is looked at. */
  private static final String OTHER = "b 0 before 0 0";

  private Connection connection;
  private SqlFiles files;

  HelperStatementsTest(TestDatabase.Kind kind) {
    super(kind);
  }

  @BeforeEach
  void makeTables() throws SQLException {
    SqlHelpers.open(database.dataSource()).close();
    connection = begin();
    files = new SqlFiles(HelperDialect.of(connection), SqlFiles.DEFAULT_PREFIX);
  }

  private static byte[] bytes(String text) {
    return text.getBytes(StandardCharsets.UTF_8);
  }

  /** Runs it; how many rows it changed. */
  private int update(String sql, Object... values) throws SQLException {
    try (PreparedStatement statement = prepare(sql, values)) {
      return statement.executeUpdate();
    }
  }

  private PreparedStatement prepare(String sql, Object... values) throws SQLException {
    PreparedStatement statement = connection.prepareStatement(sql);
    for (int i = 0; i < values.length; i++) {
      statement.setObject(i + 1, values[i]);
    }
    return statement;
  }

  /** Runs it; its rows as texts. */
  private List<String> query(String sql, Object... values) throws SQLException {
    List<String> rows = new ArrayList<>();
    try (PreparedStatement statement = prepare(sql, values);
        ResultSet row = statement.executeQuery()) {
      int columns = row.getMetaData().getColumnCount();
      while (row.next()) {
        String[] texts = new String[columns];
        for (int i = 0; i < columns; i++) {
          Object value = row.getObject(i + 1);
          texts[i] =
              value instanceof byte[] bytes
                  ? new String(bytes, StandardCharsets.UTF_8)
                  : String.valueOf(value);
        }
        rows.add(String.join(" ", texts));
      }
    }
    return rows;
  }

  private String file(String name) {
    return files.statement(name);
  }

  private long now() throws SQLException {
    return Long.parseLong(query("SELECT " + file("now_us")).get(0).replaceAll("\\..*", ""));
  }

  @Test
  void givenTheDatabasesClock_thenItIsThatOfTheDay() throws SQLException {
    long wall = TimeUnit.MILLISECONDS.toMicros(System.currentTimeMillis());
    assertThat(now()).isBetween(wall - MINUTE, wall + MINUTE);
  }

  @Test
  void givenTables_whenLookedFor_thenNothingIsReadOfThem() throws SQLException {
    update(file("fence_make"), bytes("a"));
    assertThat(query(files.statement("table_find", Map.of("table", "mortise_fence")))).isEmpty();
    String find = files.statement("row_find", Map.of("table", "mortise_fence"));
    assertThat(query(find, bytes("a"))).hasSize(1);
    assertThat(query(find, bytes("b"))).isEmpty();
  }

  @Test
  void givenFences_whenOneIsWritten_thenNoOtherIs() throws SQLException {
    update(file("fence_make"), bytes("a"));
    update(file("fence_make"), bytes("b"));
    assertThat(fences()).containsExactlyInAnyOrder("a 0 ", "b 0 ");
    assertThat(enters(7, "h")).isEqualTo(1);
    assertThat(fences()).containsExactlyInAnyOrder("a 7 h", "b 0 ");
    assertThat(enters(7, "h")).as("a write all the same").isEqualTo(1);
    assertThat(enters(7, "x")).isZero();
    assertThat(enters(6, "h")).isZero();
    assertThat(fences()).containsExactlyInAnyOrder("a 7 h", "b 0 ");
    assertThat(query(file("fence_lock"), bytes("a"))).containsExactly("7 h");
    assertThat(query(file("fence_read"), bytes("a"))).containsExactly("7");
    assertThat(query(file("fence_read"), bytes("c"))).isEmpty();
  }

  private int enters(long token, String holder) throws SQLException {
    return update(file("fence_write"), token, holder, bytes("a"), token, token, holder);
  }

  private List<String> fences() throws SQLException {
    return query("SELECT name, token, holder FROM mortise_fence");
  }

  @Test
  void givenTransactionLocks_whenOneIsTakenOrMints_thenNoOtherIs() throws SQLException {
    if (kind == TestDatabase.Kind.SQLITE) {
      return;
    }
    update(file("txlock_make"), bytes("a"));
    update(file("txlock_make"), bytes("b"));
    List<String> made = query("SELECT name, token FROM mortise_txlock");
    assertThat(made).containsExactlyInAnyOrder("a 0", "b 0");
    long before = now();
    assertThat(update(file("txlock_mint"), bytes("a"))).isEqualTo(1);
    long token = number(connection, "SELECT MAX(token) FROM mortise_txlock");
    assertThat(token).as("the clock").isBetween(before, before + MINUTE);
    update("UPDATE mortise_txlock SET token = ? WHERE token > 0", token + MINUTE);
    update(file("txlock_mint"), bytes("a"));
    assertThat(query("SELECT name, token FROM mortise_txlock"))
        .containsExactlyInAnyOrder("a " + (token + MINUTE + 1), "b 0");
    String other = "a " + (token + MINUTE + 1);
    assertThat(query(file("txlock_try"), bytes("b"))).containsExactly("0");
    assertThat(query(file("txlock_try"), bytes("c"))).isEmpty();
    if (kind == TestDatabase.Kind.H2) {
      String within = files.statement("txlock_lock_within", Map.of("seconds", "1"));
      assertThat(query(within, bytes("b"))).containsExactly("0");
    }
    String locked = kind == TestDatabase.Kind.H2 ? "1" : "0"; // H2's has to change the row.
    assertThat(query(file("txlock_lock"), bytes("b"))).containsExactly(locked);
    assertThat(query(file("txlock_lock"), bytes("c"))).isEmpty();
    assertThat(query(file("txlock_token"), bytes("b"))).containsExactly(locked);
    assertThat(query("SELECT name, token FROM mortise_txlock"))
        .containsExactlyInAnyOrder(other, "b " + locked);
  }

  private void once(String name, long done, long expires) throws SQLException {
    update("DELETE FROM mortise_once WHERE name = ?", bytes(name));
    update(
        "INSERT INTO mortise_once (name, done, result, done_us, expires_us) VALUES (?, ?, ?, 0, ?)",
        bytes(name),
        done,
        bytes("before"),
        expires);
  }

  private List<String> onces() throws SQLException {
    return query("SELECT name, done, result, done_us, expires_us FROM mortise_once");
  }

  @Test
  void givenKeyThatIsNew_thenNothingIsKnownOfIt() throws SQLException {
    update(file("once_make"), bytes("a"));
    assertThat(onces()).containsExactly("a 0 null 0 0");
  }

  @Test
  void givenKeyThatIsDone_thenItCountsForEverOrUntilItsTimeIsOver() throws SQLException {
    long now = now();
    long[][] cases = {
      {0, 0, 0},
      {1, 0, 1},
      {1, now + MINUTE, 1},
      {1, now - MINUTE, 0},
      {0, now + MINUTE, 0},
      {1, 1, 0}
    };
    once("b", 1, 0);
    for (long[] each : cases) {
      once("a", each[0], each[1]);
      for (String statement : List.of("once_read", "once_lock")) {
        assertThat(query(file(statement), bytes("a")))
            .as(Arrays.toString(each))
            .containsExactly(each[2] + " before");
      }
    }
  }

  @Test
  void givenKey_whenItIsDone_thenItsResultAndTimesAreKept() throws SQLException {
    once("b", 0, 0);
    for (long keep : new long[] {0, MINUTE}) {
      once("a", 0, 0);
      assertThat(update(file("once_done"), bytes("after"), keep, keep, bytes("a"))).isEqualTo(1);
      assertDone(keep);
    }
  }

  private void assertDone(long counts) throws SQLException {
    long at = number(connection, "SELECT MAX(done_us) FROM mortise_once");
    assertThat(at).isBetween(now() - MINUTE, now());
    // The clock of PostgreSQL goes on within a statement.
    long expires = number(connection, "SELECT MAX(expires_us) FROM mortise_once");
    assertThat(expires)
        .isBetween(counts == 0 ? 0 : at + counts, counts == 0 ? 0 : at + counts + MINUTE / 10);
    assertThat(onces()).containsExactlyInAnyOrder(OTHER, "a 1 after " + at + " " + expires);
  }

  @Test
  void givenKeyThatIsDone_whenForgotten_thenItAlone() throws SQLException {
    once("b", 0, 0);
    once("a", 1, 3);
    assertThat(update(file("once_forget"), bytes("a"))).isEqualTo(1);
    assertThat(onces()).containsExactlyInAnyOrder(OTHER, "a 0 null 0 3");
    assertThat(update(file("once_forget"), bytes("a"))).isZero();
  }

  @Test
  void givenRowsOfTheUser_whenOneIsWrittenFenced_thenUnlessItHasSeenALaterToken()
      throws SQLException {
    update("CREATE TABLE fenced (id BIGINT PRIMARY KEY, v BIGINT, t BIGINT, h VARCHAR(64))");
    Map<String, String> parts =
        Map.of(
            "table",
            "fenced",
            "assignments",
            "v = ?, ",
            "keys",
            "id = ?",
            "token",
            "t",
            "holder",
            "h");
    Object[][] seen = {{null, "x", 1}, {6L, "x", 1}, {7L, "h", 1}, {7L, "x", 0}, {8L, "h", 0}};
    for (Object[] each : seen) {
      update("DELETE FROM fenced");
      update("INSERT INTO fenced (id, v, t, h) VALUES (1, 0, ?, ?)", each[0], each[1]);
      update("INSERT INTO fenced (id, v, t, h) VALUES (2, 0, ?, ?)", each[0], each[1]);
      assertThat(update(files.statement("fenced_update", parts), 9, 7, "h", 1, 7, 7, "h"))
          .as(Arrays.toString(each))
          .isEqualTo(each[2]);
      String before = each[0] + " " + each[1];
      assertThat(query("SELECT id, v, t, h FROM fenced"))
          .containsExactlyInAnyOrder(
              each[2].equals(1) ? "1 9 7 h" : "1 0 " + before, "2 0 " + before);
      assertThat(query(files.statement("fenced_read", parts), 2)).containsExactly(before);
    }
  }

  @Test
  void givenSessionLock_thenItsConnectionAloneHasIt_andNobodyWaitsWhoOnlyTries()
      throws SQLException {
    if (kind == TestDatabase.Kind.H2 || kind == TestDatabase.Kind.SQLITE) {
      return;
    }
    boolean postgres = kind == TestDatabase.Kind.POSTGRESQL;
    Object key = postgres ? (Object) 0x5_0000_0007L : "key";
    Object other = postgres ? (Object) 0x5_0000_0008L : "other";
    Connection mine = connection;
    Connection another = begin();
    assertThat(asks("session_held", key)).isFalse();
    assertThat(asks("session_try", key)).isTrue();
    assertThat(asks("session_held", key)).isTrue();
    assertThat(asks("session_held", other)).isFalse();
    connection = another;
    assertThat(asks("session_held", key)).isFalse();
    long shortest = Long.MAX_VALUE;
    for (int i = 0; i < 5; i++) {
      long began = System.nanoTime();
      assertThat(asks("session_try", key)).isFalse();
      shortest = Math.min(shortest, System.nanoTime() - began);
    }
    assertThat(shortest).isLessThan(TimeUnit.MILLISECONDS.toNanos(900));
    assertThat(asks("session_release", key)).isFalse();
    connection = mine;
    assertThat(asks("session_release", key)).isTrue();
    assertThat(asks("session_held", key)).isFalse();
    if (postgres) {
      // Two numbers are another lock than the one that they make together.
      query("SELECT pg_advisory_lock(5, 7)");
      assertThat(asks("session_held", key)).isFalse();
    }
  }

  private boolean asks(String statement, Object key) throws SQLException {
    String answer = query(file(statement), key).get(0);
    return List.of("1", "t", "true").contains(answer);
  }
}
