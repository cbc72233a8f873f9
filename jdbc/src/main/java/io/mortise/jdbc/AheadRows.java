package io.mortise.jdbc;

import io.mortise.spi.AttemptId;
import io.mortise.spi.News;
import io.mortise.spi.Renewal;
import io.mortise.spi.SessionId;
import java.sql.Connection;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.function.Predicate;
import org.jspecify.annotations.Nullable;

/**
 * The tables with few round trips. A step about one lock first reads, in one flush, all that it may
 * ask for: the lock's row, under its lock, then (each statement sees what was committed until then)
 * the head of the queue, the holders, and the sessions of all of them. What it writes is kept back
 * and goes with the commit. What was not foreseen is asked for as ever, after what was kept back.
 */
abstract class AheadRows extends Rows {
  /** Statements that are kept back at most. */
  private static final int KEPT_BACK = 24;

  /** No attempt, and no session. */
  private static final String NOBODY = "";

  private static final int HEADS = LockSteps.CHUNK;
  private static final int HOLDS = LockSteps.STEPS + 1;

  private final Predicate<SessionId> isLocal;
  private final boolean takesSeveral;
  private final Flush flush;
  private @Nullable Seen seen;

  private boolean partlyDone;

  /** The time at which the transaction began; 0 if it was not asked for. */
  private long began;

  /**
   * @param isLocal whether a session is of this process
   * @param takesSeveral whether the connection takes several statements in one text; else there is
   *     nothing to gain
   */
  AheadRows(
      Connection connection,
      SqlText text,
      String namespace,
      Predicate<SessionId> isLocal,
      boolean takesSeveral,
      SqlText.Several several) {
    super(connection, text, namespace);
    this.isLocal = isLocal;
    this.takesSeveral = takesSeveral;
    this.flush = new Flush(connection, namespace, several);
  }

  /** What is known of one lock in this transaction. */
  private static final class Seen {
    final String attempt;
    @Nullable LockRow lock;
    long now;
    List<WaitRow> heads = new ArrayList<>();
    boolean allHeads;

    /** Of the asker's place; those that this step removes count too, so it may ask too soon. */
    long soonest = LockRow.NEVER;

    @Nullable WaitRow waiter;
    @Nullable List<HoldRow> holds;
    final Set<String> asked = new HashSet<>();
    final Map<String, Session> sessions = new HashMap<>();

    Seen(@Nullable AttemptId attempt) {
      this.attempt = attempt == null ? NOBODY : attempt.encoded();
      if (attempt != null) {
        asked.add(attempt.session().value());
      }
    }
  }

  final boolean takesSeveral() {
    return takesSeveral;
  }

  Flush flush() {
    return flush;
  }

  /** The transaction is over. */
  void forget() {
    seen = null;
    began = 0;
    flush.clear();
  }

  /** A transaction began at this time, which is what its step will ask for first. */
  void began(long now) {
    began = now;
  }

  long now() throws SQLException {
    Seen known = seen;
    if (known != null) {
      return known.now;
    } else if (began != 0) {
      return began;
    }
    try (ResultSet row = of("now").query()) {
      row.next();
      return row.getLong(1);
    }
  }

  /** Reads what a step may ask for. */
  void readAll(Expected expected) throws SQLException {
    Seen reading = new Seen(expected.attempt());
    List<HoldRow> holds = new ArrayList<>();
    AttemptId attempt = expected.attempt();
    of("contended_read", expected.name().value())
        .set("attempt", reading.attempt)
        .set("session", attempt == null ? NOBODY : attempt.session().value())
        .set("heads", HEADS)
        .set("holds", HOLDS)
        .set("ahead", LockSteps.STEPS)
        .run(
            (result, row) -> {
              while (row.next()) {
                switch (result) {
                  case 0 -> reading.lock = LockRow.read(row);
                  case 1 -> reading.now = row.getLong(1);
                  case 2 -> reading.heads.add(WaitRow.read(row));
                  case 3 -> reading.waiter = WaitRow.read(row);
                  case 5 -> {
                    long soonest = row.getLong(1);
                    reading.soonest = soonest == 0 ? LockRow.NEVER : soonest;
                  }
                  case 4 -> holds.add(HoldRow.read(row));
                  default -> reading.sessions.put(row.getString("id"), Session.read(row));
                }
              }
            });
    reading.holds = holds;
    reading.allHeads = reading.heads.size() < HEADS;
    LockRow lock = reading.lock;
    if (lock != null && lock.owner != null) {
      reading.asked.add(lock.owner.session());
    }
    reading.heads.forEach(head -> reading.asked.add(head.session()));
    holds.forEach(hold -> reading.asked.add(hold.session()));
    seen = reading;
  }

  @Override
  @Nullable LockRow lock(String name) throws SQLException {
    return seen == null ? super.lock(name) : seen.lock;
  }

  @Override
  @Nullable Session session(String id) throws SQLException {
    return seen != null && seen.asked.contains(id) ? seen.sessions.get(id) : super.session(id);
  }

  @Override
  List<HoldRow> holds(String name, int limit) throws SQLException {
    List<HoldRow> known = seen == null ? null : seen.holds;
    if (known == null || limit > HOLDS) {
      catchUp();
      return super.holds(name, limit);
    }
    return known.subList(0, Math.min(limit, known.size()));
  }

  @Override
  @Nullable HoldRow hold(String name, String attempt) throws SQLException {
    List<HoldRow> known = seen == null ? null : seen.holds;
    if (known != null) {
      for (HoldRow hold : known) {
        if (hold.attempt.equals(attempt)) {
          return hold;
        }
      }
      if (known.size() < HOLDS) {
        return null;
      }
    }
    catchUp();
    return super.hold(name, attempt);
  }

  @Override
  void rotate(String name, long upTo, long shift) throws SQLException {
    super.rotate(name, upTo, shift);
    holdsChanged();
  }

  @Override
  void insert(String name, HoldRow hold) throws SQLException {
    super.insert(name, hold);
    holdsChanged();
  }

  @Override
  void deleteHold(String name, String attempt) throws SQLException {
    super.deleteHold(name, attempt);
    if (seen != null && seen.holds != null && seen.holds.size() < HOLDS) {
      List<HoldRow> left = new ArrayList<>(seen.holds);
      left.removeIf(hold -> hold.attempt.equals(attempt));
      seen.holds = left;
    } else {
      holdsChanged();
    }
  }

  @Override
  @Nullable Look look(String name, int limit, Clock clock) throws SQLException {
    if (!takesSeveral) {
      return super.look(name, limit, clock);
    }
    flush.add(text.statement("now"), sql -> {});
    flush.add(text.statement("lock_page"), sql -> bindPage(sql, name, -1, 1));
    flush.add(text.statement("hold_window"), sql -> sql.set("name", name).set("row_limit", limit));
    flush.add(
        text.statement("wait_heads"),
        sql -> sql.set("name", name).set("after", FRONT).set("row_limit", limit));
    long[] now = {0};
    List<LockRow> locks = new ArrayList<>();
    List<HoldRow> holds = new ArrayList<>();
    List<WaitRow> waiters = new ArrayList<>();
    flush.send(
        (result, row) -> {
          while (row.next()) {
            switch (result) {
              case 0 -> now[0] = row.getLong(1);
              case 1 -> locks.add(LockRow.read(row));
              case 2 -> holds.add(HoldRow.read(row));
              default -> waiters.add(WaitRow.read(row));
            }
          }
        });
    return locks.isEmpty() || !locks.get(0).name.equals(name)
        ? null
        : new Look(now[0], locks.get(0), holds, waiters);
  }

  @Override
  @Nullable Kept keep(
      String session,
      long previous,
      long beat,
      long ttl,
      boolean strictly,
      List<Long> known,
      int limit)
      throws SQLException {
    if (!takesSeveral) {
      return super.keep(session, previous, beat, ttl, strictly, known, limit);
    }
    flush.add(
        text.statement("session_keep"),
        sql ->
            sql.set("session", session)
                .set("previous", previous)
                .set("beat", beat)
                .set("lives_us", ttl)
                .set("ttl_us", Session.column(ttl, hasConnectionLock(session)))
                .set("strict", strictly));
    if (!known.isEmpty()) {
      flush.add(forgetting(known), sql -> bindForgotten(sql, session, beat, known));
    }
    flush.add(
        text.statement("news_select"),
        sql -> sql.set("session", session).set("after", 0).set("row_limit", limit));
    flush.add(text.statement("commit"), sql -> {});
    List<Long> clock = new ArrayList<>();
    List<Renewal.Item> news = new ArrayList<>();
    flush.send(
        (result, row) -> {
          if (result == 1) {
            news.addAll(items(row));
          } else if (row.next()) {
            clock.add(row.getLong(1));
          }
        });
    return clock.isEmpty() ? null : new Kept(clock.get(0), news);
  }

  @Override
  boolean mayBePartlyDone() {
    return partlyDone;
  }

  void mayBePartlyDone(boolean whether) {
    partlyDone = whether;
  }

  @Override
  boolean hasContended() {
    return takesSeveral;
  }

  /**
   * Does steps on contended locks, in order; at least one.
   *
   * @param results how many each gives
   * @param place of the one that counts
   */
  void contended(List<ContendedStep> steps, int results, int place) throws SQLException {
    partlyDone = steps.size() > 1;
    if (!partlyDone) {
      ContendedStep step = steps.get(0);
      Sql sql = of(step.statement());
      step.bind(sql);
      sql.run(
          (result, row) -> {
            if (result == place) {
              step.read(row);
            }
          });
      return;
    }
    for (ContendedStep step : steps) {
      flush.add(text.statement(step.statement()), step::bind);
    }
    flush.send(
        (result, row) -> {
          if (result % results == place) {
            steps.get(result / results).read(row);
          }
        });
  }

  private void holdsChanged() {
    if (seen != null) {
      seen.holds = null;
    }
  }

  @Override
  @Nullable WaitRow waiter(String name, String attempt) throws SQLException {
    if (seen != null && seen.attempt.equals(attempt)) {
      return seen.waiter;
    }
    catchUp();
    return super.waiter(name, attempt);
  }

  @Override
  List<WaitRow> heads(String name, long after, int limit) throws SQLException {
    if (seen != null) {
      List<WaitRow> known =
          seen.heads.stream().filter(head -> head.ticket() > after).limit(limit).toList();
      if (seen.allHeads || known.size() == limit) {
        return known;
      }
    }
    catchUp();
    return super.heads(name, after, limit);
  }

  @Override
  boolean isLocal(String session) {
    return isLocal.test(new SessionId(session));
  }

  @Override
  Set<String> withoutConnection(Set<String> sessions) throws SQLException {
    catchUp();
    return super.withoutConnection(sessions);
  }

  @Override
  long soonestEnd(String name, long ticket, int limit, long now) throws SQLException {
    return seen == null ? super.soonestEnd(name, ticket, limit, now) : seen.soonest;
  }

  @Override
  void insert(String name, WaitRow waiter) throws SQLException {
    super.insert(name, waiter);
    if (seen != null) {
      if (seen.allHeads) {
        seen.heads.add(waiter);
      }
      if (waiter.attempt().equals(seen.attempt)) {
        seen.waiter = waiter;
      }
    }
  }

  @Override
  boolean deleteWaiter(String name, String attempt) throws SQLException {
    Seen known = seen;
    if (known == null) {
      return super.deleteWaiter(name, attempt);
    }
    boolean isHead = known.heads.removeIf(head -> head.attempt().equals(attempt));
    boolean isOwn = attempt.equals(known.attempt);
    if (!isHead && isOwn && known.waiter == null) {
      return false;
    }
    if (isOwn) {
      known.waiter = null;
    } else if (!isHead) {
      catchUp();
      return super.deleteWaiter(name, attempt);
    }
    write("wait_delete", sql -> sql.set("name", name).set("attempt", attempt));
    return true;
  }

  @Override
  boolean tell(News news, long now) throws SQLException {
    String id = news.attempt().session().value();
    if (seen == null || !seen.asked.contains(id)) {
      catchUp();
      return super.tell(news, now);
    }
    Session session = seen.sessions.get(id);
    if (session == null || session.expiresAt() <= now) {
      return false;
    }
    write(
        "news_insert",
        sql -> {
          sql.set("name", news.name().value());
          bind(sql, news, now);
        });
    return true;
  }

  @Override
  void write(String statement, Binder binder) throws SQLException {
    if (seen == null) {
      super.write(statement, binder);
      return;
    }
    flush.add(text.statement(statement), binder);
    if (flush.size() >= KEPT_BACK) {
      flush.send();
    }
  }

  /** Before something is read that was not foreseen. */
  private void catchUp() throws SQLException {
    flush.send();
  }
}
