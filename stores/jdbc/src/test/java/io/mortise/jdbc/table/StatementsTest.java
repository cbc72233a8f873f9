package io.mortise.jdbc.table;

import static io.mortise.jdbc.table.TestTables.NAMESPACE;
import static io.mortise.jdbc.table.TestTables.hold;
import static io.mortise.jdbc.table.TestTables.lock;
import static io.mortise.jdbc.table.TestTables.notifications;
import static io.mortise.jdbc.table.TestTables.pairs;
import static io.mortise.jdbc.table.TestTables.row;
import static io.mortise.jdbc.table.TestTables.session;
import static io.mortise.jdbc.table.TestTables.waiter;
import static io.mortise.jdbc.table.TestTables.with;
import static org.assertj.core.api.Assertions.assertThat;

import java.nio.file.Path;
import java.sql.DriverManager;
import java.sql.SQLException;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/**
 * The rows that each statement reads and changes, and those that it leaves alone: of other locks,
 * namespaces and attempts, and those a microsecond away. Its file says its purpose.
 */
class StatementsTest {
  private static final String ATTEMPT = "sessionAaaaa0000000001";
  private static final String OTHER = "sessionBbbbb0000000002";
  private static final String SESSION = "sessionAaaaa";
  private static final String STRANGER = "sessionBbbbb";
  private static final long NEVER = Long.MAX_VALUE;
  private static final long NOW = 5_000_000;

  @TempDir Path directory;
  private TestTables tables;

  @BeforeEach
  void makeTables() throws SQLException {
    String url = "jdbc:sqlite:" + directory.resolve("rows.db");
    tables = new TestTables(DriverManager.getConnection(url), "sqlite");
  }

  @AfterEach
  void close() throws SQLException {
    tables.close();
  }

  @Test
  void givenLocks_whenOneIsChanged_thenAllOfItIsAndNoOther() throws SQLException {
    Map<String, Object> other = tables.put("lock", lock(NAMESPACE, "other"));
    Map<String, Object> elsewhere = tables.put("lock", lock("two", "lock"));
    tables.update("lock_insert", "name", "lock", "capacity", 5, "now_us", 6);
    Map<String, Object> made =
        row(
            "namespace", NAMESPACE,
            "name", "lock",
            "capacity", 5,
            "used", 0,
            "owner", null,
            "token", 0,
            "tokens", 0,
            "since_us", 0,
            "free_us", 0,
            "shut_us", 0,
            "label", "",
            "told", 0,
            "evicted", 0,
            "last_token", 0,
            "next_place", 0,
            "next_ticket", 0,
            "waiters", 0,
            "closed_us", 0,
            "touched_us", 6,
            "ended", null,
            "ended_was", "HELD",
            "ended_how", "RELEASED");
    tables.assertAll("lock", made, other, elsewhere);
    Map<String, Object> changed =
        row(
            "namespace", NAMESPACE,
            "name", "lock",
            "capacity", 50,
            "used", 51,
            "owner", ATTEMPT,
            "token", 52,
            "tokens", 53,
            "since_us", 54,
            "free_us", 55,
            "shut_us", 56,
            "label", "after",
            "told", 3,
            "evicted", 1,
            "last_token", 57,
            "next_place", 58,
            "next_ticket", 59,
            "waiters", 60,
            "closed_us", 61,
            "touched_us", 62,
            "ended", OTHER,
            "ended_was", "WAITING",
            "ended_how", "EXPIRED");
    assertThat(tables.update("lock_update", pairs(changed))).isEqualTo(1);
    tables.assertAll("lock", changed, other, elsewhere);
    assertThat(tables.query("lock_select", "name", "lock")).containsExactly(changed);
    assertThat(tables.update("lock_delete", "name", "lock")).isEqualTo(1);
    tables.assertAll("lock", other, elsewhere);
  }

  @Test
  void givenManyLocks_whenTheyAreListed_thenInOrderFromTheNameGiven() throws SQLException {
    for (String name : List.of("e", "d", "c", "b", "a")) {
      tables.put("lock", lock(NAMESPACE, name));
      tables.put("lock", lock("two", name + "2"));
    }
    assertThat(tables.column("lock_names", "after_name", "a", "row_limit", 3))
        .containsExactly("b", "c", "d");
    assertThat(tables.column("lock_names", "after_name", "c", "row_limit", 3))
        .containsExactly("d", "e");
  }

  @Test
  void givenManyLocks_whenAPageIsShown_thenThoseInUseOrAllFromTheNameGiven() throws SQLException {
    tables.put("lock", lock(NAMESPACE, "e", "closed_us", NOW + 1));
    tables.put("lock", lock(NAMESPACE, "d", "used", 1));
    tables.put("lock", lock(NAMESPACE, "c", "closed_us", NOW));
    tables.put("lock", lock(NAMESPACE, "b", "waiters", 1));
    tables.put("lock", lock(NAMESPACE, "a", "used", 1));
    tables.put("lock", lock("two", "b2", "used", 1, "waiters", 1, "closed_us", NOW + 1));
    assertThat(page("b", NOW, 9)).containsExactly("b", "d", "e");
    assertThat(page("b", NOW, 2)).containsExactly("b", "d");
    assertThat(page("b", -1, 9)).containsExactly("b", "c", "d", "e");
    assertThat(page("", -1, 2)).containsExactly("a", "b");
  }

  @Test
  void givenManyLocks_whenAPageOfAPrefixIsShown_thenThoseInUseOrAllFromOneNameUpToTheOther()
      throws SQLException {
    for (String name : List.of("f", "e", "d", "c", "b", "a")) {
      tables.put("lock", lock(NAMESPACE, name, "used", 1));
    }
    tables.put("lock", lock(NAMESPACE, "c1", "closed_us", NOW));
    tables.put("lock", lock(NAMESPACE, "c2", "closed_us", NOW + 1));
    tables.put("lock", lock(NAMESPACE, "c3", "waiters", 1));
    tables.put("lock", lock("two", "d2", "used", 1, "waiters", 1, "closed_us", NOW + 1));
    assertThat(pageWithin("b", "e", NOW, 9)).containsExactly("b", "c", "c2", "c3", "d");
    assertThat(pageWithin("b", "e", NOW, 2)).containsExactly("b", "c");
    assertThat(pageWithin("c", "d", -1, 9)).containsExactly("c", "c1", "c2", "c3");
  }

  private List<Object> pageWithin(String from, String end, long open, int limit)
      throws SQLException {
    return tables
        .query(
            "lock_page_within",
            "from_name",
            from,
            "end_name",
            end,
            "open_us",
            open,
            "row_limit",
            limit)
        .stream()
        .map(lock -> lock.get("name"))
        .toList();
  }

  @Test
  void givenManySessions_whenAPageIsShown_thenTheDeadOnesTooFromTheIdGiven() throws SQLException {
    for (String id : List.of("d", "c", "b", "a")) {
      tables.put("session", session(id, 1, NOW - 1));
    }
    assertThat(tables.query("session_page", "from_id", "b", "row_limit", 2))
        .extracting(found -> found.get("id"))
        .containsExactly("b", "c");
    assertThat(tables.query("session_page", "from_id", "c", "row_limit", 9))
        .containsExactly(session("c", 1, NOW - 1), session("d", 1, NOW - 1));
  }

  private List<Object> page(String from, long open, int limit) throws SQLException {
    return tables
        .query("lock_page", "from_name", from, "open_us", open, "row_limit", limit)
        .stream()
        .map(lock -> lock.get("name"))
        .toList();
  }

  @Test
  void givenLocks_whenSweepersLook_thenThoseOfTheDeadAndTheIdleOnesAreFound() throws SQLException {
    tables.put("session", session(SESSION, 1, NOW));
    // Found:
    String[] idle = {"used", "waiters", "closed_us", "touched_us"};
    left("b-idle", idle, 0, 0, NOW, 100);
    left("c-dead-owner", idle, 1, 0, NOW, 101);
    own("c-dead-owner", OTHER);
    left("d-dead-holder", idle, 1, 0, NOW, 101);
    tables.put("hold", hold(NAMESPACE, "d-dead-holder", ATTEMPT));
    tables.put("hold", hold(NAMESPACE, "d-dead-holder", OTHER));
    left("e-dead-waiter", idle, 10, 1, NOW, 101);
    own("e-dead-waiter", ATTEMPT);
    tables.put("wait", waiter(NAMESPACE, "e-dead-waiter", OTHER, 1));
    left("x-idle", idle, 0, 0, NOW, 100);
    // Not found:
    left("a-before", idle, 0, 0, NOW, 100);
    left("y-behind", idle, 0, 0, NOW, 100);
    left("f-used-of-late", idle, 0, 0, NOW, 101);
    left("g-closed", idle, 0, 0, NOW + 1, 100);
    left("h-held", idle, 10, 0, NOW, 100);
    own("h-held", ATTEMPT);
    left("i-held-in-part", idle, 1, 0, NOW, 100);
    tables.put("hold", hold(NAMESPACE, "i-held-in-part", ATTEMPT));
    tables.put("hold", hold(NAMESPACE, "z", OTHER));
    tables.put("hold", hold("two", "i-held-in-part", OTHER));
    left("j-waited-for", idle, 0, 1, NOW, 100);
    tables.put("wait", waiter(NAMESPACE, "j-waited-for", ATTEMPT, 1));
    tables.put("wait", waiter(NAMESPACE, "z", OTHER, 1));
    tables.put("wait", waiter("two", "j-waited-for", OTHER, 1));
    // Rows that nobody counts, which a step does not look at.
    left("k-not-in-use", idle, 0, 0, NOW, 101);
    tables.put("hold", hold(NAMESPACE, "k-not-in-use", OTHER));
    tables.put("wait", waiter(NAMESPACE, "k-not-in-use", OTHER, 1));
    left("l-owned", idle, 10, 0, NOW, 101);
    own("l-owned", ATTEMPT);
    tables.put("hold", hold(NAMESPACE, "l-owned", OTHER));
    left("m-owned-used-0", idle, 0, 0, NOW, 101);
    own("m-owned-used-0", OTHER);
    tables.put("lock", lock("two", "b", "closed_us", NOW, "touched_us", 100));
    String[] found = {"b-idle", "c-dead-owner", "d-dead-holder", "e-dead-waiter", "x-idle"};
    assertThat(leftBehind(9)).containsExactly((Object[]) found);
    assertThat(leftBehind(2)).containsExactly("b-idle", "c-dead-owner");
  }

  private void left(String name, String[] columns, Object... values) throws SQLException {
    Map<String, Object> lock = lock(NAMESPACE, name);
    for (int i = 0; i < columns.length; i++) {
      lock = with(lock, columns[i], values[i]);
    }
    tables.put("lock", lock);
  }

  private void own(String name, String attempt) throws SQLException {
    tables.execute(
        "UPDATE %s SET owner = '%s' WHERE name = '%s'"
            .formatted(tables.text.table("lock"), attempt, name));
  }

  private List<Object> leftBehind(int limit) throws SQLException {
    return tables.column(
        "lock_left_behind",
        "after_name",
        "a-before",
        "last_name",
        "x-idle",
        "idle_us",
        100,
        "now_us",
        NOW,
        "row_limit",
        limit);
  }

  @Test
  void givenHolds_whenOneIsChanged_thenAllOfItIsAndNoOther() throws SQLException {
    Map<String, Object> next = tables.put("hold", hold(NAMESPACE, "lock", OTHER));
    Map<String, Object> other = tables.put("hold", hold(NAMESPACE, "other", ATTEMPT));
    Map<String, Object> elsewhere = tables.put("hold", hold("two", "lock", ATTEMPT));
    Map<String, Object> made =
        row(
            "namespace", NAMESPACE,
            "name", "lock",
            "attempt", ATTEMPT,
            "place", 20,
            "weight", 21,
            "token", 22,
            "tokens", 23,
            "since_us", 24,
            "free_us", 25,
            "shut_us", 26,
            "label", "after",
            "told", 3,
            "evicted", 1);
    tables.update("hold_insert", pairs(made));
    tables.assertAll("hold", made, next, other, elsewhere);
    assertThat(tables.query("hold_select", "name", "lock", "attempt", ATTEMPT))
        .containsExactly(with(made));
    Map<String, Object> changed =
        with(
            made, "weight", 31, "token", 32, "tokens", 33, "free_us", 34, "shut_us", 35, "told", 2,
            "evicted", 0);
    assertThat(tables.update("hold_update", pairs(changed))).isEqualTo(1);
    tables.assertAll("hold", changed, next, other, elsewhere);
    assertThat(tables.update("hold_delete", "name", "lock", "attempt", ATTEMPT)).isEqualTo(1);
    tables.assertAll("hold", next, other, elsewhere);
  }

  @Test
  void givenHolds_whenTheFirstAreLookedAt_thenInOrderOfTheirPlaces() throws SQLException {
    Map<String, Object> first = with(hold(NAMESPACE, "lock", "3"), "place", 1);
    Map<String, Object> second = with(hold(NAMESPACE, "lock", "2"), "place", 2);
    Map<String, Object> third = with(hold(NAMESPACE, "lock", "1"), "place", 3);
    Map<String, Object> other = with(hold(NAMESPACE, "other", "1"), "place", 1);
    Map<String, Object> elsewhere = with(hold("two", "lock", "1"), "place", 1);
    for (Map<String, Object> hold : List.of(second, third, other, elsewhere, first)) {
      tables.put("hold", hold);
    }
    assertThat(tables.query("hold_window", "name", "lock", "row_limit", 2))
        .containsExactly(first, second);
    assertThat(tables.query("hold_window", "name", "lock", "row_limit", 9))
        .containsExactly(first, second, third);
    assertThat(tables.update("hold_rotate", "name", "lock", "up_to", 2, "shift", 100)).isEqualTo(2);
    tables.assertAll(
        "hold", with(first, "place", 101), with(second, "place", 102), third, other, elsewhere);
  }

  @Test
  void givenWaiters_whenOneComesAndGoes_thenNoOtherDoes() throws SQLException {
    Map<String, Object> next = tables.put("wait", waiter(NAMESPACE, "lock", OTHER, 1));
    Map<String, Object> other = tables.put("wait", waiter(NAMESPACE, "other", ATTEMPT, 20));
    Map<String, Object> elsewhere = tables.put("wait", waiter("two", "lock", ATTEMPT, 20));
    Map<String, Object> made =
        row(
            "namespace", NAMESPACE,
            "name", "lock",
            "ticket", 20,
            "attempt", ATTEMPT,
            "session", STRANGER,
            "weight", 21,
            "tokens", 22,
            "token_floor", 23,
            "at_most_us", 24,
            "at_least_us", 25,
            "label", "after",
            "since_us", 26);
    tables.update("wait_insert", pairs(with(made, "now_us", 26)));
    tables.assertAll("wait", made, next, other, elsewhere);
    assertThat(tables.query("wait_select", "name", "lock", "attempt", ATTEMPT))
        .containsExactly(with(made));
    assertThat(tables.update("wait_delete", "name", "lock", "attempt", ATTEMPT)).isEqualTo(1);
    tables.assertAll("wait", next, other, elsewhere);
  }

  @Test
  void givenQueue_whenItsFrontIsRead_thenInOrderOfItsTickets() throws SQLException {
    Map<String, Object> first = waiter(NAMESPACE, "lock", "sessionDdddd3", 1);
    Map<String, Object> second = waiter(NAMESPACE, "lock", "sessionCcccc2", 2);
    Map<String, Object> third = waiter(NAMESPACE, "lock", "sessionBbbbb1", 3);
    Map<String, Object> fourth = waiter(NAMESPACE, "lock", "sessionEeeee1", 4);
    Map<String, Object> other = waiter(NAMESPACE, "other", "sessionFffff1", 1);
    Map<String, Object> elsewhere = waiter("two", "lock", "sessionFffff1", 1);
    for (Map<String, Object> waiter : List.of(second, third, other, elsewhere, first, fourth)) {
      tables.put("wait", waiter);
    }
    assertThat(tables.query("wait_heads", "name", "lock", "after", -1, "row_limit", 2))
        .containsExactly(first, second);
    assertThat(tables.query("wait_heads", "name", "lock", "after", 0, "row_limit", 9))
        .containsExactly(first, second, third, fourth);
    assertThat(
            tables.query(
                "wait_heads", "name", "lock", "after", second.get("ticket"), "row_limit", 9))
        .containsExactly(third, fourth);

    tables.put("session", session("sessionBbbbb", 1, NOW + 2));
    tables.put("session", session("sessionCcccc", 1, NOW + 3));
    tables.put("session", session("sessionDdddd", 1, NOW + 4));
    tables.put("session", session("sessionEeeee", 1, NOW + 1));
    tables.put("session", session("sessionFffff", 1, NOW + 1));
    tables.put("session", session("sessionGgggg", 1, NOW + 1));
    assertThat(ends(4, 9)).isEqualTo(NOW + 2);
    assertThat(ends(3, 9)).isEqualTo(NOW + 3);
    assertThat(ends(4, 2)).isEqualTo(NOW + 3);
    assertThat(ends(2, 9)).isEqualTo(NOW + 4);
    assertThat(ends(1, 9)).isNull();
    tables.update("session_judge", "session", "sessionGgggg", "now_us", NOW + 1);
    assertThat(endsAt(NOW + 2)).as("one that has ended is passed over").isEqualTo(NOW + 3);
    assertThat(endsAt(NOW + 1)).isEqualTo(NOW + 2);
  }

  private Object ends(long ticket, int limit) throws SQLException {
    return tables
        .column("wait_ends", "name", "lock", "ticket", ticket, "now_us", NOW, "row_limit", limit)
        .get(0);
  }

  private Object endsAt(long now) throws SQLException {
    return tables
        .column("wait_ends", "name", "lock", "ticket", 4, "now_us", now, "row_limit", 9)
        .get(0);
  }

  @Test
  void givenSessions_whenOneIsMadeAndRenewed_thenNoOtherIs() throws SQLException {
    Map<String, Object> other = tables.put("session", session(STRANGER, 5, NOW + 1));
    tables.update(
        "session_insert",
        "session",
        SESSION,
        "beat",
        5,
        "expires_us",
        NOW + 1,
        "ttl_us",
        9,
        "client",
        "of " + SESSION);
    Map<String, Object> made = session(SESSION, 5, NOW + 1);
    tables.assertAll("session", made, other);
    assertThat(tables.query("session_select", "session", SESSION))
        .containsExactly(
            with(row("beat", 5, "expires_us", NOW + 1, "ttl_us", 9, "client", "of " + SESSION)));
    assertThat(tables.query("session_lock", "session", SESSION))
        .isEqualTo(tables.query("session_select", "session", SESSION));

    assertThat(renew(4, 7, NOW)).as("neither beat").isZero();
    assertThat(renew(5, 7, NOW + 1)).as("it has ended").isZero();
    tables.assertAll("session", made, other);
    assertThat(renew(5, 7, NOW)).isEqualTo(1);
    tables.assertAll("session", with(session(SESSION, 7, NOW + 100), "ttl_us", 4), other);
    assertThat(renew(5, 7, NOW)).as("asked once more").isEqualTo(1);
    assertThat(renew(5, 7, NOW + 100)).as("it has ended").isZero();
  }

  private int renew(long previous, long beat, long now) throws SQLException {
    return tables.update(
        "session_renew",
        "session",
        SESSION,
        "previous",
        previous,
        "beat",
        beat,
        "expires_us",
        NOW + 100,
        "ttl_us",
        4,
        "now_us",
        now);
  }

  @Test
  void givenSessions_whenOneEnds_thenNoOtherDoes() throws SQLException {
    Map<String, Object> other = tables.put("session", session(STRANGER, 5, NOW));
    Map<String, Object> mine = tables.put("session", session(SESSION, 5, NOW));
    assertThat(tables.update("session_judge", "session", SESSION, "now_us", NOW - 1)).isZero();
    assertThat(tables.update("session_end", "session", SESSION, "beat", 6)).isZero();
    tables.assertAll("session", mine, other);
    assertThat(tables.update("session_judge", "session", SESSION, "now_us", NOW)).isEqualTo(1);
    tables.assertAll("session", other);
    tables.put("session", mine);
    assertThat(tables.update("session_end", "session", SESSION, "beat", 5)).isEqualTo(1);
    tables.assertAll("session", other);
    tables.put("session", mine);
    assertThat(tables.update("session_delete", "session", SESSION)).isEqualTo(1);
    tables.assertAll("session", other);
  }

  @Test
  void givenSessions_whenOneIsShortened_thenItAloneUnlessItWasRenewed() throws SQLException {
    Map<String, Object> other = tables.put("session", session(STRANGER, 5, NOW));
    Map<String, Object> mine = tables.put("session", session(SESSION, 5, NOW));
    shorten(6, NOW - 1);
    shorten(5, NOW + 1);
    tables.assertAll("session", mine, other);
    shorten(5, NOW - 1);
    tables.assertAll("session", session(SESSION, 5, NOW - 1), other);
  }

  private void shorten(long beat, long expires) throws SQLException {
    tables.update("session_shorten", "session", SESSION, "beat", beat, "expires_us", expires);
  }

  @Test
  void givenSessions_whenTheyAreListed_thenThoseThatHaveEndedOrAllFromOneOn() throws SQLException {
    tables.put("session", session("d", 1, NOW - 1));
    tables.put("session", session("c", 1, NOW));
    tables.put("session", session("b", 1, NOW + 1));
    tables.put("session", session("a", 1, NOW - 1));
    assertThat(tables.column("session_expired", "now_us", NOW, "row_limit", 9))
        .containsExactlyInAnyOrder("a", "c", "d");
    assertThat(tables.column("session_expired", "now_us", NOW, "row_limit", 2)).hasSize(2);
    assertThat(tables.column("session_ids", "after_id", "a", "row_limit", 9))
        .containsExactly("b", "c", "d");
    assertThat(tables.column("session_ids", "after_id", "a", "row_limit", 2))
        .containsExactly("b", "c");
  }

  @Test
  void givenNews_whenItIsReadAndForgotten_thenThatOfOneSession() throws SQLException {
    tables.put("session", session(SESSION, 5, NOW));
    tables.put("session", session(STRANGER, 4, NOW));
    Map<String, Object> second = notifications(2, SESSION, "gone", ATTEMPT, "how", "EVICTED");
    Map<String, Object> third = notifications(3, SESSION, "wanted", ATTEMPT);
    Map<String, Object> fourth = notifications(4, SESSION, "gone", OTHER, "how", "EXPIRED");
    Map<String, Object> fifth = notifications(5, SESSION, "gone", OTHER, "how", "EXPIRED");
    Map<String, Object> other = notifications(6, STRANGER, "granted", OTHER);
    Map<String, Object> gone = notifications(7, STRANGER, "gone", OTHER);
    for (Map<String, Object> notifications : List.of(fifth, fourth, third, second, other, gone)) {
      tables.put("news", notifications);
    }
    assertThat(tables.query("news_select", "session", SESSION, "after", 2, "row_limit", 2))
        .containsExactly(third, fourth);
    assertThat(tables.query("news_select", "session", SESSION, "after", 3, "row_limit", 9))
        .containsExactly(fourth, fifth);
    assertThat(tables.query("news_gone", "session", SESSION, "row_limit", 2))
        .containsExactly(second, fourth);
    assertThat(tables.query("news_gone", "session", SESSION, "row_limit", 9))
        .containsExactly(second, fourth, fifth);

    assertThat(tables.update("news_delete", "session", SESSION, "beat", 5, "ids", 6)).isZero();
    assertThat(tables.update("news_delete", "session", SESSION, "beat", 4, "ids", 4)).isZero();
    assertThat(tables.update("news_delete", "session", SESSION, "beat", 5, "ids", 4)).isEqualTo(1);
    tables.assertAll("news", second, third, fifth, other, gone);
    tables.put("news", fourth);
    List<Long> ids = List.of(6L, 4L, 1L, 4L);
    assertThat(tables.update("news_delete", "session", SESSION, "beat", 5, "ids", ids))
        .isEqualTo(1);
    tables.assertAll("news", second, third, fifth, other, gone);
    assertThat(tables.update("news_drop", "attempt", ATTEMPT)).isEqualTo(1);
    tables.assertAll("news", second, fifth, other, gone);
    assertThat(tables.update("news_delete_all", "session", SESSION)).isEqualTo(2);
    tables.assertAll("news", other, gone);
  }

  @Test
  void givenSessions_whenNewsIsLeft_thenForThoseThatLiveOnly() throws SQLException {
    tables.put("session", session(STRANGER, 1, NOW + 1000));
    assertThat(leave(NOW - 1)).as("there is none").isZero();
    tables.put("session", session(SESSION, 1, NOW));
    assertThat(leave(NOW)).as("it has ended").isZero();
    tables.assertAll("news");
    assertThat(leave(NOW - 1)).isEqualTo(1);
    Object id = tables.all("news").get(0).get("id");
    tables.assertAll(
        "news",
        notifications(
            (long) id, SESSION, "wanted", ATTEMPT, "token", 31, "tokens", 32, "flag", 1, "timed", 0,
            "how", "EXPIRED"));
    assertThat(leave("granted", 0, 1, "", NOW - 1)).isEqualTo(1);
    assertThat(tables.all("news")).anyMatch(notifications -> notifications.get("timed").equals(1L));
  }

  private int leave(long now) throws SQLException {
    return leave("wanted", 1, 0, "EXPIRED", now);
  }

  private int leave(String kind, int flag, int timed, String how, long now) throws SQLException {
    return tables.update(
        "news_insert",
        "session",
        SESSION,
        "kind",
        kind,
        "name",
        "lock",
        "attempt",
        ATTEMPT,
        "token",
        31,
        "tokens",
        32,
        "flag",
        flag,
        "timed",
        timed,
        "how",
        how,
        "now_us",
        now);
  }

  @Test
  void givenNewsOfSessionsThatHaveEnded_whenSwept_thenSoMuchOfItAndNoOther() throws SQLException {
    tables.put("session", session(SESSION, 1, NOW));
    Map<String, Object> kept = tables.put("news", notifications(1, SESSION, "wanted", ATTEMPT));
    for (int id = 2; id <= 4; id++) {
      tables.put("news", notifications(id, STRANGER, "wanted", OTHER));
    }
    assertThat(tables.update("news_orphaned", "row_limit", 2)).isEqualTo(2);
    assertThat(tables.update("news_orphaned", "row_limit", 9)).isEqualTo(1);
    tables.assertAll("news", kept);
  }

  @Test
  void givenFacts_whenOneIsChanged_thenNoOtherIs() throws SQLException {
    tables.update("meta_insert", "fact", "a", "content", "1");
    tables.update("meta_insert", "fact", "b", "content", "2");
    tables.update("meta_update", "fact", "a", "content", "3");
    assertThat(tables.query("meta_select"))
        .containsExactlyInAnyOrder(
            with(row("fact", "a", "content", "3")), with(row("fact", "b", "content", "2")));
  }

  @Test
  void givenSqliteFileOfAnotherBoot_thenItsLatestUseIsKnownAndItsSessionsAreForgotten()
      throws SQLException {
    assertThat(tables.column("lock_latest")).containsExactly(0L);
    tables.put("lock", lock(NAMESPACE, "a", "touched_us", 7));
    tables.put("lock", lock("two", "b", "touched_us", 9));
    tables.put("lock", lock("two", "c", "touched_us", 8));
    assertThat(tables.column("lock_latest")).containsExactly(9L);
    tables.put("session", session(SESSION, 1, NOW));
    tables.put("news", notifications(1, SESSION, "wanted", ATTEMPT));
    tables.update("session_clear");
    tables.update("news_clear");
    tables.assertAll("session");
    tables.assertAll("news");
  }

  private static final Object[] ACQUIRE = {
    "name",
    "lock",
    "attempt",
    ATTEMPT,
    "session",
    SESSION,
    "capacity",
    10,
    "tokens",
    5,
    "token_floor",
    3,
    "free_us",
    NOW + 40,
    "shut_us",
    NOW + 30,
    "label",
    "after",
    "now_us",
    NOW
  };

  private List<Map<String, Object>> acquire(Object... changes) throws SQLException {
    return tables.query("acquire_fast", pairs(with(row(ACQUIRE), changes)));
  }

  private void onlyLock(Map<String, Object> lock) throws SQLException {
    tables.execute("DELETE FROM " + tables.text.table("lock") + " WHERE name = 'lock'");
    tables.put("lock", lock);
  }

  private void assertTaken(
      Map<String, Object> lock, long token, long tokens, long last, Object... asked)
      throws SQLException {
    onlyLock(lock);
    assertThat(acquire(asked)).containsExactly(with(row("token", token, "tokens", tokens)));
    assertThat(tables.all("lock"))
        .contains(
            with(
                lock,
                "owner",
                ATTEMPT,
                "used",
                10,
                "token",
                token,
                "tokens",
                tokens,
                "last_token",
                last,
                "since_us",
                NOW,
                "free_us",
                NOW + 40,
                "shut_us",
                NOW + 30,
                "label",
                "after",
                "told",
                0,
                "evicted",
                0,
                "touched_us",
                NOW));
  }

  @Test
  void givenFreeLock_whenTaken_thenTokensRunFromTheLastTheClockOrTheFloorNeverFarAhead()
      throws SQLException {
    tables.put("session", session(SESSION, 1, NOW + 1));
    Map<String, Object> other = tables.put("lock", lock(NAMESPACE, "other"));
    Map<String, Object> elsewhere = tables.put("lock", lock("two", "else"));
    Map<String, Object> free = lock(NAMESPACE, "lock", "closed_us", NOW, "told", 3, "evicted", 1);
    assertTaken(free, NOW, 5, NOW + 4);
    assertTaken(with(free, "ended", OTHER), NOW, 5, NOW + 4);
    assertTaken(with(free, "last_token", NOW + 7), NOW + 8, 5, NOW + 12);
    assertTaken(free, NOW + 9, 5, NOW + 13, "token_floor", NOW + 9);
    long most = NOW + 1_000_000;
    assertTaken(free, NOW, 1_000_000, most - 1, "tokens", 2_000_000);
    assertTaken(with(free, "last_token", most - 3), most - 2, 2, most - 1);
    assertTaken(free, most - 2, 2, most - 1, "token_floor", most - 2);
    assertTaken(with(free, "last_token", most - 2), most - 1, 1, most - 1);
    assertTaken(with(free, "last_token", most + 9), most + 10, 1, most + 10);
    assertThat(tables.all("lock")).hasSize(3).contains(other, elsewhere);
  }

  @Test
  void givenLockThatIsNotFree_whenTakenTheShortWay_thenNothingIsChanged() throws SQLException {
    tables.put("session", session(SESSION, 1, NOW + 1));
    tables.put("session", session(STRANGER, 1, NOW + 1));
    Map<String, Object> free = lock(NAMESPACE, "lock", "closed_us", NOW);
    assertRefused(with(free, "used", 1));
    assertRefused(with(free, "waiters", 1));
    assertRefused(with(free, "closed_us", NOW + 1));
    assertRefused(with(free, "capacity", 11));
    assertRefused(with(free, "ended", ATTEMPT));
    assertRefused(free, "now_us", NOW + 1);
    assertRefused(free, "session", "unknown");
    onlyLock(free);
    assertThat(acquire("name", "unknown")).isEmpty();
    tables.assertAll("lock", free);
  }

  private void assertRefused(Map<String, Object> lock, Object... asked) throws SQLException {
    onlyLock(lock);
    assertThat(acquire(asked)).isEmpty();
    tables.assertAll("lock", lock);
  }

  @Test
  void givenHeldLock_whenReleasedTheShortWay_thenItIsFreeAndNoOtherIs() throws SQLException {
    Map<String, Object> held =
        lock(NAMESPACE, "lock", "used", 10, "owner", ATTEMPT, "free_us", NOW + 1);
    Map<String, Object> other = tables.put("lock", with(held, "name", "other"));
    Map<String, Object> elsewhere = tables.put("lock", with(held, "namespace", "two", "name", "x"));
    Map<String, Object> released =
        with(
            held,
            "owner",
            null,
            "used",
            0,
            "touched_us",
            NOW,
            "ended",
            ATTEMPT,
            "ended_was",
            "HELD",
            "ended_how",
            "RELEASED");
    onlyLock(with(held, "shut_us", 90, "closed_us", 80));
    assertThat(abandon()).isEqualTo(1);
    tables.assertAll("lock", with(released, "shut_us", 90, "closed_us", 90), other, elsewhere);
    onlyLock(with(held, "shut_us", 80, "closed_us", 90));
    assertThat(abandon()).isEqualTo(1);
    tables.assertAll("lock", with(released, "shut_us", 80, "closed_us", 90), other, elsewhere);

    for (Map<String, Object> special :
        List.of(
            with(held, "owner", OTHER),
            with(held, "waiters", 1),
            with(held, "told", 1),
            with(held, "told", 2),
            with(held, "evicted", 1),
            with(held, "free_us", NOW))) {
      onlyLock(special);
      assertThat(abandon()).isZero();
      tables.assertAll("lock", special, other, elsewhere);
    }
    onlyLock(with(held, "free_us", NEVER));
    assertThat(abandon()).isEqualTo(1);
  }

  private int abandon() throws SQLException {
    return tables.update("abandon_fast", "name", "lock", "attempt", ATTEMPT, "now_us", NOW);
  }
}
