package io.mortise.jdbc;

import static io.mortise.jdbc.TestTables.NAMESPACE;
import static io.mortise.jdbc.TestTables.hold;
import static io.mortise.jdbc.TestTables.lock;
import static io.mortise.jdbc.TestTables.news;
import static io.mortise.jdbc.TestTables.pairs;
import static io.mortise.jdbc.TestTables.session;
import static io.mortise.jdbc.TestTables.waiter;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.mortise.jdbc.Rows.Ask;
import io.mortise.jdbc.Rows.Block;
import io.mortise.jdbc.Rows.Place;
import io.mortise.spi.AttemptId;
import io.mortise.spi.LockName;
import io.mortise.spi.Mode;
import io.mortise.spi.News;
import io.mortise.spi.Reply;
import io.mortise.spi.Request;
import io.mortise.spi.SessionId;
import io.mortise.spi.Terms;
import java.sql.Connection;
import java.sql.DriverManager;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.sql.Statement;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Properties;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Assumptions;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.BeforeParameterizedClassInvocation;
import org.junit.jupiter.params.Parameter;
import org.junit.jupiter.params.ParameterizedClass;
import org.junit.jupiter.params.provider.ValueSource;

/**
 * As {@link StatementsTest}, of the statements that do a whole step on a server, by its clock. What
 * they do counts from the time that they leave in the row.
 */
@ParameterizedClass
@ValueSource(strings = {"postgresql", "mysql", "mariadb"})
class ServerStatementsTest {
  private static final LockName NAME = LockName.of("lock");
  private static final AttemptId ATTEMPT = new AttemptId(new SessionId("sessionAaaaa"), 1);
  private static final AttemptId OLD = new AttemptId(new SessionId("sessionAaaaa"), 2);
  private static final AttemptId OTHER = new AttemptId(new SessionId("sessionBbbbb"), 3);
  private static final AttemptId THIRD = new AttemptId(new SessionId("sessionCcccc"), 4);
  private static final AttemptId DEAD = new AttemptId(new SessionId("sessionDdddd"), 5);
  private static final AttemptId VAIN = new AttemptId(new SessionId("sessionBbbbb"), 6);
  private static final long NEVER = Long.MAX_VALUE;
  private static final long MINUTE = 60_000_000;
  private static final long LEAD = LockSteps.TOKEN_LEAD_MICROS;
  private static final int WHOLE = Mode.SHARERS;
  private static final Terms TERMS =
      new Terms(Duration.ofSeconds(300), Duration.ofSeconds(200), "after");

  @Parameter String database;
  private TestTables tables;
  private Link link;

  /** When the test began. */
  private long now;

  private Map<String, Object> other;
  private Map<String, Object> elsewhere;
  private final List<News> told = new ArrayList<>();

  /** Where one is named, the others are not asked. */
  @BeforeParameterizedClassInvocation
  static void skipOthers(String database) {
    Assumptions.assumeTrue(System.getProperty("mortise.database", database).equals(database));
  }

  @BeforeEach
  void makeTables() throws SQLException {
    Dialect dialect =
        switch (database) {
          case "postgresql" -> new PostgresDialect();
          case "mysql" -> new MySqlDialect();
          default -> new MariaDbDialect();
        };
    Connection connection = connect();
    dialect.setUp(connection, "the test's store", Duration.ofSeconds(8));
    tables = new TestTables(connection, dialect.folders().toArray(new String[0]));
    link = dialect.link(connection, tables.text, NAMESPACE, session -> false);
    now = (long) tables.column("now").get(0);
    for (AttemptId alive : List.of(ATTEMPT, OTHER, THIRD)) {
      tables.put(
          "session", with(session(alive.session().value(), 1, now + MINUTE), "ttl_us", MINUTE));
    }
    tables.put("session", session(DEAD.session().value(), 1, now - MINUTE));
    other = tables.put("lock", with(held(OTHER), "name", "other"));
    elsewhere = tables.put("lock", with(held(OTHER), "namespace", "two"));
  }

  private Connection connect() throws SQLException {
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

  @AfterEach
  void close() throws SQLException {
    tables.close();
  }

  private boolean isPostgres() {
    return database.equals("postgresql");
  }

  private Map<String, Object> free(Object... changes) {
    return with(
        lock(NAMESPACE, "lock", "capacity", WHOLE, "closed_us", now - MINUTE, "shut_us", 0),
        changes);
  }

  private Map<String, Object> held(AttemptId owner, Object... changes) {
    return with(free("used", WHOLE, "owner", owner.encoded(), "free_us", NEVER), changes);
  }

  private static Request.Acquire acquire(Terms terms, int tokens, long floor) {
    return new Request.Acquire(NAME, ATTEMPT, Mode.EXCLUSIVE, true, terms, tokens, floor, null);
  }

  private static Request.Acquire acquire() {
    return acquire(Terms.NONE, 5, 3);
  }

  private void only(Map<String, Object> lock) throws SQLException {
    tables.execute(
        "DELETE FROM " + tables.text.table("lock") + " WHERE namespace = 'one' AND name = 'lock'");
    tables.put("lock", lock);
  }

  /** The lock, when no other was changed. */
  private Map<String, Object> changed() throws SQLException {
    List<Map<String, Object>> all = tables.all("lock");
    assertThat(all).hasSize(3).contains(other, elsewhere);
    all.remove(other);
    all.remove(elsewhere);
    return all.get(0);
  }

  /** The time of the statement that changed the lock, when the test knows that it is right. */
  private long time() throws SQLException {
    long time = (long) changed().get("touched_us");
    assertThat(time).isBetween(now, (long) tables.column("now").get(0));
    return time;
  }

  private void assertUnchanged(Map<String, Object> lock) throws SQLException {
    tables.assertAll("lock", lock, other, elsewhere);
  }

  /** As the rules say: what becomes of a lock that an attempt is granted. */
  private Map<String, Object> granted(
      Map<String, Object> lock, Request.Acquire request, long time) {
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
        atMost == null ? NEVER : time + HoldRow.micros(atMost),
        "shut_us",
        atLeast == null ? 0 : time + HoldRow.micros(atLeast),
        "label",
        request.terms().label(),
        "told",
        0,
        "evicted",
        0,
        "touched_us",
        time);
  }

  private static Map<String, Object> released(Map<String, Object> lock, AttemptId attempt) {
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

  private static Block block(Map<String, Object> lock) {
    return new Block((long) lock.get("token"), (int) (long) lock.get("tokens"));
  }

  @Test
  void givenFreeLock_whenTaken_thenAllOfItsRowSaysSo() throws SQLException {
    taken(free("told", 3, "evicted", 1), acquire());
    taken(free("ended", OTHER.encoded()), acquire());
    taken(free(), acquire(TERMS, 6, 3));
    taken(free("last_token", now + LEAD / 2), acquire());
    taken(free(), acquire(Terms.NONE, 5, now + LEAD / 2));
    if (isPostgres()) {
      taken(free("last_token", now + LEAD - 4_000), acquire(Terms.NONE, 8_000, 0));
      taken(free(), acquire(Terms.NONE, 8_000, now + LEAD - 4_000));
      taken(free("last_token", now + MINUTE), acquire());
    } else {
      tooFarAhead(free("last_token", now + MINUTE), 3, 5);
      tooFarAhead(free(), now + MINUTE, 5);
      tooFarAhead(free("last_token", now - MINUTE), 3, 500_000_000);
    }
  }

  private void taken(Map<String, Object> lock, Request.Acquire request) throws SQLException {
    only(lock);
    Block block = link.rows.acquireFast(request, () -> now);
    Map<String, Object> expected = granted(lock, request, time());
    assertThat(changed()).isEqualTo(expected);
    assertThat(block).isEqualTo(block(expected));
  }

  private void tooFarAhead(Map<String, Object> lock, long floor, int tokens) throws SQLException {
    for (String name : List.of("acquire_fast", "exchange")) {
      Map<String, Object> before =
          name.equals("exchange")
              ? with(lock, "owner", OLD.encoded(), "used", WHOLE, "free_us", NEVER)
              : lock;
      only(before);
      assertThat(
              tables.update(
                  name,
                  "name",
                  "lock",
                  "old",
                  OLD.encoded(),
                  "attempt",
                  ATTEMPT.encoded(),
                  "session",
                  ATTEMPT.session().value(),
                  "capacity",
                  WHOLE,
                  "tokens",
                  tokens,
                  "token_floor",
                  floor,
                  "at_most_us",
                  -1,
                  "at_least_us",
                  -1,
                  "label",
                  ""))
          .isZero();
      assertUnchanged(before);
    }
  }

  @Test
  void givenLockThatIsNotFree_whenTakenTheShortWay_thenNothingIsChanged() throws SQLException {
    for (Map<String, Object> lock : notFree()) {
      only(lock);
      assertThat(link.rows.acquireFast(acquire(), () -> now)).as(lock.toString()).isNull();
      assertUnchanged(lock);
    }
    for (String session : List.of("unknown", DEAD.session().value())) {
      only(free());
      endSession();
      assertThat(link.rows.acquireFast(acquire(), () -> now)).as(session).isNull();
      assertUnchanged(free());
    }
  }

  private List<Map<String, Object>> notFree() {
    return List.of(
        free("used", 1),
        free("waiters", 1),
        free("closed_us", now + MINUTE),
        free("capacity", WHOLE + 1),
        free("ended", ATTEMPT.encoded()));
  }

  /** First by its time, then altogether. */
  private void endSession() throws SQLException {
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

  @Test
  void givenHeldLock_whenReleasedTheShortWay_thenAllOfItsRowSaysSo() throws SQLException {
    Request.Abandon abandon = new Request.Abandon(NAME, ATTEMPT);
    for (long shut : new long[] {0, now + MINUTE}) {
      Map<String, Object> lock = held(ATTEMPT, "shut_us", shut, "free_us", now + MINUTE);
      only(lock);
      assertThat(link.rows.abandonFast(abandon, () -> now)).isTrue();
      assertThat(changed())
          .isEqualTo(with(released(lock, ATTEMPT), "owner", null, "used", 0, "touched_us", time()));
    }
    for (Map<String, Object> lock : special(ATTEMPT)) {
      only(lock);
      assertThat(link.rows.abandonFast(abandon, () -> now)).as(lock.toString()).isFalse();
      assertUnchanged(lock);
    }
  }

  private List<Map<String, Object>> special(AttemptId owner) {
    return List.of(
        held(OTHER),
        held(owner, "waiters", 1),
        held(owner, "told", 1),
        held(owner, "told", 2),
        held(owner, "evicted", 1),
        held(owner, "free_us", now - 1));
  }

  @Test
  void givenHeldLock_whenTheSameProcessGivesItToAnotherAttempt_thenAllOfItsRowSaysSo()
      throws SQLException {
    exchanged(held(OLD, "shut_us", now - 7), acquire());
    exchanged(held(OLD, "shut_us", now - 2 * MINUTE), acquire(TERMS, 6, 3));
    exchanged(held(OLD, "free_us", now + MINUTE, "ended", OTHER.encoded()), acquire());
    exchanged(held(OLD, "last_token", now + LEAD / 2), acquire());
    exchanged(held(OLD), acquire(Terms.NONE, 5, now + LEAD / 2));
    if (isPostgres()) {
      exchanged(held(OLD, "last_token", now + LEAD - 4_000), acquire(Terms.NONE, 8_000, 0));
      exchanged(held(OLD), acquire(Terms.NONE, 8_000, now + LEAD - 4_000));
      exchanged(held(OLD, "last_token", now + MINUTE), acquire());
    }
    List<Map<String, Object>> others = new ArrayList<>(special(OLD));
    others.add(held(OLD, "closed_us", now + MINUTE));
    others.add(held(OLD, "shut_us", now + MINUTE));
    others.add(held(OLD, "capacity", WHOLE + 1));
    for (Map<String, Object> lock : others) {
      only(lock);
      assertThat(link.rows.exchange(OLD, acquire())).as(lock.toString()).isNull();
      assertUnchanged(lock);
    }
    for (int i = 0; i < 2; i++) {
      only(held(OLD));
      endSession();
      assertThat(link.rows.exchange(OLD, acquire())).isNull();
      assertUnchanged(held(OLD));
    }
  }

  private void exchanged(Map<String, Object> lock, Request.Acquire request) throws SQLException {
    only(lock);
    Block block = link.rows.exchange(OLD, request);
    Map<String, Object> expected = granted(released(lock, OLD), request, time());
    assertThat(changed()).isEqualTo(expected);
    assertThat(block).isEqualTo(block(expected));
  }

  /** As it stands in the queue, for the whole lock. */
  private Map<String, Object> waits(AttemptId attempt, long ticket, Object... changes) {
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

  private static Map<String, Object> with(Map<String, Object> row, Object... changes) {
    return TestTables.with(row, changes);
  }

  private static Map<String, Object> with(Map<String, Object> row, Map<String, Object> changes) {
    return TestTables.with(row, pairs(changes));
  }

  private void queue(List<Map<String, Object>> waiters) throws SQLException {
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

  private List<Map<String, Object>> queue() throws SQLException {
    return tables.all("wait").stream()
        .filter(waiter -> !waiter.get("attempt").equals(DEAD.encoded()) || isMine(waiter))
        .toList();
  }

  private static boolean isMine(Map<String, Object> waiter) {
    return waiter.get("namespace").equals(NAMESPACE) && waiter.get("name").equals("lock");
  }

  private List<Map<String, Object>> newsWithoutIds() throws SQLException {
    List<Map<String, Object>> news = tables.all("news");
    news.forEach(each -> each.remove("id"));
    return news;
  }

  private static Map<String, Object> grantedNews(Map<String, Object> lock) {
    Map<String, Object> news =
        news(
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
    news.remove("id");
    return news;
  }

  @Test
  void givenHeldLockWithAQueue_whenReleased_thenItsHeadHasIt() throws SQLException {
    Request.Acquire plain =
        new Request.Acquire(NAME, OTHER, Mode.EXCLUSIVE, true, Terms.NONE, 5, 3, null);
    Map<String, Object> second = waits(THIRD, 9, "label", "not yet", "tokens", 7);
    handedOver(held(OLD, "waiters", 1), List.of(waits(OTHER, 8)), plain);
    handedOver(held(OLD, "waiters", 2, "told", 3), List.of(second, waits(OTHER, 8)), plain);
    handedOver(held(OLD, "waiters", 1, "shut_us", now - 7), List.of(waits(OTHER, 8)), plain);
    handedOver(
        held(OLD, "waiters", 1, "free_us", now + MINUTE),
        List.of(
            waits(
                OTHER, 8, "at_most_us", 300_000_000, "at_least_us", 200_000_000, "label", "after")),
        new Request.Acquire(NAME, OTHER, Mode.EXCLUSIVE, true, TERMS, 5, 3, null));
    handedOver(
        held(OLD, "waiters", 1, "last_token", now + LEAD - 4_000),
        List.of(waits(OTHER, 8, "tokens", 8_000)),
        new Request.Acquire(NAME, OTHER, Mode.EXCLUSIVE, true, Terms.NONE, 8_000, 3, null));
    handedOver(
        held(OLD, "waiters", 1, "last_token", now + MINUTE), List.of(waits(OTHER, 8)), plain);
    handedOver(
        held(OLD, "waiters", 1),
        List.of(waits(OTHER, 8, "token_floor", now + LEAD / 2)),
        new Request.Acquire(
            NAME, OTHER, Mode.EXCLUSIVE, true, Terms.NONE, 5, now + LEAD / 2, null));
  }

  private void handedOver(
      Map<String, Object> lock, List<Map<String, Object>> waiters, Request.Acquire heir)
      throws SQLException {
    only(lock);
    queue(waiters);
    tables.put("news", news(1_000_001, OLD.session().value(), "wanted", OLD.encoded()));
    Map<String, Object> gone =
        tables.put("news", news(1_000_002, OLD.session().value(), "gone", OLD.encoded()));
    Map<String, Object> strangers =
        tables.put("news", news(1_000_003, OLD.session().value(), "wanted", ATTEMPT.encoded()));
    gone.remove("id");
    strangers.remove("id");
    assertThat(link.rows.handOver(new Request.Abandon(NAME, OLD), told::add)).isTrue();
    long left = waiters.size() - 1L;
    Map<String, Object> expected =
        with(
            granted(released(lock, OLD), heir, time()),
            "told",
            left > 0 ? 3 : 2,
            "waiters",
            left,
            "next_place",
            (long) lock.get("next_place") + 1);
    assertThat(changed()).isEqualTo(expected);
    assertThat(queue())
        .containsExactlyElementsOf(
            waiters.stream()
                .filter(waiter -> !waiter.get("attempt").equals(heir.attempt().encoded()))
                .toList());
    assertThat(newsWithoutIds()).containsExactlyInAnyOrder(gone, strangers, grantedNews(expected));
    assertThat(told)
        .containsExactly(
            new News.Granted(
                NAME,
                heir.attempt(),
                (long) expected.get("token"),
                (int) (long) expected.get("tokens"),
                left > 0,
                heir.terms().atMost() != null));
  }

  @Test
  void givenHeldLockThatNobodyWaitsForAnyMore_whenReleased_thenItIsFree() throws SQLException {
    for (long shut : new long[] {0, now + MINUTE}) {
      Map<String, Object> lock = held(OLD, "shut_us", shut, "told", 3, "free_us", now + MINUTE);
      only(lock);
      queue(List.of());
      tables.put("news", news(1_000_001, OLD.session().value(), "wanted", OLD.encoded()));
      assertThat(link.rows.handOver(new Request.Abandon(NAME, OLD), told::add)).isTrue();
      Map<String, Object> expected =
          with(released(lock, OLD), "owner", null, "used", 0, "touched_us", time());
      // What is said of an owner says nothing where there is none.
      assertThat(with(changed(), "free_us", 0, "shut_us", 0))
          .isEqualTo(with(expected, "free_us", 0, "shut_us", 0));
      assertThat(tables.all("news")).isEmpty();
      assertThat(told).isEmpty();
    }
  }

  @Test
  void givenLockThatCannotBeHandedOver_whenReleasedThatWay_thenNothingIsChanged()
      throws SQLException {
    List<Map<String, Object>> waiters = List.of(waits(OTHER, 8));
    notHandedOver(held(ATTEMPT, "waiters", 1), waiters);
    notHandedOver(held(OLD, "waiters", 1, "evicted", 1), waiters);
    notHandedOver(held(OLD, "waiters", 1, "free_us", now - 1), waiters);
    notHandedOver(held(OLD, "waiters", 1, "closed_us", now + MINUTE), waiters);
    notHandedOver(held(OLD, "waiters", 1, "shut_us", now + MINUTE), waiters);
    notHandedOver(held(OLD, "waiters", 1), List.of(waits(OTHER, 8, "weight", 1)));
    notHandedOver(held(OLD, "waiters", 1), List.of(waits(DEAD, 8)));
    notHandedOver(held(OLD, "waiters", 2), List.of(waits(DEAD, 8), waits(OTHER, 9)));
    notHandedOver(held(OLD, "waiters", 1), List.of());
    notHandedOver(held(OLD, "evicted", 1), List.of());
    notHandedOver(held(OLD, "free_us", now - 1), List.of());
    notHandedOver(held(ATTEMPT), List.of());
  }

  private void notHandedOver(Map<String, Object> lock, List<Map<String, Object>> waiters)
      throws SQLException {
    only(lock);
    queue(waiters);
    Map<String, Object> news =
        tables.put("news", news(1_000_001, OLD.session().value(), "wanted", OLD.encoded()));
    assertThat(link.rows.handOver(new Request.Abandon(NAME, OLD), told::add))
        .as(lock.toString())
        .isFalse();
    assertUnchanged(lock);
    assertThat(queue()).containsExactlyElementsOf(waiters);
    tables.assertAll("news", news);
    assertThat(told).isEmpty();
  }

  @Test
  void givenFreeLock_whenAskedForInAQueue_thenItIsTaken() throws SQLException {
    takenInQueue(free("told", 3, "evicted", 1), acquire());
    takenInQueue(free("ended", OTHER.encoded()), acquire(TERMS, 6, 3));
    takenInQueue(free("last_token", now + LEAD / 2), acquire());
    takenInQueue(free(), acquire(Terms.NONE, 5, now + LEAD / 2));
    takenInQueue(free("last_token", now + LEAD - 4_000), acquire(Terms.NONE, 8_000, 0));
    takenInQueue(free("last_token", now + MINUTE), acquire());
    for (Map<String, Object> lock : notFree()) {
      notQueued(lock, List.of());
    }
  }

  private void takenInQueue(Map<String, Object> lock, Request.Acquire request) throws SQLException {
    only(lock);
    queue(List.of());
    Place place = link.rows.queueUp(request, told::add);
    Map<String, Object> expected = granted(lock, request, time());
    assertThat(changed()).isEqualTo(expected);
    assertThat(place.taken()).isEqualTo(block(expected));
    assertThat(queue()).isEmpty();
    assertThat(tables.all("news")).isEmpty();
    assertThat(told).isEmpty();
  }

  private void notQueued(Map<String, Object> lock, List<Map<String, Object>> waiters)
      throws SQLException {
    only(lock);
    queue(waiters);
    assertThat(link.rows.queueUp(acquire(), told::add)).as(lock.toString()).isNull();
    assertUnchanged(lock);
    assertThat(queue()).containsExactlyElementsOf(waiters);
    assertThat(tables.all("news")).isEmpty();
    assertThat(told).isEmpty();
  }

  @Test
  void givenHeldLock_whenAskedForInAQueue_thenItsEndIsJoinedAndTheHolderTold() throws SQLException {
    queued(held(OTHER), acquire(), List.of(), NEVER);
    queued(held(OTHER, "told", 1), acquire(TERMS, 6, 9), List.of(), NEVER);
    queued(held(OTHER, "told", 2, "free_us", now + MINUTE), acquire(), List.of(), NEVER);
    queued(held(OTHER, "told", 3, "ended", THIRD.encoded()), acquire(), List.of(), NEVER);
    // Of those ahead one has ended; its place counts, its time does not.
    setSession(THIRD, now + 30_000_000);
    queued(
        held(OTHER, "waiters", 3, "told", 3, "next_ticket", 19),
        acquire(),
        List.of(waits(THIRD, 15), waits(OTHER, 16), waits(DEAD, 17)),
        now + 30_000_000);
    setSession(THIRD, now + MINUTE);
    setSession(OTHER, now + 30_000_000);
    queued(
        held(OTHER, "waiters", 2, "told", 3, "next_ticket", 19),
        acquire(),
        List.of(waits(THIRD, 15), waits(OTHER, 16)),
        now + 30_000_000);
  }

  private void setSession(AttemptId attempt, long expires) throws SQLException {
    String id = attempt.session().value();
    tables.update("session_delete", "session", id);
    tables.put("session", with(session(id, 1, expires), "ttl_us", MINUTE));
  }

  private void queued(
      Map<String, Object> lock,
      Request.Acquire request,
      List<Map<String, Object>> waiters,
      long soonest)
      throws SQLException {
    only(lock);
    queue(waiters);
    Place place = link.rows.queueUp(request, told::add);
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
    long ahead = waiters.isEmpty() ? 0 : ticket - (long) waiters.get(0).get("ticket");
    Map<String, Object> holder =
        tables.query("session_select", "session", OTHER.session().value()).get(0);
    assertThat(place)
        .isEqualTo(
            new Place(
                null,
                OTHER.encoded(),
                (long) lock.get("token"),
                Math.min((long) holder.get("expires_us") - time, MINUTE),
                (long) lock.get("free_us"),
                ahead,
                ahead == 0 ? place.soonest() : soonest,
                time));
    Map<String, Object> wanted =
        news(
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
      assertThat(told).containsExactly(new News.Wanted(NAME, OTHER));
    }
  }

  @Test
  void givenLockWithASpecialHolderOrQueue_whenAskedForInAQueue_thenNothingIsChanged()
      throws SQLException {
    notQueued(held(ATTEMPT), List.of());
    notQueued(held(OTHER, "ended", ATTEMPT.encoded()), List.of());
    notQueued(held(OTHER, "capacity", WHOLE + 1, "used", WHOLE + 1), List.of());
    notQueued(held(OTHER, "evicted", 1), List.of());
    notQueued(held(OTHER, "free_us", now - 1), List.of());
    notQueued(held(OTHER, "closed_us", now + MINUTE), List.of());
    notQueued(held(DEAD), List.of());
    notQueued(held(OTHER, "waiters", 1, "told", 3), List.of(waits(DEAD, 1)));
    notQueued(held(OTHER, "waiters", 1, "told", 3), List.of(waits(ATTEMPT, 1)));
    notQueued(held(OTHER, "waiters", 2, "told", 3), List.of(waits(THIRD, 1), waits(ATTEMPT, 2)));
    notQueued(held(OTHER, "waiters", 2, "told", 3), List.of(waits(DEAD, 1), waits(THIRD, 2)));
    setSession(OTHER, now + 3 * MINUTE);
    notQueued(held(OTHER), List.of());
    setSession(OTHER, now + MINUTE);
    for (int i = 0; i < 2; i++) {
      endSession();
      notQueued(held(OTHER), List.of());
      notQueued(free(), List.of());
    }
  }

  @Test
  void givenManyRequests_whenDoneTogether_thenEachAsByItself() throws SQLException {
    Terms least = new Terms(null, Duration.ofSeconds(200), "a \"label\"");
    together(free("told", 3, "evicted", 1), new Ask(acquire(), null), true);
    together(free("ended", OTHER.encoded()), new Ask(acquire(least, 6, 3), null), true);
    together(free("last_token", now + LEAD / 2), new Ask(acquire(), null), true);
    together(free(), new Ask(acquire(Terms.NONE, 5, now + LEAD / 2), null), true);
    for (Map<String, Object> lock : notFree()) {
      together(lock, new Ask(acquire(), null), false);
    }
    together(held(OTHER), new Ask(acquire(), null), false);
    Ask release = new Ask(new Request.Abandon(NAME, ATTEMPT), null);
    together(held(ATTEMPT), release, true);
    together(held(ATTEMPT, "shut_us", now + MINUTE, "free_us", now + MINUTE), release, true);
    for (Map<String, Object> lock : special(ATTEMPT)) {
      together(lock, release, false);
    }
    Ask exchange = new Ask(acquire(), OLD);
    together(held(OLD, "shut_us", now - 7, "free_us", now + MINUTE), exchange, true);
    together(held(OLD), new Ask(acquire(least, 6, 3), OLD), true);
    together(held(OLD, "last_token", now + LEAD / 2), exchange, true);
    for (Map<String, Object> lock : special(OLD)) {
      together(lock, exchange, false);
    }
    together(held(OLD, "closed_us", now + MINUTE), exchange, false);
    together(held(OLD, "shut_us", now + MINUTE), exchange, false);
    together(held(OLD, "capacity", WHOLE + 1), exchange, false);
    together(free(), exchange, false);
    for (int i = 0; i < 2; i++) {
      endSession();
      together(free(), new Ask(acquire(), null), false);
      together(held(OLD), exchange, false);
      together(held(ATTEMPT), release, true);
    }
  }

  /** Who has one permit of one has the whole lock. */
  @Test
  void givenLockOfOnePermit_whenTakenReleasedOrExchanged_thenAsAnyWholeLock() throws SQLException {
    Request.Acquire one =
        new Request.Acquire(NAME, ATTEMPT, Mode.permits(1, 1), true, Terms.NONE, 5, 3, null);
    Map<String, Object> held = held(OLD, "capacity", 1, "used", 1);
    taken(free("capacity", 1), one);
    exchanged(held, one);
    takenInQueue(free("capacity", 1), one);
    together(free("capacity", 1), new Ask(one, null), true);
    together(held, new Ask(one, OLD), true);
    together(
        held(ATTEMPT, "capacity", 1, "used", 1),
        new Ask(new Request.Abandon(NAME, ATTEMPT), null),
        true);
  }

  @Test
  void givenAttemptThatHoldsOrHasEndedInASpecialWay_whenAskedTogether_thenItIsNotServed()
      throws SQLException {
    Ask acquire = new Ask(acquire(), null);
    together(held(ATTEMPT, "waiters", 1), acquire, false);
    together(held(ATTEMPT, "told", 1), acquire, false);
    together(held(ATTEMPT, "evicted", 1), acquire, false);
    together(held(ATTEMPT, "free_us", now + MINUTE), acquire, false);
    Ask release = new Ask(new Request.Abandon(NAME, ATTEMPT), null);
    Map<String, Object> ended = free("ended", ATTEMPT.encoded());
    together(with(ended, "ended_was", "WAITING", "ended_how", "RELEASED"), release, false);
    together(with(ended, "ended_was", "HELD", "ended_how", "EVICTED"), release, false);
  }

  @Test
  void givenMySqlLockWithoutARow_whenAskedForTogether_thenItHasOneAsIfForgottenLongAgo()
      throws SQLException {
    if (isPostgres()) {
      return;
    }
    for (Request request : List.of(acquire(), new Request.Abandon(NAME, ATTEMPT))) {
      tables.execute("DELETE FROM rows_lock WHERE namespace = 'one' AND name = 'lock'");
      link.rows.together(List.of(new Ask(request, null)));
      assertThat(changed())
          .isEqualTo(
              with(
                  lock(NAMESPACE, "lock"),
                  "capacity",
                  WHOLE,
                  "token",
                  0,
                  "tokens",
                  0,
                  "since_us",
                  0,
                  "free_us",
                  0,
                  "shut_us",
                  0,
                  "label",
                  "",
                  "last_token",
                  0,
                  "next_place",
                  0,
                  "next_ticket",
                  0,
                  "closed_us",
                  0,
                  "touched_us",
                  0,
                  "ended_was",
                  "HELD",
                  "ended_how",
                  "RELEASED"));
    }
  }

  /** Beside two others, of which one is served and one is not. */
  private void together(Map<String, Object> lock, Ask ask, boolean served) throws SQLException {
    only(lock);
    Map<String, Object> mate = tables.put("lock", with(held(THIRD), "name", "mate"));
    Map<String, Object> taken = tables.put("lock", with(held(DEAD), "name", "nate"));
    Request.Acquire vain =
        new Request.Acquire(
            LockName.of("nate"), VAIN, Mode.EXCLUSIVE, true, Terms.NONE, 2, 0, null);
    Map<String, Block> done =
        link.rows.together(
            List.of(
                new Ask(new Request.Abandon(LockName.of("mate"), THIRD), null),
                new Ask(vain, null),
                ask));
    List<Map<String, Object>> after = tables.all("lock");
    tables.execute("DELETE FROM " + tables.text.table("lock") + " WHERE name IN ('mate', 'nate')");
    assertThat(after).contains(taken);
    Map<String, Object> freed =
        after.stream().filter(each -> each.get("name").equals("mate")).findFirst().orElseThrow();
    assertThat(with(freed, "since_us", 0))
        .isEqualTo(
            with(
                released(mate, THIRD),
                "owner",
                null,
                "used",
                0,
                "since_us",
                0,
                "touched_us",
                freed.get("touched_us")));
    assertThat(done).containsEntry(THIRD.encoded(), new Block(0, 0));
    assertThat(done).doesNotContainKey(VAIN.encoded());
    String attempt = ask.request().attempt().encoded();
    if (!served) {
      assertUnchanged(lock);
      if (ask.request() instanceof Request.Acquire) {
        assertThat(done.getOrDefault(attempt, new Block(0, 0)).tokens()).as(lock + "").isZero();
      } else {
        assertThat(done).as(lock.toString()).doesNotContainKey(attempt);
      }
      return;
    }
    long time = time();
    Map<String, Object> expected = ask.old() == null ? lock : released(lock, ask.old());
    if (ask.request() instanceof Request.Acquire acquire) {
      expected = granted(expected, acquire, time);
      assertThat(done).containsEntry(attempt, block(expected));
    } else {
      // Since when it is held says nothing where nobody holds it.
      Object since = changed().get("since_us");
      expected =
          with(
              released(lock, ATTEMPT),
              "owner",
              null,
              "used",
              0,
              "since_us",
              since,
              "touched_us",
              time);
      assertThat(done).containsEntry(attempt, new Block(0, 0));
    }
    assertThat(changed()).isEqualTo(expected);
  }

  @Test
  void givenLock_whenAStepBegins_thenItHasReadAllThatItMayAskFor() throws SQLException {
    Map<String, Object> lock = held(OTHER, "waiters", 3, "told", 3);
    only(lock);
    setSession(THIRD, now + 2 * MINUTE);
    setSession(OTHER, now + 3 * MINUTE);
    queue(List.of(waits(THIRD, 4), waits(ATTEMPT, 5), waits(OTHER, 3)));
    begin();
    assertThat(link.now()).isBetween(now, now + MINUTE);
    LockRow row = link.rows.lock("lock");
    assertThat(row.owner.attempt).isEqualTo(OTHER.encoded());
    assertThat(row.waiters).isEqualTo(3);
    assertThat(attempts()).containsExactly(OTHER.encoded(), THIRD.encoded(), ATTEMPT.encoded());
    assertThat(link.rows.waiter("lock", ATTEMPT.encoded()).ticket()).isEqualTo(5);
    assertThat(link.rows.soonestEnd("lock", 5, 64, now)).isEqualTo(now + 2 * MINUTE);
    for (AttemptId known : List.of(ATTEMPT, OTHER, THIRD)) {
      assertThat(link.rows.session(known.session().value())).as(known.toString()).isNotNull();
    }
    link.rollback();

    // One who is not in the queue stands behind all of it.
    queue(List.of(waits(THIRD, 4), waits(OTHER, 5), waits(DEAD, 3)));
    begin();
    assertThat(link.rows.waiter("lock", ATTEMPT.encoded())).isNull();
    assertThat(link.rows.soonestEnd("lock", 6, 64, now)).isEqualTo(now + 2 * MINUTE);
    link.rollback();

    only(free("used", 3, "next_place", 40));
    queue(List.of());
    for (AttemptId holder : List.of(THIRD, OTHER, DEAD)) {
      tables.put(
          "hold",
          with(
              hold(NAMESPACE, "lock", holder.encoded()),
              "place",
              holder.equals(OTHER) ? 1 : holder.equals(THIRD) ? 2 : 3));
      tables.put("hold", with(hold(NAMESPACE, "other", holder.encoded()), "place", 0));
      tables.put("hold", with(hold("two", "lock", holder.encoded()), "place", 0));
    }
    begin();
    assertThat(link.rows.holds("lock", 64).stream().map(hold -> hold.attempt))
        .containsExactly(OTHER.encoded(), THIRD.encoded(), DEAD.encoded());
    for (AttemptId known : List.of(ATTEMPT, OTHER, THIRD, DEAD)) {
      assertThat(link.rows.session(known.session().value())).as(known.toString()).isNotNull();
    }
    link.rollback();
  }

  private void begin() throws SQLException {
    link.begin(acquire());
  }

  private List<String> attempts() throws SQLException {
    return link.rows.heads("lock", 3).stream().map(WaitRow::attempt).toList();
  }

  @Test
  void givenSessions_whenNewsIsLeft_thenForThoseThatLiveOnlyAndTheRestIsSwept()
      throws SQLException {
    News.Gone gone = new News.Gone(NAME, OTHER, Reply.How.EXPIRED);
    long expires = now + MINUTE;
    assertThat(link.rows.tell(gone, expires)).as("it has ended").isFalse();
    assertThat(
            link.rows.tell(
                new News.Wanted(NAME, new AttemptId(new SessionId("sessionEeeee"), 1)), 0))
        .as("there is none")
        .isFalse();
    assertThat(link.rows.tell(gone, expires - 1)).isTrue();
    assertThat(link.rows.tell(new News.Granted(NAME, OTHER, 7, 8, true, false), 0)).isTrue();
    assertThat(link.rows.tell(new News.Granted(NAME, THIRD, 7, 8, false, true), 0)).isTrue();
    String session = OTHER.session().value();
    Map<String, Object> goneNews =
        news(
            0,
            session,
            "gone",
            OTHER.encoded(),
            "token",
            0,
            "tokens",
            0,
            "flag",
            0,
            "how",
            "EXPIRED");
    Map<String, Object> grant =
        news(0, session, "granted", OTHER.encoded(), "token", 7, "tokens", 8);
    Map<String, Object> timed =
        with(
            grant,
            "session",
            THIRD.session().value(),
            "attempt",
            THIRD.encoded(),
            "flag",
            0,
            "timed",
            1);
    for (Map<String, Object> news : List.of(goneNews, grant, timed)) {
      news.remove("id");
    }
    assertThat(newsWithoutIds()).containsExactlyInAnyOrder(goneNews, grant, timed);

    tables.update("session_delete", "session", session);
    assertThat(link.rows.forgetOrphans(1)).isEqualTo(1);
    assertThat(link.rows.forgetOrphans(9)).isEqualTo(1);
    assertThat(newsWithoutIds()).containsExactly(timed);
  }

  @Test
  void givenMySqlTables_whenLookedFor_thenNamesMustBeToldApartAndTransactionsBe()
      throws SQLException {
    if (isPostgres()) {
      return;
    }
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
  void givenMySqlConnection_whenItIsSetUpAndGivenBack_thenItsSettingsAreOursAndThenTheServers()
      throws SQLException {
    if (isPostgres()) {
      return;
    }
    String settings =
        "@@time_zone, @@sql_mode, @@innodb_lock_wait_timeout, @@lock_wait_timeout, @@wait_timeout, "
            + (database.equals("mysql")
                ? "@@max_execution_time"
                : "@@max_statement_time, @@idle_transaction_timeout");
    // Half of 8 s, in quarters; a connection is kept for a minute.
    assertThat(settings(tables.connection, settings))
        .isEqualTo(
            "+00:00 STRICT_TRANS_TABLES,NO_ENGINE_SUBSTITUTION 2 2 60 "
                + (database.equals("mysql") ? "4000" : "4.000000 4"));
    link.leave();
    try (Connection fresh = connect()) {
      execute(fresh, "SET SESSION sql_mode = DEFAULT");
      assertThat(settings(tables.connection, settings)).isEqualTo(settings(fresh, settings));
    }
  }

  private static String settings(Connection connection, String settings) throws SQLException {
    try (Statement statement = connection.createStatement();
        ResultSet row = statement.executeQuery("SELECT CONCAT_WS(' ', " + settings + ")")) {
      row.next();
      return row.getString(1);
    }
  }

  private static void execute(Connection connection, String sql) throws SQLException {
    try (Statement statement = connection.createStatement()) {
      statement.execute(sql);
    }
  }

  @Test
  void givenMySqlRowThatAnotherHasLocked_whenAskedFor_thenItFailsAtOnce() throws SQLException {
    if (isPostgres()) {
      return;
    }
    only(free());
    try (Connection another = connect()) {
      execute(another, "START TRANSACTION");
      execute(
          another, "SELECT 1 FROM rows_lock WHERE namespace = 'one' AND name = 'lock' FOR UPDATE");
      assertThatThrownBy(() -> link.rows.ensureUnlocked(NAME)).isInstanceOf(SQLException.class);
      link.rows.ensureUnlocked(LockName.of("other"));
      execute(another, "ROLLBACK");
      link.rows.ensureUnlocked(NAME);
    }
  }
}
