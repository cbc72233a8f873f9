package io.mortise.jdbc.table;

import static io.mortise.jdbc.table.TestTables.NAMESPACE;
import static io.mortise.jdbc.table.TestTables.asking;
import static io.mortise.jdbc.table.TestTables.hold;
import static io.mortise.jdbc.table.TestTables.lock;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.mortise.HoldTerms;
import io.mortise.LockName;
import io.mortise.jdbc.table.ContendedRequest.ContendedOutcome;
import io.mortise.jdbc.table.LockRepository.BatchedRequest;
import io.mortise.jdbc.table.LockRepository.TokenRange;
import io.mortise.spi.AttemptId;
import io.mortise.spi.Mode;
import io.mortise.spi.Request;
import io.mortise.spi.SessionId;
import io.mortise.spi.SessionNotification;
import io.mortise.support.table.LockTable;
import java.math.BigDecimal;
import java.sql.Connection;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.sql.Statement;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedClass;
import org.junit.jupiter.params.provider.ValueSource;

/**
 * As {@link ServerStatementsTest}, for statements of MySQL and MariaDB alone, or several of them in
 * one text.
 */
@ParameterizedClass
@ValueSource(strings = {"mysql", "mariadb"})
@Tag("extended")
class MySqlStatementsTest extends ServerStatementsFixture {
  private static final AttemptId SOON = new AttemptId(new SessionId("sessionEeeee"), 7);
  private static final AttemptId SOONER = new AttemptId(new SessionId("sessionFffff"), 8);
  private static final long SECOND = 1_000_000;

  /** More than anybody asks for, so that how far they lead the clock is what limits them. */
  private static final int MANY = 2_000_000;

  @Test
  void givenTermsOfOneLength_whenTaken_thenThatAloneIsSet() throws SQLException {
    HoldTerms most = new HoldTerms(Duration.ofMinutes(5), null, "at most");
    HoldTerms least = new HoldTerms(null, Duration.ofSeconds(200), "at least");
    for (HoldTerms terms : List.of(most, least)) {
      taken(free(), acquire(terms, 5, 3));
      takenInQueue(free(), acquire(terms, 5, 3));
      queued(held(OTHER), acquire(terms, 5, 3), List.of(), NEVER);
      Map<String, Object> heir =
          waits(
              OTHER,
              8,
              "at_most_us",
              WaitRow.length(terms.atMost()),
              "at_least_us",
              WaitRow.length(terms.atLeast()),
              "label",
              terms.label());
      handedOver(
          held(OLD, "waiters", 1),
          List.of(heir),
          new Request.Acquire(NAME, OTHER, Mode.EXCLUSIVE, true, terms, 5, 3, null));
    }
  }

  @Test
  void givenLockOfOnePermit_whenTakenTogether_thenItsTermsAreThoseOfThisTime() throws SQLException {
    Map<String, Object> free = free("capacity", 1, "shut_us", now - 7);
    together(free, new BatchedRequest(permit(HoldTerms.NONE), null, true), true);
    together(
        free,
        new BatchedRequest(permit(new HoldTerms(null, Duration.ofSeconds(200), "")), null, true),
        true);
    Map<String, Object> held = held(OLD, "capacity", 1, "used", 1, "shut_us", now - 7);
    together(held, new BatchedRequest(permit(HoldTerms.NONE), OLD, false), true);
  }

  private static Request.Acquire permit(HoldTerms terms) {
    return new Request.Acquire(NAME, ATTEMPT, Mode.permits(1, 1), true, terms, 5, 3, null);
  }

  @Test
  void givenAttemptThatHoldsALockOfAnotherCapacity_whenAskedTogether_thenItIsNotServed()
      throws SQLException {
    // MariaDB's answer is read off the row alone; nobody asks again with another capacity.
    if (database.equals("mysql")) {
      Map<String, Object> lock = held(ATTEMPT, "capacity", WHOLE + 1, "used", WHOLE + 1);
      together(lock, new BatchedRequest(acquire(), null, true), false);
    }
  }

  @Test
  void givenFreeLockInWhoseRowItsLastOwnerStands_whenAskedFor_thenThatSaysNothing()
      throws SQLException {
    Map<String, Object> left = held(OTHER, "used", 0);
    only(left);
    assertThat(Objects.requireNonNull(storeConnection.repository.lock("lock")).owner).isNull();
    taken(left, acquire());
    together(left, new BatchedRequest(acquire(), null, true), true);
    together(with(left, "ended", OTHER.encoded()), new BatchedRequest(acquire(), null, true), true);
    for (Map<String, Object> notFree : notFree()) {
      together(
          with(notFree, "owner", OTHER.encoded(), "free_us", NEVER),
          new BatchedRequest(acquire(), null, true),
          false);
    }
    only(left);
    queue(List.of());
    run("queue_up", asking(ATTEMPT, WHOLE, 5, 3, "ahead", 1));
    assertThat(changed()).isEqualTo(granted(left, acquire(), time()));
    notQueued(with(left, "closed_us", now + MINUTE), List.of());
    notQueued(with(left, "waiters", 1), List.of(waits(THIRD, 1)));
    notHandedOver(held(OLD, "used", 0), List.of());
    notHandedOver(held(OLD, "used", 0, "waiters", 1), List.of(waits(OTHER, 8)));
  }

  @Test
  void givenLockThatWasReleased_whenReleasedOnceMore_thenItIsSaidAgain() throws SQLException {
    Map<String, Object> lock = vacated(held(ATTEMPT), ATTEMPT);
    Request release = new Request.Abandon(NAME, ATTEMPT);
    Request another = new Request.Abandon(LockName.of("nobody's"), OLD);
    for (Map<String, Object> left : List.of(lock, with(lock, "owner", null))) {
      for (boolean isNew : new boolean[] {true, false}) {
        only(left);
        Map<String, TokenRange> done =
            storeConnection.repository.executeBatch(
                List.of(
                    new BatchedRequest(release, null, isNew),
                    new BatchedRequest(another, null, isNew)));
        tables.execute("DELETE FROM " + tables.text.table("lock") + " WHERE name = 'nobody''s'");
        assertThat(done).containsOnly(Map.entry(ATTEMPT.encoded(), new TokenRange(0, 0)));
        assertUnchanged(left);
      }
    }
  }

  @Test
  void givenMoreTokensThanTheClockAllows_whenTaken_thenFewerOrNone() throws SQLException {
    Map<String, Object> lock = free("last_token", now - MINUTE);
    only(lock);
    takeTogether(500 * LEAD);
    takeKnown(500 * LEAD);
    assertUnchanged(lock);
    remove();
    takeTogether(500 * LEAD);
    assertThat(changed()).containsEntry("used", 0L);
    Map<String, Object> almost =
        free("last_token", (long) tables.column("now").get(0) + LEAD - LEAD / 10);
    only(almost);
    takeTogether(LEAD - LEAD / 100);
    takeKnown(LEAD - LEAD / 100);
    assertUnchanged(almost);
    together(free("last_token", now + MINUTE), new BatchedRequest(acquire(), null, true), false);

    only(held(OLD, "waiters", 1));
    queue(List.of(waits(OTHER, 8, "tokens", MANY)));
    assertThat(
            ContendedRequestRunner.handOff(
                storeConnection.repository, new Request.Abandon(NAME, OLD), told::add))
        .isTrue();
    assertThat(changed()).containsEntry("token", time()).containsEntry("tokens", LEAD);

    only(free());
    queue(List.of());
    run("queue_up", asking(ATTEMPT, WHOLE, MANY, 3, "ahead", 1));
    assertThat(changed()).containsEntry("token", time()).containsEntry("tokens", LEAD);
  }

  /** Asks for more tokens than a request may. */
  private void takeTogether(long tokens) throws SQLException {
    String request =
        """
        [{"n": "lock", "a": "%s", "s": "%s", "b": "", "c": %d, "t": %d, "f": 3, "l": -1}]\
        """
            .formatted(ATTEMPT.encoded(), ATTEMPT.session().value(), WHOLE, tokens);
    run("together", "requests", request);
  }

  private void takeKnown(long tokens) throws SQLException {
    if (database.equals("mysql")) {
      known("", tokens, new BatchedRequest(acquire(), null, false));
    }
  }

  /**
   * Asks for one known lock.
   *
   * @param setUp a statement that the connection is given before; empty for none
   */
  private void known(String setUp, long tokens, BatchedRequest batchedRequest) throws SQLException {
    boolean takes = batchedRequest.request() instanceof Request.Acquire;
    String attempt = batchedRequest.request().attempt().encoded();
    Object[] request = {
      "names",
      "lock",
      "free",
      takes && batchedRequest.old() == null ? "lock" : "",
      "takers",
      takes ? attempt : "",
      "before",
      batchedRequest.old() == null ? "" : batchedRequest.releasing().encoded(),
      "leavers",
      takes ? "" : attempt,
      "session",
      ATTEMPT.session().value(),
      "capacity",
      WHOLE,
      "tokens",
      tokens,
      "at_least_us",
      -1,
      "label",
      ""
    };
    SqlText.SqlStatement known = tables.text.statement("together_known");
    try (Connection connection = connect();
        NamedStatement namedStatement =
            TestTables.bind(new NamedStatement(connection, known), request)) {
      if (!setUp.isEmpty()) {
        execute(connection, setUp);
      }
      namedStatement.update();
    }
  }

  @Test
  void givenTimesThatMeetThatOfTheStatement_whenKnownLocksAreAskedFor_thenToTheMicrosecond()
      throws SQLException {
    if (!database.equals("mysql")) {
      return;
    }
    BatchedRequest take = new BatchedRequest(acquire(), null, false);
    atOnce(free("last_token", now - 1), 1, take, true);
    atOnce(free("last_token", now), 1, take, false);
    atOnce(free("closed_us", now), 1, take, true);
    atOnce(free("closed_us", now + 1), 1, take, false);
    atOnce(free("last_token", now - 1), 1_000_000, take, true);
    atOnce(free("last_token", now - 2), 1_000_001, take, true);
    atOnce(free("last_token", now - 1), 1_000_001, take, false);
    BatchedRequest retake = new BatchedRequest(acquire(), OLD, false);
    atOnce(held(OLD, "shut_us", now), 1, retake, true);
    atOnce(held(OLD, "shut_us", now + 1), 1, retake, false);
    atOnce(held(OLD, "closed_us", now + 1), 1, retake, false);
    BatchedRequest release = new BatchedRequest(new Request.Abandon(NAME, ATTEMPT), null, false);
    atOnce(held(ATTEMPT, "free_us", now + 1), 1, release, true);
    atOnce(held(ATTEMPT, "free_us", now), 1, release, false);
    setSession(ATTEMPT, now + 1);
    atOnce(free(), 1, take, true);
    setSession(ATTEMPT, now);
    atOnce(free(), 1, take, false);
  }

  /** At a time that is now for the statement. */
  private void atOnce(
      Map<String, Object> lock, long tokens, BatchedRequest batchedRequest, boolean served)
      throws SQLException {
    only(lock);
    known("SET timestamp = " + BigDecimal.valueOf(now, 6), tokens, batchedRequest);
    if (!served) {
      assertUnchanged(lock);
      return;
    }
    Map<String, Object> row = changed();
    assertThat(row).containsEntry("touched_us", now);
    if (batchedRequest.request() instanceof Request.Acquire) {
      assertThat(row)
          .containsEntry("owner", ATTEMPT.encoded())
          .containsEntry("token", now)
          .containsEntry("last_token", now + tokens - 1);
    } else {
      assertThat(row).containsEntry("used", 0L);
    }
  }

  private void run(String statement, Object... values) throws SQLException {
    try (NamedStatement namedStatement = tables.statement(statement, values)) {
      namedStatement.run((result, rows) -> {});
    }
  }

  @Test
  void givenLongQueue_whenItsNextEndIsLookedFor_thenOfThoseAtItsHead() throws SQLException {
    setSession(SOON, now + 30 * SECOND);
    setSession(SOONER, now + 20 * SECOND);
    List<Map<String, Object>> waiters = new ArrayList<>();
    for (int i = 0; i <= LockTable.STEPS; i++) {
      SessionId session = i == 0 ? SOON.session() : THIRD.session();
      session = i == LockTable.STEPS ? SOONER.session() : session;
      waiters.add(waits(new AttemptId(session, 100 + i), i));
    }
    assertSoonest(waiters, now + 30 * SECOND);
  }

  @Test
  void givenQueue_whenItsNextEndIsLookedFor_thenOfNobodyWhoStandsElsewhere() throws SQLException {
    setSession(SOON, now + 30 * SECOND);
    setSession(SOONER, now + 20 * SECOND);
    setSession(ATTEMPT, now + 25 * SECOND);
    assertSoonest(List.of(waits(SOON, 0), waits(THIRD, 1)), now + 30 * SECOND);
  }

  /** By steps of one who is not in the queue yet, of one who joins it, and of one in it. */
  private void assertSoonest(List<Map<String, Object>> waiters, long soonest) throws SQLException {
    int count = waiters.size();
    only(held(OTHER, "waiters", count, "told", 3, "next_ticket", count));
    queueBesideOthers(waiters);
    begin();
    assertThat(storeConnection.repository.soonestEnd("lock", count, LockTable.STEPS, now))
        .isEqualTo(soonest);
    storeConnection.rollback();
    ContendedOutcome outcome =
        ContendedRequestRunner.queueUp(storeConnection.repository, acquire(), told::add);
    assertThat(outcome.ahead()).isEqualTo(count);
    assertThat(outcome.soonest()).isEqualTo(soonest);
    begin();
    assertThat(storeConnection.repository.soonestEnd("lock", count, LockTable.STEPS, now))
        .isEqualTo(soonest);
    storeConnection.rollback();
  }

  /** Others wait for a lock of another name, and for one of another namespace. */
  private void queueBesideOthers(List<Map<String, Object>> waiters) throws SQLException {
    queue(waiters);
    tables.put("wait", with(waits(SOONER, 0), "name", "able"));
    tables.put("wait", with(waits(SOONER, 0), "namespace", "able"));
  }

  @Test
  void givenQueueThatItsRowDoesNotCount_whenTheLockIsAskedForOrReleased_thenNothingIsChanged()
      throws SQLException {
    notQueued(held(OTHER), List.of(waits(THIRD, 0)));
    notQueued(held(OTHER), List.of(waits(THIRD, 1)));
    notQueued(held(OTHER, "waiters", 1), List.of());
    notHandedOver(held(OLD), List.of(waits(OTHER, 8)));
  }

  @Test
  void givenOneWhoWaits_whenAskedForInAQueue_thenItsEndIsJoined() throws SQLException {
    queued(
        held(OTHER, "waiters", 1, "told", 3, "next_ticket", 1),
        acquire(),
        List.of(waits(THIRD, 0)),
        now + MINUTE);
  }

  @Test
  void givenManyWaitersAndHolders_whenAStepBegins_thenItKnowsTheSessionsOfThoseThatItReads()
      throws SQLException {
    only(free("used", LockTable.STEPS + 2, "waiters", LockTable.CHUNK + 1));
    List<AttemptId> crowd = new ArrayList<>();
    for (int i = 0; i < LockTable.STEPS + 2; i++) {
      crowd.add(living(i));
      Map<String, Object> hold = hold(NAMESPACE, "lock", crowd.get(i).encoded());
      tables.put("hold", with(hold, "place", i));
    }
    AttemptId last = crowd.get(LockTable.STEPS + 1);
    List<Map<String, Object>> waiters = new ArrayList<>();
    for (int i = 100; i <= 100 + LockTable.CHUNK; i++) {
      crowd.add(living(i));
      waiters.add(waits(living(i), i));
    }
    queue(waiters);
    begin();
    assertThat(storeConnection.repository.heads("lock", LockTable.CHUNK)).hasSize(LockTable.CHUNK);
    assertThat(storeConnection.repository.holds("lock", LockTable.STEPS + 1))
        .hasSize(LockTable.STEPS + 1);
    for (AttemptId attempt : crowd) {
      assertThat(storeConnection.repository.session(attempt.session().value()))
          .as(attempt.toString())
          .isNotNull();
    }
    assertThat(storeConnection.repository.hold("lock", last.encoded())).isNotNull();
    storeConnection.rollback();
  }

  /** Of a session of its own. */
  private AttemptId living(int number) throws SQLException {
    AttemptId attempt = new AttemptId(new SessionId("crowd%07d".formatted(number)), number + 1);
    setSession(attempt, now + MINUTE);
    return attempt;
  }

  @Test
  void givenLockBesideOneThatComesBeforeIt_whenHandedOver_thenItIsTheOneThatIsTold()
      throws SQLException {
    Map<String, Object> able = tables.put("lock", with(held(THIRD, "token", 1), "name", "able"));
    only(held(OLD, "waiters", 1));
    queue(List.of(waits(OTHER, 8)));
    assertThat(
            ContendedRequestRunner.handOff(
                storeConnection.repository, new Request.Abandon(NAME, OLD), told::add))
        .isTrue();
    assertThat(tables.all("lock")).contains(able);
    tables.execute("DELETE FROM rows_lock WHERE name = 'able'");
    TokenRange tokenRange = block(changed());
    assertThat(told)
        .containsExactly(
            new SessionNotification.HoldGranted(
                NAME, OTHER, tokenRange.token(), tokenRange.tokens(), false, false));
  }

  /** A step finds its rows by their keys: it meets no other lock's, and waits for nobody there. */
  @Test
  void givenRowsOfOthersThatAreLocked_whenALockIsUsed_thenNothingWaits() throws SQLException {
    Request.Abandon abandon = new Request.Abandon(NAME, ATTEMPT);
    besideLockedRows(
        free(), List.of(), () -> storeConnection.repository.acquireFast(acquire(), () -> now));
    besideLockedRows(
        held(ATTEMPT), List.of(), () -> storeConnection.repository.abandonFast(abandon, () -> now));
    besideLockedRows(
        held(ATTEMPT, "waiters", 1),
        List.of(waits(OTHER, 8)),
        () -> ContendedRequestRunner.handOff(storeConnection.repository, abandon, told::add));
    besideLockedRows(
        free(),
        List.of(),
        () -> ContendedRequestRunner.queueUp(storeConnection.repository, acquire(), told::add));
    besideLockedRows(
        held(OTHER),
        List.of(),
        () -> ContendedRequestRunner.queueUp(storeConnection.repository, acquire(), told::add));
    besideLockedRows(
        free(),
        List.of(),
        () ->
            storeConnection.repository.executeBatch(
                List.of(new BatchedRequest(acquire(), null, true))));
    besideLockedRows(
        held(OTHER),
        List.of(),
        () -> {
          begin();
          storeConnection.rollback();
        });
  }

  @FunctionalInterface
  private interface StatementStep {
    void run() throws SQLException;
  }

  private void besideLockedRows(
      Map<String, Object> lock, List<Map<String, Object>> waiters, StatementStep step)
      throws SQLException {
    only(lock);
    queueBesideOthers(waiters);
    try (Connection another = connect()) {
      another.setTransactionIsolation(Connection.TRANSACTION_READ_COMMITTED);
      execute(another, "START TRANSACTION");
      execute(
          another, "SELECT 1 FROM rows_lock WHERE namespace = 'one' AND name = 'other' FOR UPDATE");
      execute(
          another,
          "SELECT 1 FROM rows_wait WHERE namespace = 'one' AND name = 'able' AND ticket = 0"
              + " FOR UPDATE");
      step.run();
      execute(another, "ROLLBACK");
    }
  }

  @Test
  void givenLockWithoutARow_whenNobodyMayTakeIt_thenItHasOneAsIfForgottenLongAgo()
      throws SQLException {
    BatchedRequest release = new BatchedRequest(new Request.Abandon(NAME, ATTEMPT), null, true);
    madeIdle(release);
    Map<String, Object> made = changed();
    assertThat(made)
        .containsEntry("tokens", 0L)
        .containsEntry("last_token", (long) made.get("token") - 1)
        .containsEntry("shut_us", made.get("since_us"))
        .containsEntry("label", "");
    BatchedRequest aheadOfTime =
        new BatchedRequest(acquire(HoldTerms.NONE, 5, now + MINUTE), null, true);
    for (BatchedRequest batchedRequest :
        List.of(new BatchedRequest(acquire(), OLD, false), aheadOfTime)) {
      madeIdle(batchedRequest);
    }
    endSession();
    madeIdle(new BatchedRequest(acquire(), null, true));
  }

  @Test
  void givenListThatIsFilledUp_whenAskedTogether_thenEachIsServedOnce() throws SQLException {
    if (!database.equals("mysql")) {
      return;
    }
    List<BatchedRequest> batchedRequests = new ArrayList<>();
    for (int i = 0; i < 5; i++) {
      AttemptId attempt = new AttemptId(ATTEMPT.session(), 100 + i);
      LockName name = LockName.of("list" + i);
      boolean takes = i % 2 == 0;
      if (i > 1) {
        Map<String, Object> row = takes ? free() : held(attempt);
        tables.put("lock", with(row, "name", name.value()));
      }
      batchedRequests.add(
          new BatchedRequest(
              takes
                  ? new Request.Acquire(
                      name, attempt, Mode.EXCLUSIVE, true, HoldTerms.NONE, 2, 0, null)
                  : new Request.Abandon(name, attempt),
              null,
              false));
    }
    assertThat(SqlText.listLength(batchedRequests.size())).isEqualTo(batchedRequests.size() + 1);
    Map<String, TokenRange> done = storeConnection.repository.executeBatch(batchedRequests);
    List<Map<String, Object>> rows =
        tables.all("lock").stream()
            .filter(row -> ((String) row.get("name")).startsWith("list"))
            .toList();
    tables.execute("DELETE FROM " + tables.text.table("lock") + " WHERE name LIKE 'list%'");
    // A lock without a row is requested alone.
    List<String> served =
        batchedRequests.stream()
            .skip(2)
            .map(batchedRequest -> batchedRequest.request().attempt().encoded())
            .toList();
    assertThat(done).containsOnlyKeys(served);
    for (BatchedRequest batchedRequest : batchedRequests) {
      String attempt = batchedRequest.request().attempt().encoded();
      TokenRange tokenRange = done.get(attempt);
      boolean takes = batchedRequest.request() instanceof Request.Acquire;
      assertThat(rows.stream().filter(row -> holds(row, attempt)).toList())
          .hasSize(takes && tokenRange != null ? 1 : 0)
          .allSatisfy(row -> assertThat(block(row)).isEqualTo(tokenRange));
    }
  }

  @Test
  void givenKnownLocks_whenAllAreServed_thenEachGetsTheBlockThatItsRowSays() throws SQLException {
    for (boolean retakes : new boolean[] {false, true}) {
      only(retakes ? held(OLD) : free());
      tables.put("lock", with(held(THIRD), "name", "mate"));
      List<BatchedRequest> batchedRequests =
          List.of(
              new BatchedRequest(acquire(HoldTerms.NONE, 5, 0), retakes ? OLD : null, false),
              new BatchedRequest(new Request.Abandon(LockName.of("mate"), THIRD), null, false));
      Map<String, TokenRange> done = storeConnection.repository.executeBatch(batchedRequests);
      tables.execute("DELETE FROM " + tables.text.table("lock") + " WHERE name = 'mate'");
      assertThat(done)
          .containsOnly(
              Map.entry(ATTEMPT.encoded(), block(changed())),
              Map.entry(THIRD.encoded(), new TokenRange(0, 0)));
      assertThat(changed()).containsEntry("token", time()).containsEntry("tokens", 5L);
    }
  }

  private static boolean holds(Map<String, Object> row, String attempt) {
    return (long) row.get("used") > 0 && attempt.equals(row.get("owner"));
  }

  private void madeIdle(BatchedRequest batchedRequest) throws SQLException {
    remove();
    assertThat(storeConnection.repository.executeBatch(List.of(batchedRequest))).isEmpty();
    Map<String, Object> made = changed();
    assertThat(made)
        .containsEntry("capacity", (long) WHOLE)
        .containsEntry("used", 0L)
        .containsEntry("owner", null)
        .containsEntry("told", 0L)
        .containsEntry("evicted", 0L)
        .containsEntry("next_place", 0L)
        .containsEntry("next_ticket", 0L)
        .containsEntry("waiters", 0L)
        .containsEntry("closed_us", 0L)
        .containsEntry("touched_us", 0L)
        .containsEntry("ended", null);
  }

  @Test
  void givenTables_whenLookedFor_thenNamesMustBeToldApartAndTransactionsBe() throws SQLException {
    tables.execute(
        "CREATE TABLE IF NOT EXISTS rows_loose (name VARCHAR(9) COLLATE utf8mb4_general_ci)");
    tables.execute(
        "CREATE TABLE IF NOT EXISTS rows_plain (name VARCHAR(9) COLLATE "
            + (database.equals("mysql") ? "utf8mb4_0900_bin" : "utf8mb4_nopad_bin")
            + ") ENGINE = MyISAM");
    assertThat(check("lock")).containsExactly(1L);
    assertThat(check("meta")).containsExactly(1L);
    assertThat(check("loose")).containsExactly(0L);
    assertThat(check("plain")).containsExactly(-1L);
    assertThat(check("none")).isEmpty();
  }

  private List<Object> check(String table) throws SQLException {
    return tables.column("check", "table_name", "rows_" + table);
  }

  @Test
  void givenConnection_whenItIsSetUpAndGivenBack_thenItsSettingsAreOursAndThenItsOwn()
      throws SQLException {
    String settings =
        "@@time_zone, @@sql_mode, @@innodb_lock_wait_timeout, @@lock_wait_timeout, @@wait_timeout, "
            + "@@sql_safe_updates + 0, @@sql_select_limit, @@sql_big_selects + 0, @@completion_type, "
            + (database.equals("mysql")
                ? "@@max_execution_time"
                : "@@max_statement_time, @@idle_transaction_timeout");
    // Half of 8 s, in quarters; a connection is kept for a minute.
    assertThat(settings(tables.connection, settings))
        .isEqualTo(
            "+00:00 STRICT_TRANS_TABLES,NO_ENGINE_SUBSTITUTION 1 1 60 0 18446744073709551615 1 NO_CHAIN "
                + (database.equals("mysql") ? "4000" : "4.000000 4"));
    storeConnection.detach();
    try (Connection fresh = connect()) {
      assertThat(settings(tables.connection, settings)).isEqualTo(settings(fresh, settings));
    }
  }

  @Test
  void givenTransaction_whenItIsOpen_thenAConnectionMayNotBeSilentForLong() throws SQLException {
    // MariaDB has a setting of its own for that.
    String open = database.equals("mysql") ? "4" : "60";
    only(free());
    storeConnection.begin(LockRepository.PrefetchTarget.of(acquire()));
    assertThat(settings(tables.connection, "@@wait_timeout")).isEqualTo(open);
    storeConnection.commit();
    assertThat(settings(tables.connection, "@@wait_timeout")).isEqualTo("60");
    storeConnection.begin(null);
    assertThat(settings(tables.connection, "@@wait_timeout")).isEqualTo(open);
    storeConnection.rollback();
    assertThat(settings(tables.connection, "@@wait_timeout")).isEqualTo("60");
  }

  @Test
  void givenProcessThatStandsStillInATransaction_whenAnotherWantsTheLock_thenItLosesTheConnection()
      throws SQLException {
    only(free());
    try (Connection silent = connect();
        Connection another = connect()) {
      StoreConnection stands = storeConnection(silent);
      stands.begin(LockRepository.PrefetchTarget.of(acquire()));
      execute(another, "SET SESSION innodb_lock_wait_timeout = 30");
      execute(another, "SELECT * FROM rows_lock WHERE name = 'lock' FOR UPDATE");
      assertThatThrownBy(stands::commit).isInstanceOf(SQLException.class);
    }
  }

  private static String settings(Connection connection, String settings) throws SQLException {
    try (Statement statement = connection.createStatement();
        ResultSet row = statement.executeQuery("SELECT CONCAT_WS(' ', " + settings + ")")) {
      row.next();
      return row.getString(1);
    }
  }

  @Test
  void givenRowThatAnotherHasLocked_whenAskedFor_thenItFailsAtOnce() throws SQLException {
    only(free());
    try (Connection another = connect()) {
      execute(another, "START TRANSACTION");
      execute(
          another, "SELECT 1 FROM rows_lock WHERE namespace = 'one' AND name = 'lock' FOR UPDATE");
      assertThatThrownBy(() -> storeConnection.repository.ensureUnlocked(NAME))
          .isInstanceOf(SQLException.class);
      storeConnection.repository.ensureUnlocked(LockName.of("other"));
      execute(another, "ROLLBACK");
      storeConnection.repository.ensureUnlocked(NAME);
    }
  }
}
