package io.mortise.jdbc.table;

import io.mortise.LockName;
import io.mortise.spi.AttemptId;
import io.mortise.spi.Renewal;
import io.mortise.spi.Reply.EndReason;
import io.mortise.spi.SessionNotification;
import java.sql.Connection;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.util.Arrays;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.function.BiFunction;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * The tables of sessions, their notifications and the facts about the store as objects: one method
 * per statement, nothing decided. Used by one thread at a time, inside a transaction.
 */
public abstract class SessionRepository extends StatementCache {
  SessionRepository(Connection connection, SqlText text, String namespace) {
    super(connection, text, namespace);
  }

  /** A clock that runs a little slow or fast for a moment was not set back. */
  private static final long CLOCK_NOISE_MICROS = 100_000;

  /** Sessions that one statement asks for: no driver takes any number of values. */
  private static final int AT_ONCE = 1_024;

  private static final Logger log = LoggerFactory.getLogger(SessionRepository.class);

  /** Prefix of the names of connection locks; the id of the session follows. */
  static final String CONNECTIONS = "mortise_";

  /** Sessions whose connection locks this connection holds. */
  private final Set<String> connected = new HashSet<>();

  private boolean refusesConnectionLocks;

  /**
   * A session as its row tells of it.
   *
   * @param ttl of its last renewal; an even number
   * @param hasConnectionLock whether its process held its connection lock by its last renewal; kept
   *     as the last bit of the TTL, where processes that know of no such locks have a zero
   */
  public record SessionRow(
      long beat, long expiresAt, long ttl, boolean hasConnectionLock, String client) {
    static SessionRow read(ResultSet row) throws SQLException {
      long ttl = row.getLong("ttl_us");
      return new SessionRow(
          row.getLong("beat"),
          row.getLong("expires_us"),
          ttl & ~1,
          (ttl & 1) == 1,
          row.getString("client"));
    }

    /** The column ttl_us. */
    static long column(long ttl, boolean hasConnectionLock) {
      return (ttl & ~1) | (hasConnectionLock ? 1 : 0);
    }

    /** Microseconds that it lives without a further renewal, at most a TTL; 0 if it has ended. */
    long left(long now) {
      return Math.max(0, Math.min(expiresAt - now, ttl));
    }

    /**
     * Whether the clock was set back since its last renewal, if it was read after the session:
     * nothing lives for more than a TTL.
     */
    boolean isAheadOfClock(long now) {
      return expiresAt - now > ttl + CLOCK_NOISE_MICROS;
    }
  }

  public @Nullable SessionRow session(String id) throws SQLException {
    return of("session_select").set("session", id).first(SessionRow::read);
  }

  /**
   * The same, locked until the transaction ends: nobody renews or ends the session meanwhile. To be
   * called after the row of a lock was locked, never before.
   */
  @Nullable SessionRow lockSession(String id) throws SQLException {
    return of("session_lock").set("session", id).first(SessionRow::read);
  }

  /** The first sessions from an id on, dead or alive. */
  <T> List<T> sessionPage(String from, int limit, BiFunction<String, SessionRow, T> shown)
      throws SQLException {
    return of("session_page")
        .set("from_id", from)
        .set("row_limit", limit)
        .all(row -> shown.apply(row.getString("id"), SessionRow.read(row)));
  }

  /** Those of some sessions that there are, by their ids. */
  Map<String, SessionRow> sessions(Set<String> ids) throws SQLException {
    Map<String, SessionRow> found = new HashMap<>();
    List<String> all = List.copyOf(ids);
    for (int from = 0; from < all.size(); from += AT_ONCE) {
      List<String> some = all.subList(from, Math.min(from + AT_ONCE, all.size()));
      NamedStatement namedStatement =
          of(text.statement("session_list", SqlText.listLength(some.size())));
      try (ResultSet row = namedStatement.set("ids", some).query()) {
        while (row.next()) {
          found.put(row.getString("id"), SessionRow.read(row));
        }
      }
    }
    return found;
  }

  /**
   * Has this connection hold the connection lock of a session of this process, from now until it
   * ends, where the database has such locks. Others see by it that the process has a connection.
   * Outside of a transaction.
   *
   * @return whether it was taken just now
   */
  public final boolean takeConnectionLock(String sessionId) throws SQLException {
    if (refusesConnectionLocks || connected.contains(sessionId)) {
      return false;
    }
    try {
      boolean taken = lockConnection(CONNECTIONS + sessionId);
      if (taken) {
        connected.add(sessionId);
      }
      return taken;
    } catch (SQLException e) {
      if (isClosed()) {
        throw e;
      }
      // A missing right must not cost the session: it is a process that is never passed over.
      refusesConnectionLocks = true;
      log.info(
          "No connection locks, so that a waiter that is killed is waited for: {}", e.toString());
      return false;
    }
  }

  final boolean hasConnectionLock(String sessionId) {
    return connected.contains(sessionId);
  }

  final void releaseConnectionLock(String sessionId) throws SQLException {
    if (connected.remove(sessionId)) {
      unlockConnection(CONNECTIONS + sessionId);
    }
  }

  /** The connection goes back to where it came from. */
  final void releaseConnectionLocks() throws SQLException {
    for (String sessionId : List.copyOf(connected)) {
      releaseConnectionLock(sessionId);
    }
  }

  /** Takes a connection lock if it is free; false also where there are none. */
  boolean lockConnection(String name) throws SQLException {
    return false;
  }

  final void unlockConnection(String name) throws SQLException {
    of("connection_unlock").set("connection", name).query().close();
  }

  /**
   * Those of some sessions whose processes have no connection any more.
   *
   * @param sessionIds that hold connection locks, as their rows say; not empty
   */
  Set<String> withoutConnection(Set<String> sessionIds) throws SQLException {
    NamedStatement namedStatement =
        of(text.statement("disconnected", SqlText.listLength(sessionIds.size())));
    Set<String> found = new HashSet<>();
    try (ResultSet row =
        namedStatement
            .set("sessions", List.copyOf(sessionIds))
            .set("connections", CONNECTIONS)
            .query()) {
      while (row.next()) {
        if (row.getInt(2) == 1) {
          found.add(row.getString(1));
        }
      }
    }
    return found;
  }

  void insertSession(String id, long beat, long expiresAt, long ttl, String client)
      throws SQLException {
    of("session_insert")
        .set("session", id)
        .set("beat", beat)
        .set("expires_us", expiresAt)
        .set("ttl_us", SessionRow.column(ttl, hasConnectionLock(id)))
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

  boolean renewSession(String id, long previous, long beat, long expiresAt, long ttl, long now)
      throws SQLException {
    return of("session_renew")
            .set("session", id)
            .set("previous", previous)
            .set("beat", beat)
            .set("expires_us", expiresAt)
            .set("ttl_us", SessionRow.column(ttl, hasConnectionLock(id)))
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

  public List<String> sessionsAfter(String id, int limit) throws SQLException {
    return strings(of("session_ids").set("after_id", id).set("row_limit", limit));
  }

  /** Leaves a notification, unless the session has ended. */
  boolean tell(SessionNotification notifications, long now) throws SQLException {
    NamedStatement namedStatement = of("news_insert", notifications.name().value());
    bind(namedStatement, notifications, now);
    return namedStatement.update() > 0;
  }

  static void bind(NamedStatement namedStatement, SessionNotification notifications, long now)
      throws SQLException {
    namedStatement
        .set("session", notifications.attempt().session().value())
        .set("attempt", notifications.attempt().encoded())
        .set("now_us", now);
    if (notifications instanceof SessionNotification.HoldGranted granted) {
      namedStatement
          .set("kind", "granted")
          .set("token", granted.token())
          .set("tokens", granted.tokens())
          .set("flag", granted.wanted())
          .set("timed", granted.timed())
          .set("how", "");
    } else {
      namedStatement
          .set("kind", notifications instanceof SessionNotification.Contended ? "wanted" : "gone")
          .set("token", 0)
          .set("tokens", 0)
          .set("flag", 0)
          .set("timed", 0)
          .set(
              "how",
              notifications instanceof SessionNotification.HoldEnded holdEnded
                  ? holdEnded.how().name()
                  : "");
    }
  }

  public List<Renewal.NumberedNotification> notifications(String sessionId, long after, int limit)
      throws SQLException {
    return items(
        of("news_select").set("session", sessionId).set("after", after).set("row_limit", limit));
  }

  /** Notifications of ended holds, oldest first. */
  List<Renewal.NumberedNotification> gone(String sessionId, int limit) throws SQLException {
    return items(of("news_gone").set("session", sessionId).set("row_limit", limit));
  }

  private static List<Renewal.NumberedNotification> items(NamedStatement namedStatement)
      throws SQLException {
    return namedStatement.all(SessionRepository::item);
  }

  static Renewal.NumberedNotification item(ResultSet row) throws SQLException {
    return new Renewal.NumberedNotification(row.getLong("id"), notification(row));
  }

  private static SessionNotification notification(ResultSet row) throws SQLException {
    LockName name = LockName.of(row.getString("name"));
    AttemptId attempt = AttemptId.parse(row.getString("attempt"));
    return switch (row.getString("kind")) {
      case "granted" ->
          new SessionNotification.HoldGranted(
              name,
              attempt,
              row.getLong("token"),
              row.getInt("tokens"),
              row.getInt("flag") != 0,
              row.getInt("timed") != 0);
      case "wanted" -> new SessionNotification.Contended(name, attempt);
      default -> new SessionNotification.HoldEnded(name, attempt, reason(row.getString("how")));
    };
  }

  /** A newer version may know more of them. */
  static EndReason reason(String how) {
    return Arrays.stream(EndReason.values())
        .filter(each -> each.name().equals(how))
        .findFirst()
        .orElse(EndReason.UNKNOWN);
  }

  /**
   * The store's time and the pending notifications of a renewed session.
   *
   * @param notifications oldest first
   */
  record RenewalResult(long now, List<Renewal.NumberedNotification> notifications) {}

  /**
   * Renews a session that lives, forgets notifications that it knows, and reads the oldest, in a
   * transaction of its own and one round trip.
   *
   * @param ttl in microseconds, from now on
   * @param limit how many notifications
   * @return null if the session was not renewed
   */
  @Nullable RenewalResult keep(
      String sessionId,
      long previous,
      long beat,
      long ttl,
      boolean strictly,
      List<Long> known,
      int limit)
      throws SQLException {
    return null;
  }

  /**
   * By one statement: a renewal takes as many round trips whatever has happened.
   *
   * @param beat of the renewal that says what is known, and was not refused
   * @param notifications not empty
   */
  void forget(String sessionId, long beat, List<Long> notifications) throws SQLException {
    bindForgotten(of(forgetting(notifications)), sessionId, beat, notifications).update();
  }

  final SqlText.SqlStatement forgetting(List<Long> notifications) {
    return text.statement("news_delete", SqlText.listLength(notifications.size()));
  }

  static NamedStatement bindForgotten(
      NamedStatement namedStatement, String sessionId, long beat, List<Long> notifications)
      throws SQLException {
    return namedStatement.set("session", sessionId).set("beat", beat).set("ids", notifications);
  }

  void forgetAll(String sessionId) throws SQLException {
    of("news_delete_all").set("session", sessionId).update();
  }

  /** A hold has ended: its notifications, of the grant and of contention, are obsolete. */
  void forgetHold(String attempt) throws SQLException {
    write("news_drop", namedStatement -> namedStatement.set("attempt", attempt));
  }

  /** Wakes a process, where the server can. */
  public void notify(String channel, String payload) throws SQLException {
    of("notify").set("channel", channel).set("payload", payload).query().close();
  }

  int forgetOrphans(int limit) throws SQLException {
    return of("news_orphaned").set("row_limit", limit).update();
  }

  public Map<String, String> facts() throws SQLException {
    Map<String, String> facts = new HashMap<>();
    try (ResultSet row = of("meta_select").query()) {
      while (row.next()) {
        facts.put(row.getString("fact"), row.getString("content"));
      }
    }
    return facts;
  }

  public void putFact(String fact, String value, boolean isNew) throws SQLException {
    of(isNew ? "meta_insert" : "meta_update").set("fact", fact).set("content", value).update();
  }

  public void clearSessions() throws SQLException {
    of("session_clear").update();
    of("news_clear").update();
  }

  /** The latest moment at which any lock was used; 0 if there is none. */
  public long latest() throws SQLException {
    Long latest = of("lock_latest").first(row -> row.getLong(1));
    return latest == null ? 0 : latest;
  }
}
