package io.mortise.jdbc;

import io.mortise.spi.AttemptId;
import io.mortise.spi.News;
import io.mortise.spi.Request;
import java.sql.Connection;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.function.Consumer;
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

  private static final int HEADS = LockSteps.CHUNK;
  private static final int HOLDS = LockSteps.STEPS + 1;

  final SqlText text;
  private final Flush flush;
  private @Nullable Seen seen;

  AheadRows(Connection connection, SqlText text, String namespace, String flushPrefix) {
    super(connection, text, namespace);
    this.text = text;
    this.flush = new Flush(connection, namespace, flushPrefix);
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

    Seen(AttemptId attempt) {
      this.attempt = attempt.encoded();
      asked.add(attempt.session().value());
    }
  }

  Flush flush() {
    return flush;
  }

  /** The transaction is over. */
  void forget() {
    seen = null;
    flush.clear();
  }

  long now() throws SQLException {
    Seen known = seen;
    if (known != null) {
      return known.now;
    }
    try (ResultSet row = of("now").query()) {
      row.next();
      return row.getLong(1);
    }
  }

  /** Reads what a step for a request may ask for. */
  void readAll(Request request) throws SQLException {
    Seen reading = new Seen(request.attempt());
    List<HoldRow> holds = new ArrayList<>();
    of("contended_read", request.name().value())
        .set("attempt", reading.attempt)
        .set("session", request.attempt().session().value())
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

  /**
   * Runs hand_over.sql.
   *
   * @param place of the result that counts
   */
  static boolean handOver(Sql sql, Request.Abandon request, int place, Consumer<News> told)
      throws SQLException {
    List<Optional<News>> heirs = new ArrayList<>();
    sql.set("attempt", request.attempt().encoded())
        .run(
            (result, row) -> {
              if (result == place && row.next()) {
                String heir = row.getString(1);
                heirs.add(
                    heir == null
                        ? Optional.empty()
                        : Optional.of(
                            new News.Granted(
                                request.name(),
                                AttemptId.parse(heir),
                                row.getLong(2),
                                row.getInt(3),
                                (row.getInt(4) & HoldRow.TOLD) != 0,
                                row.getLong(5) != LockRow.NEVER)));
              }
            });
    heirs.forEach(heir -> heir.ifPresent(told));
    return !heirs.isEmpty();
  }

  /**
   * Runs queue_up.sql.
   *
   * @param place of the result that counts
   */
  static @Nullable Place queueUp(Sql sql, Request.Acquire request, int place, Consumer<News> told)
      throws SQLException {
    List<Place> places = new ArrayList<>();
    List<News> wanted = new ArrayList<>();
    bind(sql, request)
        .set("ahead", LockSteps.STEPS)
        .run(
            (result, row) -> {
              if (result == place && row.next()) {
                places.add(Place.read(row));
                String holder = row.getString(1);
                if (holder != null && (row.getInt(3) & HoldRow.TOLD) == 0) {
                  wanted.add(new News.Wanted(request.name(), AttemptId.parse(holder)));
                }
              }
            });
    wanted.forEach(told);
    return places.isEmpty() ? null : places.get(0);
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
  List<WaitRow> heads(String name, int limit) throws SQLException {
    if (seen != null && (seen.allHeads || seen.heads.size() >= limit)) {
      return List.copyOf(seen.heads.subList(0, Math.min(limit, seen.heads.size())));
    }
    catchUp();
    return super.heads(name, limit);
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
