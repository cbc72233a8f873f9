package io.mortise.jdbc;

import io.mortise.spi.AttemptId;
import io.mortise.spi.LockName;
import io.mortise.spi.News;
import io.mortise.spi.Renewal;
import io.mortise.spi.Reply;
import io.mortise.spi.Request;
import java.sql.Connection;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;

/**
 * The tables as objects: one method per statement, nothing decided. Used by one thread at a time,
 * inside a transaction, except for the two fast statements, which are one each.
 */
class Rows {
  private final Connection connection;
  private final SqlText text;
  private final String namespace;
  private final Map<String, Sql> prepared = new HashMap<>();

  Rows(Connection connection, SqlText text, String namespace) {
    this.connection = connection;
    this.text = text;
    this.namespace = namespace;
  }

  /** The store's time, for a statement that does not read the clock itself. */
  @FunctionalInterface
  interface Clock {
    long now() throws SQLException;
  }

  /** A clock that runs a little slow or fast for a moment was not set back. */
  private static final long CLOCK_NOISE_MICROS = 100_000;

  record Session(long beat, long expiresAt, long ttl, String client) {
    static Session read(ResultSet row) throws SQLException {
      return new Session(
          row.getLong("beat"),
          row.getLong("expires_us"),
          row.getLong("ttl_us"),
          row.getString("client"));
    }

    /** Microseconds that it lives without a further renewal, at most a TTL; 0 if it has ended. */
    long left(long now) {
      return Math.max(0, Math.min(expiresAt - now, ttl));
    }

    /**
     * Whether the clock was set back since its last renewal, if it was read after the session:
     * nothing lives for more than a TTL.
     */
    boolean isFromTheFuture(long now) {
      return expiresAt - now > ttl + CLOCK_NOISE_MICROS;
    }
  }

  record Block(long token, int tokens) {}

  @Nullable Block acquireFast(Request.Acquire request, Clock clock) throws SQLException {
    Sql sql = of("acquire_fast", request.name().value());
    if (sql.has("now_us")) {
      Duration atMost = request.terms().atMost();
      Duration atLeast = request.terms().atLeast();
      long now = clock.now();
      sql.set("free_us", atMost == null ? LockRow.NEVER : now + HoldRow.micros(atMost))
          .set("shut_us", atLeast == null ? 0 : now + HoldRow.micros(atLeast))
          .set("now_us", now);
    }
    return block(bind(sql, request), request.tokens());
  }

  /** Binds what a one-statement acquire needs. */
  static Sql bind(Sql sql, Request.Acquire request) throws SQLException {
    return sql.set("attempt", request.attempt().encoded())
        .set("session", request.attempt().session().value())
        .set("capacity", request.mode().capacity())
        .set("tokens", request.tokens())
        .set("token_floor", request.tokenFloor())
        .set("at_most_us", WaitRow.length(request.terms().atMost()))
        .set("at_least_us", WaitRow.length(request.terms().atLeast()))
        .set("label", request.terms().label());
  }

  /**
   * Runs the one-statement acquire and reads its answer.
   *
   * @param tokens how many were asked for
   */
  @Nullable Block block(Sql acquire, int tokens) throws SQLException {
    try (ResultSet row = acquire.query()) {
      return row.next() ? new Block(row.getLong(1), row.getInt(2)) : null;
    }
  }

  boolean abandonFast(Request.Abandon request, Clock clock) throws SQLException {
    Sql sql = of("abandon_fast", request.name().value());
    if (sql.has("now_us")) {
      sql.set("now_us", clock.now());
    }
    return sql.set("attempt", request.attempt().encoded()).update() == 1;
  }

  @Nullable LockRow lock(String name) throws SQLException {
    try (ResultSet row = of("lock_select", name).query()) {
      return row.next() ? LockRow.read(row) : null;
    }
  }

  void insert(LockRow lock) throws SQLException {
    write(
        "lock_insert",
        lock.name,
        sql -> sql.set("capacity", lock.capacity).set("now_us", lock.touched));
  }

  void update(LockRow lock) throws SQLException {
    write("lock_update", lock.name, sql -> bind(sql, lock));
  }

  private static void bind(Sql sql, LockRow lock) throws SQLException {
    HoldRow owner = lock.owner;
    sql.set("capacity", lock.capacity)
        .set("used", lock.used)
        .set("owner", owner == null ? null : owner.attempt)
        .set("token", owner == null ? 0 : owner.token)
        .set("tokens", owner == null ? 0 : owner.tokens)
        .set("since_us", owner == null ? 0 : owner.since)
        .set("free_us", owner == null ? 0 : owner.freeAt)
        .set("shut_us", owner == null ? 0 : owner.shutUntil)
        .set("label", owner == null ? "" : owner.label)
        .set("told", owner == null ? 0 : owner.toldAsNumber())
        .set("evicted", owner != null && owner.evicted)
        .set("last_token", lock.lastToken)
        .set("next_place", lock.nextPlace)
        .set("next_ticket", lock.nextTicket)
        .set("waiters", lock.waiters)
        .set("closed_us", lock.closedUntil)
        .set("touched_us", lock.touched)
        .set("ended", lock.ended)
        .set("ended_was", lock.endedWas.name())
        .set("ended_how", lock.endedHow.name());
  }

  void delete(LockRow lock) throws SQLException {
    of("lock_delete", lock.name).update();
  }

  List<LockRow> page(String from, boolean idle, long now, int limit) throws SQLException {
    List<LockRow> locks = new ArrayList<>();
    Sql sql =
        of("lock_page")
            .set("from_name", from)
            .set("open_us", idle ? -1 : now)
            .set("row_limit", limit);
    try (ResultSet row = sql.query()) {
      while (row.next()) {
        locks.add(LockRow.read(row));
      }
    }
    return locks;
  }

  List<String> namesAfter(String name, int limit) throws SQLException {
    return strings(of("lock_names").set("after_name", name).set("row_limit", limit));
  }

  @Nullable HoldRow hold(String name, String attempt) throws SQLException {
    try (ResultSet row = of("hold_select", name).set("attempt", attempt).query()) {
      return row.next() ? HoldRow.read(row) : null;
    }
  }

  List<HoldRow> holds(String name, int limit) throws SQLException {
    List<HoldRow> holds = new ArrayList<>();
    try (ResultSet row = of("hold_window", name).set("row_limit", limit).query()) {
      while (row.next()) {
        holds.add(HoldRow.read(row));
      }
    }
    return holds;
  }

  void rotate(String name, long upTo, long shift) throws SQLException {
    write("hold_rotate", name, sql -> sql.set("up_to", upTo).set("shift", shift));
  }

  void insert(String name, HoldRow hold) throws SQLException {
    write(
        "hold_insert",
        name,
        sql ->
            bind(sql, hold)
                .set("place", hold.place)
                .set("since_us", hold.since)
                .set("label", hold.label));
  }

  void update(String name, HoldRow hold) throws SQLException {
    write("hold_update", name, sql -> bind(sql, hold));
  }

  private static Sql bind(Sql sql, HoldRow hold) throws SQLException {
    return sql.set("attempt", hold.attempt)
        .set("weight", hold.weight)
        .set("token", hold.token)
        .set("tokens", hold.tokens)
        .set("free_us", hold.freeAt)
        .set("shut_us", hold.shutUntil)
        .set("told", hold.toldAsNumber())
        .set("evicted", hold.evicted);
  }

  void deleteHold(String name, String attempt) throws SQLException {
    write("hold_delete", name, sql -> sql.set("attempt", attempt));
  }

  @Nullable WaitRow waiter(String name, String attempt) throws SQLException {
    try (ResultSet row = of("wait_select", name).set("attempt", attempt).query()) {
      return row.next() ? WaitRow.read(row) : null;
    }
  }

  List<WaitRow> heads(String name, int limit) throws SQLException {
    List<WaitRow> heads = new ArrayList<>();
    try (ResultSet row = of("wait_heads", name).set("row_limit", limit).query()) {
      while (row.next()) {
        heads.add(WaitRow.read(row));
      }
    }
    return heads;
  }

  /** When the first session ends of those that wait before a ticket and still live. */
  long soonestEnd(String name, long ticket, int limit, long now) throws SQLException {
    Sql sql =
        of("wait_ends", name).set("ticket", ticket).set("now_us", now).set("row_limit", limit);
    try (ResultSet row = sql.query()) {
      long soonest = row.next() ? row.getLong(1) : 0;
      return soonest == 0 ? LockRow.NEVER : soonest;
    }
  }

  void insert(String name, WaitRow waiter) throws SQLException {
    write(
        "wait_insert",
        name,
        sql ->
            sql.set("ticket", waiter.ticket())
                .set("attempt", waiter.attempt())
                .set("session", waiter.session())
                .set("weight", waiter.weight())
                .set("tokens", waiter.tokens())
                .set("token_floor", waiter.tokenFloor())
                .set("at_most_us", waiter.atMost())
                .set("at_least_us", waiter.atLeast())
                .set("label", waiter.label())
                .set("now_us", waiter.since()));
  }

  boolean deleteWaiter(String name, String attempt) throws SQLException {
    return of("wait_delete", name).set("attempt", attempt).update() > 0;
  }

  @Nullable Session session(String id) throws SQLException {
    try (ResultSet row = of("session_select").set("session", id).query()) {
      return row.next() ? Session.read(row) : null;
    }
  }

  void insertSession(String id, long beat, long expiresAt, long ttl, String client)
      throws SQLException {
    of("session_insert")
        .set("session", id)
        .set("beat", beat)
        .set("expires_us", expiresAt)
        .set("ttl_us", ttl)
        .set("client", client)
        .update();
  }

  void shortenSession(String id, long beat, long expiresAt) throws SQLException {
    of("session_shorten")
        .set("session", id)
        .set("beat", beat)
        .set("expires_us", expiresAt)
        .update();
  }

  boolean renewSession(String id, long previous, long beat, long expiresAt, long now)
      throws SQLException {
    return of("session_renew")
            .set("session", id)
            .set("previous", previous)
            .set("beat", beat)
            .set("expires_us", expiresAt)
            .set("now_us", now)
            .update()
        > 0;
  }

  boolean judgeSession(String id, long now) throws SQLException {
    return of("session_judge").set("session", id).set("now_us", now).update() > 0;
  }

  boolean endSession(String id, long beat) throws SQLException {
    return of("session_end").set("session", id).set("beat", beat).update() > 0;
  }

  void deleteSession(String id) throws SQLException {
    of("session_delete").set("session", id).update();
  }

  List<String> expiredSessions(long now, int limit) throws SQLException {
    return strings(of("session_expired").set("now_us", now).set("row_limit", limit));
  }

  /** Leaves news, unless the session has ended. */
  boolean tell(News news, long now) throws SQLException {
    Sql sql = of("news_insert", news.name().value());
    bind(sql, news, now);
    return sql.update() > 0;
  }

  static void bind(Sql sql, News news, long now) throws SQLException {
    sql.set("session", news.attempt().session().value())
        .set("attempt", news.attempt().encoded())
        .set("now_us", now);
    if (news instanceof News.Granted granted) {
      sql.set("kind", "granted")
          .set("token", granted.token())
          .set("tokens", granted.tokens())
          .set("flag", granted.wanted())
          .set("timed", granted.timed())
          .set("how", "");
    } else {
      sql.set("kind", news instanceof News.Wanted ? "wanted" : "gone")
          .set("token", 0)
          .set("tokens", 0)
          .set("flag", 0)
          .set("timed", 0)
          .set("how", news instanceof News.Gone gone ? gone.how().name() : "");
    }
  }

  List<Renewal.Item> news(String session, long after, int limit) throws SQLException {
    return items(
        of("news_select").set("session", session).set("after", after).set("row_limit", limit));
  }

  /** News of what has gone, oldest first. */
  List<Renewal.Item> gone(String session, int limit) throws SQLException {
    return items(of("news_gone").set("session", session).set("row_limit", limit));
  }

  private static List<Renewal.Item> items(Sql sql) throws SQLException {
    List<Renewal.Item> items = new ArrayList<>();
    try (ResultSet row = sql.query()) {
      while (row.next()) {
        items.add(new Renewal.Item(row.getLong("id"), news(row)));
      }
    }
    return items;
  }

  private static News news(ResultSet row) throws SQLException {
    LockName name = LockName.of(row.getString("name"));
    AttemptId attempt = AttemptId.parse(row.getString("attempt"));
    return switch (row.getString("kind")) {
      case "granted" ->
          new News.Granted(
              name,
              attempt,
              row.getLong("token"),
              row.getInt("tokens"),
              row.getInt("flag") != 0,
              row.getInt("timed") != 0);
      case "wanted" -> new News.Wanted(name, attempt);
      default -> new News.Gone(name, attempt, Reply.How.valueOf(row.getString("how")));
    };
  }

  void forget(String session, long news) throws SQLException {
    of("news_delete").set("session", session).set("id", news).update();
  }

  void forgetAll(String session) throws SQLException {
    of("news_delete_all").set("session", session).update();
  }

  /** A hold has ended: that it was granted, or wanted, is no news any more. */
  void forgetHold(String attempt) throws SQLException {
    write("news_drop", sql -> sql.set("attempt", attempt));
  }

  /** Wakes a process, where the server can. */
  void notify(String channel, String payload) throws SQLException {
    try (ResultSet row = of("notify").set("channel", channel).set("payload", payload).query()) {
      row.next();
    }
  }

  int forgetOrphans(int limit) throws SQLException {
    return of("news_orphaned").set("row_limit", limit).update();
  }

  Map<String, String> facts() throws SQLException {
    Map<String, String> facts = new HashMap<>();
    try (ResultSet row = of("meta_select").query()) {
      while (row.next()) {
        facts.put(row.getString("fact"), row.getString("content"));
      }
    }
    return facts;
  }

  void putFact(String fact, String value, boolean isNew) throws SQLException {
    of(isNew ? "meta_insert" : "meta_update").set("fact", fact).set("content", value).update();
  }

  void clearSessions() throws SQLException {
    of("session_clear").update();
    of("news_clear").update();
  }

  /** The latest moment at which any lock was used; 0 if there is none. */
  long latest() throws SQLException {
    try (ResultSet row = of("lock_latest").query()) {
      return row.next() ? row.getLong(1) : 0;
    }
  }

  private static List<String> strings(Sql sql) throws SQLException {
    List<String> strings = new ArrayList<>();
    try (ResultSet row = sql.query()) {
      while (row.next()) {
        strings.add(row.getString(1));
      }
    }
    return strings;
  }

  Sql prepare(Connection connection, SqlText.Statement statement) throws SQLException {
    return new Sql(connection, statement);
  }

  /** Sets the parameters of a statement. */
  @FunctionalInterface
  interface Binder {
    void bind(Sql sql) throws SQLException;
  }

  private void write(String statement, String name, Binder binder) throws SQLException {
    write(
        statement,
        sql -> {
          sql.set("name", name);
          binder.bind(sql);
        });
  }

  /** Runs a statement whose outcome is known beforehand, now or with the commit. */
  void write(String statement, Binder binder) throws SQLException {
    Sql sql = of(statement);
    binder.bind(sql);
    sql.update();
  }

  /**
   * A request that one statement may answer.
   *
   * @param old the attempt that gives the lock back in the same step, before the other takes it;
   *     null if it is just one
   */
  record Ask(Request request, @Nullable AttemptId old) {
    /** The same, where there is one. */
    AttemptId releasing() {
      return Objects.requireNonNull(old);
    }
  }

  /**
   * Takes and releases many locks by one statement, those that are in no one's way.
   *
   * @return what those got that were served, by their attempts
   */
  Map<String, Block> together(List<Ask> asks) throws SQLException {
    return Map.of();
  }

  /**
   * Fails at once if somebody else keeps the lock's row locked, where every statement would wait
   * for it for too long.
   */
  void ensureUnlocked(LockName name) throws SQLException {}

  /** Releases a lock and takes it again, by one statement; null if nothing was changed. */
  @Nullable Block exchange(AttemptId old, Request.Acquire request) throws SQLException {
    return null;
  }

  /**
   * Releases a lock that others are known to want, in a transaction of its own.
   *
   * @param told receives what the next holder is told, if there is one
   * @return false if nothing was changed
   */
  boolean handOver(Request.Abandon request, Consumer<News> told) throws SQLException {
    return false;
  }

  /**
   * What became of one who expected to find a lock held.
   *
   * @param taken what was granted, since it was free; null if the attempt is in the queue now
   * @param holder who has it, if it is not taken; so the rest
   * @param left microseconds that the holder's session lives without a further renewal
   * @param freeAt when its at-most time ends
   * @param soonest when the first session ends of those that are ahead
   */
  record Place(
      @Nullable Block taken,
      String holder,
      long token,
      long left,
      long freeAt,
      long ahead,
      long soonest,
      long now) {
    /** As queue_up.sql says. */
    static Place read(ResultSet row) throws SQLException {
      String holder = row.getString(1);
      if (holder == null) {
        return new Place(new Block(row.getLong(2), row.getInt(3)), "", 0, 0, 0, 0, 0, 0);
      }
      long soonest = row.getLong(7);
      return new Place(
          null,
          holder,
          row.getLong(2),
          row.getLong(4),
          row.getLong(5),
          row.getLong(6),
          soonest == 0 ? LockRow.NEVER : soonest,
          row.getLong(8));
    }
  }

  /**
   * Takes a lock or joins its queue, in a transaction of its own.
   *
   * @param told receives what the holder is told, if it was not told before
   * @return null if nothing was changed
   */
  @Nullable Place queueUp(Request.Acquire request, Consumer<News> told) throws SQLException {
    return null;
  }

  final Sql of(String statement, String name) throws SQLException {
    return of(statement).set("name", name);
  }

  final Sql of(String statement) throws SQLException {
    Sql sql = prepared.get(statement);
    if (sql == null) {
      sql = prepare(connection, text.statement(statement));
      prepared.put(statement, sql);
      // Never changes, and parameters stay bound.
      sql.set("namespace", namespace);
    }
    return sql;
  }
}
