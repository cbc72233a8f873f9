package io.mortise.jdbc.table;

import io.mortise.LockName;
import io.mortise.admin.LockQuery;
import io.mortise.spi.AttemptId;
import io.mortise.spi.Reply;
import io.mortise.spi.Request;
import io.mortise.support.table.LockRecord;
import io.mortise.support.table.LockRecord.EndedAttempt;
import io.mortise.support.table.LockRecord.HoldEntry;
import io.mortise.support.table.LockTable;
import java.sql.Connection;
import java.sql.SQLException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Set;
import java.util.function.Predicate;
import org.jspecify.annotations.Nullable;

/**
 * The tables of locks, holders and waiters as objects: one method per statement, nothing decided.
 * Used by one thread at a time, inside a transaction, except for methods that say they are one.
 */
public class LockRepository extends SessionRepository {
  /** Before the first ticket of a queue. */
  static final long FRONT = LockTable.FRONT;

  public LockRepository(Connection connection, SqlText text, String namespace) {
    super(connection, text, namespace);
  }

  /** The store's time, for a statement that does not read the clock itself. */
  @FunctionalInterface
  public interface Clock {
    long now() throws SQLException;
  }

  /** The tokens of a granted acquire; none for an attempt that was ended. */
  record TokenRange(long token, int tokens) {
    /** The answer to the acquire. */
    Reply granted(Request.Acquire request) {
      return new Reply.Granted(
          request.attempt(), token, tokens, false, request.terms().atMost(), null);
    }
  }

  /**
   * The rows that a step will need.
   *
   * @param attempt the attempt that the step may read; null for none
   * @param others further attempts that it may read
   */
  public record PrefetchTarget(LockName name, @Nullable AttemptId attempt, List<AttemptId> others) {
    public PrefetchTarget(LockName name, @Nullable AttemptId attempt) {
      this(name, attempt, List.of());
    }

    public static PrefetchTarget of(Request request) {
      return new PrefetchTarget(request.name(), request.attempt());
    }

    /** The rows that several steps on one lock need. */
    public static PrefetchTarget of(List<Request> requests) {
      int last = requests.size() - 1;
      return new PrefetchTarget(
          requests.get(last).name(),
          requests.get(last).attempt(),
          requests.subList(0, last).stream().map(Request::attempt).toList());
    }
  }

  /** Whether {@link #applyFast} may know an answer. */
  public static boolean hasFastPath(Request request) {
    if (request instanceof Request.Acquire acquire) {
      return acquire.mode().isExclusive() && acquire.provenDead() == null;
    }
    return request instanceof Request.Abandon;
  }

  /**
   * The answer of the one-statement path, which commits by itself; null if nothing was changed, and
   * {@link LockTable#apply} decides.
   */
  public final @Nullable Reply applyFast(Request request, Clock clock) throws SQLException {
    if (request instanceof Request.Acquire acquire) {
      TokenRange taken = acquireFast(acquire, clock);
      return taken == null ? null : taken.granted(acquire);
    }
    return abandonFast((Request.Abandon) request, clock) ? released(request.attempt()) : null;
  }

  /** The same of a lock that nobody here has asked for, which may have no row. */
  public final @Nullable Reply applyFastToNew(Request.Acquire request, Clock clock)
      throws SQLException {
    TokenRange taken = acquireFirst(request);
    return taken == null ? applyFast(request, clock) : taken.granted(request);
  }

  /** The answer to a release of a lock that was held. */
  public static Reply released(AttemptId attempt) {
    return new Reply.Ended(attempt, Reply.AttemptState.HELD, Reply.EndReason.RELEASED, false);
  }

  @Nullable TokenRange acquireFast(Request.Acquire request, Clock clock) throws SQLException {
    NamedStatement namedStatement = of("acquire_fast", request.name().value());
    if (namedStatement.has("now_us")) {
      Duration atMost = request.terms().atMost();
      Duration atLeast = request.terms().atLeast();
      long now = clock.now();
      namedStatement
          .set("free_us", atMost == null ? LockRecord.NEVER : now + LockRecord.micros(atMost))
          .set("shut_us", atLeast == null ? 0 : now + LockRecord.micros(atLeast))
          .set("now_us", now);
    }
    return block(bind(namedStatement, request), request.tokens());
  }

  /** Takes a lock that has no row yet, by one statement; null if nothing was changed. */
  @Nullable TokenRange acquireFirst(Request.Acquire request) throws SQLException {
    return null;
  }

  /** Binds what a one-statement acquire needs. */
  static NamedStatement bind(NamedStatement namedStatement, Request.Acquire request)
      throws SQLException {
    return namedStatement
        .set("attempt", request.attempt().encoded())
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
  @Nullable TokenRange block(NamedStatement acquire, int tokens) throws SQLException {
    return acquire.first(row -> new TokenRange(row.getLong(1), row.getInt(2)));
  }

  boolean abandonFast(Request.Abandon request, Clock clock) throws SQLException {
    NamedStatement namedStatement = of("abandon_fast", request.name().value());
    if (namedStatement.has("now_us")) {
      namedStatement.set("now_us", clock.now());
    }
    return namedStatement.set("attempt", request.attempt().encoded()).update() == 1;
  }

  @Nullable LockRow lock(String name) throws SQLException {
    return of("lock_select", name).first(LockRow::read);
  }

  void insert(LockRow lock) throws SQLException {
    write(
        "lock_insert",
        lock.name.value(),
        namedStatement ->
            namedStatement.set("capacity", lock.capacity).set("now_us", lock.touched));
  }

  void update(LockRow lock) throws SQLException {
    write("lock_update", lock.name.value(), namedStatement -> bind(namedStatement, lock));
  }

  private static void bind(NamedStatement namedStatement, LockRow lock) throws SQLException {
    HoldEntry owner = lock.owner;
    EndedAttempt ended = lock.lastEnd;
    namedStatement
        .set("capacity", lock.capacity)
        .set("used", lock.used)
        .set("owner", owner == null ? null : owner.attempt.encoded())
        .set("token", owner == null ? 0 : owner.token)
        .set("tokens", owner == null ? 0 : owner.tokens)
        .set("since_us", owner == null ? 0 : owner.since)
        .set("free_us", owner == null ? 0 : owner.atMostUntil)
        .set("shut_us", owner == null ? 0 : owner.atLeastUntil)
        .set("label", owner == null ? "" : owner.label)
        .set("told", owner == null ? 0 : HoldRow.told(owner))
        .set("evicted", owner != null && owner.evicted)
        .set("last_token", lock.lastToken)
        .set("next_place", lock.nextPlace)
        .set("next_ticket", lock.nextTicket)
        .set("waiters", lock.waiters)
        .set("closed_us", lock.shutUntil)
        .set("touched_us", lock.touched)
        .set("ended", ended == null ? null : ended.attempt().encoded())
        .set("ended_was", (ended == null ? Reply.AttemptState.HELD : ended.was()).name())
        .set("ended_how", (ended == null ? Reply.EndReason.RELEASED : ended.how()).name());
  }

  void delete(LockRow lock) throws SQLException {
    write("lock_delete", lock.name.value(), namedStatement -> {});
  }

  List<LockRow> page(String from, boolean idle, long now, int limit) throws SQLException {
    return bindPage(of("lock_page"), from, idle ? -1 : now, limit).all(LockRow::read);
  }

  /**
   * The first locks that a query shows from a name on.
   *
   * @param limit one more than are to be shown, so that the next page's first is known
   */
  List<LockRow> page(LockQuery query, String from, long now, int limit) throws SQLException {
    String first = from.isEmpty() ? query.prefix() : from;
    String end = following(query.prefix());
    if (end == null) {
      return page(first, query.idle(), now, limit);
    }
    NamedStatement namedStatement = of("lock_page_within").set("end_name", end);
    return bindPage(namedStatement, first, query.idle() ? -1 : now, limit).all(LockRow::read);
  }

  /** A name behind all that begin so, in the order of code points; null if there is none. */
  static @Nullable String following(String prefix) {
    int end = prefix.length();
    while (end > 0) {
      int last = prefix.codePointBefore(end);
      end -= Character.charCount(last);
      if (last != Character.MAX_CODE_POINT) {
        // No text has a surrogate here.
        int next = last == Character.MIN_SURROGATE - 1 ? Character.MAX_SURROGATE + 1 : last + 1;
        return prefix.substring(0, end) + Character.toString(next);
      }
    }
    return null;
  }

  static NamedStatement bindPage(NamedStatement namedStatement, String from, long open, int limit)
      throws SQLException {
    return namedStatement.set("from_name", from).set("open_us", open).set("row_limit", limit);
  }

  /**
   * A lock, read without locking it, so that its parts may be a moment apart.
   *
   * @param now the store's time
   * @param holds of a part of it; none if one has the whole
   */
  record LockSnapshot(long now, LockRow lock, List<HoldRow> holds, List<WaitRow> waiters) {
    /** Adds the sessions of the holders and waiters. */
    void addSessions(Set<String> ids) {
      if (lock.owner != null) {
        ids.add(lock.owner.attempt.session().value());
      }
      holds.forEach(hold -> ids.add(hold.attempt.session().value()));
      waiters.forEach(waiter -> ids.add(waiter.session()));
    }
  }

  /** Adds holders and waiters to a lock's row, each up to the limit. */
  LockSnapshot look(long now, LockRow lock, int limit) throws SQLException {
    return new LockSnapshot(
        now,
        lock,
        lock.owner != null || lock.used == 0 ? List.of() : holds(lock.name.value(), limit),
        lock.waiters == 0 ? List.of() : heads(lock.name.value(), limit));
  }

  /** The same of the lock of a name; null if it has no row. */
  @Nullable LockSnapshot look(String name, int limit, Clock clock) throws SQLException {
    long now = clock.now();
    List<LockRow> found = page(name, true, now, 1);
    return found.isEmpty() || !found.get(0).name.value().equals(name)
        ? null
        : look(now, found.get(0), limit);
  }

  public List<String> namesAfter(String name, int limit) throws SQLException {
    return strings(of("lock_names").set("after_name", name).set("row_limit", limit));
  }

  /**
   * Of the names behind the one and up to the other, those of locks that a session which has ended
   * holds or waits for, and those that nobody has used since a time.
   */
  public List<String> leftBehind(String after, String upTo, long idleSince, long now, int limit)
      throws SQLException {
    return strings(
        of("lock_left_behind")
            .set("after_name", after)
            .set("last_name", upTo)
            .set("idle_us", idleSince)
            .set("now_us", now)
            .set("row_limit", limit));
  }

  @Nullable HoldRow hold(String name, String attempt) throws SQLException {
    return of("hold_select", name).set("attempt", attempt).first(HoldRow::read);
  }

  List<HoldRow> holds(String name, int limit) throws SQLException {
    return of("hold_window", name).set("row_limit", limit).all(HoldRow::read);
  }

  void rotate(String name, long upTo, long shift) throws SQLException {
    write(
        "hold_rotate",
        name,
        namedStatement -> namedStatement.set("up_to", upTo).set("shift", shift));
  }

  void insert(String name, HoldEntry hold, long place) throws SQLException {
    write(
        "hold_insert",
        name,
        namedStatement ->
            bind(namedStatement, hold)
                .set("place", place)
                .set("since_us", hold.since)
                .set("label", hold.label));
  }

  void update(String name, HoldEntry hold) throws SQLException {
    write("hold_update", name, namedStatement -> bind(namedStatement, hold));
  }

  private static NamedStatement bind(NamedStatement namedStatement, HoldEntry hold)
      throws SQLException {
    return namedStatement
        .set("attempt", hold.attempt.encoded())
        .set("weight", hold.weight)
        .set("token", hold.token)
        .set("tokens", hold.tokens)
        .set("free_us", hold.atMostUntil)
        .set("shut_us", hold.atLeastUntil)
        .set("told", HoldRow.told(hold))
        .set("evicted", hold.evicted);
  }

  void deleteHold(String name, String attempt) throws SQLException {
    write("hold_delete", name, namedStatement -> namedStatement.set("attempt", attempt));
  }

  @Nullable WaitRow waiter(String name, String attempt) throws SQLException {
    return of("wait_select", name).set("attempt", attempt).first(WaitRow::read);
  }

  /** The front of the queue. */
  final List<WaitRow> heads(String name, int limit) throws SQLException {
    return heads(name, FRONT, limit);
  }

  /** The waiters behind a ticket. */
  List<WaitRow> heads(String name, long after, int limit) throws SQLException {
    return of("wait_heads", name).set("after", after).set("row_limit", limit).all(WaitRow::read);
  }

  /**
   * Tells by a session that its process had a connection and has none any more. False where nobody
   * knows.
   *
   * @param sessionIds that it may be asked about
   */
  public Predicate<String> disconnected(List<String> sessionIds) throws SQLException {
    Set<String> asked = new HashSet<>();
    for (String sessionId : sessionIds) {
      SessionRow sessionRow = session(sessionId);
      if (sessionRow != null && sessionRow.hasConnectionLock() && !isLocal(sessionId)) {
        asked.add(sessionId);
      }
    }
    return asked.isEmpty() ? sessionId -> false : withoutConnection(asked)::contains;
  }

  /** Whether a session is of this process, of which nobody need be asked. */
  boolean isLocal(String sessionId) {
    return false;
  }

  /** When the first session ends of those that wait before a ticket and still live. */
  long soonestEnd(String name, long ticket, int limit, long now) throws SQLException {
    Long soonest =
        of("wait_ends", name)
            .set("ticket", ticket)
            .set("now_us", now)
            .set("row_limit", limit)
            .first(row -> row.getLong(1));
    return soonest == null || soonest == 0 ? LockRecord.NEVER : soonest;
  }

  void insert(String name, WaitRow waiter) throws SQLException {
    write(
        "wait_insert",
        name,
        namedStatement ->
            namedStatement
                .set("ticket", waiter.ticket())
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

  /**
   * A request that one statement may answer.
   *
   * @param old the attempt that gives the lock back in the same step, before the other takes it;
   *     null if it is just one
   * @param isNew whether nobody here has asked for the lock, which may have no row
   */
  public record BatchedRequest(Request request, @Nullable AttemptId old, boolean isNew) {
    /** The same, where there is one. */
    public AttemptId releasing() {
      return Objects.requireNonNull(old);
    }

    /**
     * The answer, or null where {@link LockTable#apply} decides.
     *
     * @param done as {@link #executeBatch} returns it
     */
    @Nullable Reply reply(Map<String, TokenRange> done) {
      TokenRange taken = done.get(request.attempt().encoded());
      if (taken == null) {
        return null;
      }
      boolean holds = taken.tokens() > 0;
      // Of an attempt that asks to hold it is no answer that it has ended, nor the reverse.
      if (request instanceof Request.Acquire acquire) {
        return holds ? taken.granted(acquire) : null;
      }
      return holds ? null : released(request.attempt());
    }
  }

  /**
   * Takes and releases uncontended locks by one statement, which commits by itself.
   *
   * @param batchedRequests each with a fast path, no lock twice
   * @return the tokens of the served requests, by their attempts
   */
  Map<String, TokenRange> executeBatch(List<BatchedRequest> batchedRequests) throws SQLException {
    return Map.of();
  }

  /** The answers of {@link #executeBatch}; null where {@link LockTable#apply} decides. */
  public final List<@Nullable Reply> applyBatch(List<BatchedRequest> batchedRequests)
      throws SQLException {
    Map<String, TokenRange> done = executeBatch(batchedRequests);
    List<@Nullable Reply> answers = new ArrayList<>();
    for (BatchedRequest batchedRequest : batchedRequests) {
      answers.add(batchedRequest.reply(done));
    }
    return answers;
  }

  /**
   * Fails at once if somebody else keeps the lock's row locked, where every statement would wait
   * for it for too long.
   */
  public void ensureUnlocked(LockName name) throws SQLException {}

  /**
   * Whether the connection takes several statements in one text, so that a step on one lock reads
   * at once all that it may ask for.
   */
  public boolean takesSeveral() {
    return false;
  }

  /**
   * Does a step on a contended lock in one text, hence one round trip and a transaction of its own.
   * Leaves it undone where it cannot.
   */
  void contended(ContendedRequest contendedRequest) throws SQLException {}

  /**
   * Whether some requests of the last {@link #executeBatch} may have been committed, if that
   * failed.
   */
  public boolean mayBePartlyDone() {
    return false;
  }
}
