package io.mortise.jdbc.table;

import io.mortise.spi.AttemptId;
import io.mortise.spi.Renewal;
import io.mortise.spi.SessionId;
import io.mortise.spi.SessionNotification;
import io.mortise.support.table.LockRecord;
import io.mortise.support.table.LockRecord.HoldEntry;
import io.mortise.support.table.LockTable;
import java.sql.Connection;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.util.ArrayList;
import java.util.List;
import java.util.Objects;
import java.util.Set;
import java.util.function.Predicate;
import org.jspecify.annotations.Nullable;

/**
 * The tables with few round trips. A step on one lock first reads, in one flush, all rows that it
 * may need: the lock's row, which it locks, then the head of the queue, the holders, and the
 * sessions of all of them. Each statement sees all earlier commits. Writes are deferred, and travel
 * with the commit. Any other read is a statement of its own, behind the deferred writes.
 */
abstract class PrefetchingLockRepository extends LockRepository {
  /** All that a step may ask for, with a list of attempts. */
  static final String CONTENDED_READ = "contended_read";

  /** Statements that are kept back at most, and so many more for each further request. */
  private static final int KEPT_BACK = 24;

  private static final int KEPT_BACK_MORE = 2;

  /** No attempt, and no session. */
  private static final String NOBODY = "";

  private static final int HEADS = LockTable.CHUNK;
  private static final int HOLDS = LockTable.STEPS + 1;

  private final Predicate<SessionId> isLocal;
  private final boolean takesSeveral;
  private final StatementBatch statementBatch;
  private @Nullable PrefetchedLock prefetchedLock;

  private boolean partlyDone;

  /** The time at which the transaction began; 0 if it was not asked for. */
  private long began;

  /**
   * @param isLocal whether a session is of this process
   * @param takesSeveral whether the connection takes several statements in one text; else there is
   *     nothing to gain
   */
  PrefetchingLockRepository(
      Connection connection,
      SqlText text,
      String namespace,
      Predicate<SessionId> isLocal,
      boolean takesSeveral,
      SqlText.MultiStatementFormat multiStatementFormat) {
    super(connection, text, namespace);
    this.isLocal = isLocal;
    this.takesSeveral = takesSeveral;
    this.statementBatch = new StatementBatch(connection, namespace, multiStatementFormat);
  }

  @Override
  public final boolean takesSeveral() {
    return takesSeveral;
  }

  StatementBatch statementBatch() {
    return statementBatch;
  }

  /** The transaction is over. */
  void forget() {
    prefetchedLock = null;
    began = 0;
    statementBatch.clear();
  }

  /** A transaction began at this time, which is what its step will ask for first. */
  void began(long now) {
    began = now;
  }

  long now() throws SQLException {
    PrefetchedLock known = prefetchedLock;
    if (known != null) {
      return known.now;
    } else if (began != 0) {
      return began;
    }
    return Objects.requireNonNull(of("now").first(this::clock));
  }

  /** The time that a row tells, on a server that may be written to. */
  long clock(ResultSet row) throws SQLException {
    return row.getLong(1);
  }

  /** Reads what a step may ask for. */
  void readAll(PrefetchTarget prefetchTarget) throws SQLException {
    PrefetchedLock reading = new PrefetchedLock(prefetchTarget);
    List<HoldRow> holds = new ArrayList<>();
    AttemptId attempt = prefetchTarget.attempt();
    String asker = attempt == null ? NOBODY : attempt.encoded();
    List<String> attempts =
        reading.attempts.isEmpty() ? List.of(NOBODY) : List.copyOf(reading.attempts);
    of(text.statement(CONTENDED_READ, SqlText.listLength(attempts.size())))
        .set("name", prefetchTarget.name().value())
        .set("attempt", asker)
        .set("attempts", attempts)
        .set("session", attempt == null ? NOBODY : attempt.session().value())
        .set("heads", HEADS)
        .set("holds", HOLDS)
        .set("ahead", LockTable.STEPS)
        .run(
            (result, row) -> {
              while (row.next()) {
                switch (result) {
                  case 0 -> reading.lock = LockRow.read(row);
                  case 1 -> reading.now = row.getLong(1);
                  case 2 -> reading.heads.add(WaitRow.read(row));
                  case 3 -> reading.add(WaitRow.read(row));
                  case 5 -> {
                    long soonest = row.getLong(1);
                    reading.soonest = soonest == 0 ? LockRecord.NEVER : soonest;
                  }
                  case 4 -> holds.add(HoldRow.read(row));
                  default -> reading.sessions.put(row.getString("id"), SessionRow.read(row));
                }
              }
            });
    reading.holds = holds;
    reading.allHeads = reading.heads.size() < HEADS;
    LockRow lock = reading.lock;
    if (lock != null && lock.owner != null) {
      reading.asked.add(lock.owner.attempt.session().value());
    }
    reading.heads.forEach(head -> reading.asked.add(head.session()));
    holds.forEach(hold -> reading.asked.add(hold.attempt.session().value()));
    prefetchedLock = reading;
  }

  @Override
  @Nullable LockRow lock(String name) throws SQLException {
    return prefetchedLock == null ? super.lock(name) : prefetchedLock.lock;
  }

  @Override
  void insert(LockRow lock) throws SQLException {
    super.insert(lock);
    if (prefetchedLock != null) {
      prefetchedLock.lock = lock;
    }
  }

  @Override
  void update(LockRow lock) throws SQLException {
    if (prefetchedLock == null || !prefetchedLock.isLockWritten) {
      super.update(lock);
    }
    if (prefetchedLock != null) {
      prefetchedLock.isLockWritten = statementBatch.size() > 0;
    }
  }

  @Override
  public @Nullable SessionRow session(String id) throws SQLException {
    return prefetchedLock != null && prefetchedLock.asked.contains(id)
        ? prefetchedLock.sessions.get(id)
        : super.session(id);
  }

  @Override
  @Nullable SessionRow lockSession(String id) throws SQLException {
    catchUp();
    SessionRow locked = super.lockSession(id);
    if (prefetchedLock != null && prefetchedLock.asked.contains(id)) {
      prefetchedLock.sessions.remove(id);
      if (locked != null) {
        prefetchedLock.sessions.put(id, locked);
      }
    }
    return locked;
  }

  @Override
  List<HoldRow> holds(String name, int limit) throws SQLException {
    List<HoldRow> known = prefetchedLock == null ? null : prefetchedLock.holds;
    if (known == null || limit > HOLDS) {
      catchUp();
      return super.holds(name, limit);
    }
    return known.subList(0, Math.min(limit, known.size()));
  }

  @Override
  @Nullable HoldRow hold(String name, String attempt) throws SQLException {
    List<HoldRow> known = prefetchedLock == null ? null : prefetchedLock.holds;
    if (known != null) {
      for (HoldRow hold : known) {
        if (hold.attempt.encoded().equals(attempt)) {
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
  void insert(String name, HoldEntry hold, long place) throws SQLException {
    super.insert(name, hold, place);
    holdsChanged();
  }

  @Override
  void deleteHold(String name, String attempt) throws SQLException {
    super.deleteHold(name, attempt);
    if (prefetchedLock != null
        && prefetchedLock.holds != null
        && prefetchedLock.holds.size() < HOLDS) {
      List<HoldRow> left = new ArrayList<>(prefetchedLock.holds);
      left.removeIf(hold -> hold.attempt.encoded().equals(attempt));
      prefetchedLock.holds = left;
    } else {
      holdsChanged();
    }
  }

  @Override
  @Nullable LockSnapshot look(String name, int limit, Clock clock) throws SQLException {
    if (!takesSeveral) {
      return super.look(name, limit, clock);
    }
    statementBatch.add(text.statement("now"), namedStatement -> {});
    statementBatch.add(
        text.statement("lock_page"), namedStatement -> bindPage(namedStatement, name, -1, 1));
    statementBatch.add(
        text.statement("hold_window"),
        namedStatement -> namedStatement.set("name", name).set("row_limit", limit));
    statementBatch.add(
        text.statement("wait_heads"),
        namedStatement ->
            namedStatement.set("name", name).set("after", FRONT).set("row_limit", limit));
    long[] now = {0};
    List<LockRow> locks = new ArrayList<>();
    List<HoldRow> holds = new ArrayList<>();
    List<WaitRow> waiters = new ArrayList<>();
    statementBatch.send(
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
    return locks.isEmpty() || !locks.get(0).name.value().equals(name)
        ? null
        : new LockSnapshot(now[0], locks.get(0), holds, waiters);
  }

  @Override
  @Nullable RenewalResult keep(
      String sessionId,
      long previous,
      long beat,
      long ttl,
      boolean strictly,
      List<Long> known,
      int limit)
      throws SQLException {
    if (!takesSeveral) {
      return super.keep(sessionId, previous, beat, ttl, strictly, known, limit);
    }
    statementBatch.add(
        text.statement("session_keep"),
        namedStatement ->
            namedStatement
                .set("session", sessionId)
                .set("previous", previous)
                .set("beat", beat)
                .set("lives_us", ttl)
                .set("ttl_us", SessionRow.column(ttl, hasConnectionLock(sessionId)))
                .set("strict", strictly));
    if (!known.isEmpty()) {
      statementBatch.add(
          forgetting(known),
          namedStatement -> bindForgotten(namedStatement, sessionId, beat, known));
    }
    statementBatch.add(
        text.statement("news_select"),
        namedStatement ->
            namedStatement.set("session", sessionId).set("after", 0).set("row_limit", limit));
    statementBatch.add(text.statement("commit"), namedStatement -> {});
    List<Long> clock = new ArrayList<>();
    List<Renewal.NumberedNotification> notifications = new ArrayList<>();
    statementBatch.send(
        (result, row) -> {
          while (row.next()) {
            if (result == 1) {
              notifications.add(item(row));
            } else {
              clock.add(row.getLong(1));
            }
          }
        });
    return clock.isEmpty() ? null : new RenewalResult(clock.get(0), notifications);
  }

  @Override
  public boolean mayBePartlyDone() {
    return partlyDone;
  }

  void mayBePartlyDone(boolean whether) {
    partlyDone = whether;
  }

  /**
   * Does a step on a contended lock, on a connection that takes several statements in one text.
   *
   * @param place index of the result that has the outcome
   */
  void contended(ContendedRequest contendedRequest, int place) throws SQLException {
    NamedStatement namedStatement = of(contendedRequest.statement());
    contendedRequest.bind(namedStatement);
    namedStatement.run(
        (result, row) -> {
          if (result == place) {
            contendedRequest.read(row);
          }
        });
  }

  private void holdsChanged() {
    if (prefetchedLock != null) {
      prefetchedLock.holds = null;
    }
  }

  @Override
  @Nullable WaitRow waiter(String name, String attempt) throws SQLException {
    if (prefetchedLock != null && prefetchedLock.attempts.contains(attempt)) {
      return prefetchedLock.waiters.get(attempt);
    }
    catchUp();
    return super.waiter(name, attempt);
  }

  @Override
  List<WaitRow> heads(String name, long after, int limit) throws SQLException {
    if (prefetchedLock != null) {
      List<WaitRow> known =
          prefetchedLock.heads.stream().filter(head -> head.ticket() > after).limit(limit).toList();
      if (prefetchedLock.allHeads || known.size() == limit) {
        return known;
      }
    }
    catchUp();
    List<WaitRow> found = super.heads(name, after, limit);
    if (prefetchedLock != null && after == FRONT) {
      prefetchedLock.heads = new ArrayList<>(found);
      prefetchedLock.allHeads = found.size() < limit;
    }
    return found;
  }

  @Override
  boolean isLocal(String sessionId) {
    return isLocal.test(new SessionId(sessionId));
  }

  @Override
  Set<String> withoutConnection(Set<String> sessions) throws SQLException {
    catchUp();
    return super.withoutConnection(sessions);
  }

  @Override
  long soonestEnd(String name, long ticket, int limit, long now) throws SQLException {
    return prefetchedLock == null
        ? super.soonestEnd(name, ticket, limit, now)
        : prefetchedLock.soonest;
  }

  @Override
  void insert(String name, WaitRow waiter) throws SQLException {
    super.insert(name, waiter);
    if (prefetchedLock != null) {
      if (prefetchedLock.allHeads) {
        prefetchedLock.heads.add(waiter);
      }
      if (prefetchedLock.attempts.contains(waiter.attempt())) {
        prefetchedLock.add(waiter);
      }
    }
  }

  @Override
  boolean deleteWaiter(String name, String attempt) throws SQLException {
    PrefetchedLock known = prefetchedLock;
    if (known == null) {
      return super.deleteWaiter(name, attempt);
    }
    boolean isHead = known.heads.removeIf(head -> head.attempt().equals(attempt));
    boolean isOwn = known.attempts.contains(attempt);
    boolean isThere = known.waiters.remove(attempt) != null;
    if (!isHead && isOwn && !isThere) {
      return false;
    }
    if (!isOwn && !isHead) {
      catchUp();
      return super.deleteWaiter(name, attempt);
    }
    write(
        "wait_delete", namedStatement -> namedStatement.set("name", name).set("attempt", attempt));
    return true;
  }

  @Override
  boolean tell(SessionNotification sessionNotification, long now) throws SQLException {
    String id = sessionNotification.attempt().session().value();
    if (prefetchedLock == null || !prefetchedLock.asked.contains(id)) {
      catchUp();
      return super.tell(sessionNotification, now);
    }
    SessionRow sessionRow = prefetchedLock.sessions.get(id);
    if (sessionRow == null || sessionRow.expiresAt() <= now) {
      return false;
    }
    write(
        "news_insert",
        namedStatement -> {
          namedStatement.set("name", sessionNotification.name().value());
          bind(namedStatement, sessionNotification, now);
        });
    return true;
  }

  @Override
  void write(String statement, ParameterBinder binder) throws SQLException {
    if (prefetchedLock == null) {
      super.write(statement, binder);
      return;
    }
    statementBatch.add(text.statement(statement), binder);
    if (statementBatch.size() >= KEPT_BACK + KEPT_BACK_MORE * prefetchedLock.attempts.size()) {
      catchUp();
    }
  }

  /** Before something is read that was not foreseen. */
  private void catchUp() throws SQLException {
    if (prefetchedLock != null) {
      prefetchedLock.isLockWritten = false;
    }
    statementBatch.send();
  }
}
