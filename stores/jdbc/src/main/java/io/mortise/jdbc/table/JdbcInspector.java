package io.mortise.jdbc.table;

import io.mortise.LockName;
import io.mortise.admin.LockInfo;
import io.mortise.admin.LockParticipant;
import io.mortise.admin.LockParticipant.Share;
import io.mortise.admin.LockQuery;
import io.mortise.admin.Page;
import io.mortise.admin.SessionInfo;
import io.mortise.spi.AttemptId;
import io.mortise.spi.ClientLabel;
import io.mortise.spi.Mode;
import io.mortise.support.table.LockRecord;
import io.mortise.support.table.LockRecord.HoldEntry;
import java.sql.SQLException;
import java.time.Duration;
import java.time.temporal.ChronoUnit;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/**
 * Shows locks. Takes no row's lock, and needs no transaction: a look keeps nobody waiting, and may
 * show a holder and the queue a moment apart.
 */
public final class JdbcInspector {
  /** The most holders, and the most waiters, that are shown of one lock. */
  private static final int SHOWN = 1000;

  private final LockRepository repository;
  private final LockRepository.Clock clock;
  private Map<String, SessionRepository.SessionRow> sessions = Map.of();

  public JdbcInspector(LockRepository repository, LockRepository.Clock clock) {
    this.repository = repository;
    this.clock = clock;
  }

  public Page<LockInfo> page(LockQuery query) throws SQLException {
    LockName only = query.name() == null ? null : LockName.of(query.name());
    if (only != null) {
      LockRepository.LockSnapshot lockSnapshot = repository.look(only.value(), SHOWN, clock);
      boolean shown =
          lockSnapshot != null && (query.idle() || !lockSnapshot.lock().isIdle(lockSnapshot.now()));
      return new Page<>(shown ? views(List.of(lockSnapshot)) : List.of(), null);
    }
    long now = clock.now();
    Page<LockRow> page = rows(query, now);
    List<LockRepository.LockSnapshot> lockSnapshots = new ArrayList<>();
    for (LockRow lock : page.items()) {
      lockSnapshots.add(repository.look(now, lock, SHOWN));
    }
    return new Page<>(views(lockSnapshots), page.next());
  }

  /** The rows of the locks alone. */
  private Page<LockRow> rows(LockQuery query, long now) throws SQLException {
    String from = query.cursor() == null ? "" : query.cursor();
    List<LockRow> locks =
        repository.page(query, from, now, query.limit() + 1).stream()
            .takeWhile(lock -> query.matches(lock.name.value()))
            .toList();
    return locks.size() > query.limit()
        ? new Page<>(locks.subList(0, query.limit()), locks.get(query.limit()).name.value())
        : new Page<>(locks, null);
  }

  /** As {@link #page}, of a query for summaries: reads the rows of the locks alone. */
  public Page<LockInfo> summaries(LockQuery query) throws SQLException {
    long now = clock.now();
    Page<LockRow> page = rows(query, now);
    return new Page<>(page.items().stream().map(lock -> summary(lock, now)).toList(), page.next());
  }

  private static LockInfo summary(LockRow lock, long now) {
    HoldEntry owner = lock.owner;
    // Of a semaphore it is the permits that are counted.
    int holders =
        owner != null
            ? 1
            : lock.capacity == Mode.SHARERS || lock.used <= 1 ? (int) lock.used : LockInfo.SOME;
    return LockInfo.summary(
        lock.name.value(),
        Mode.permits(lock.capacity),
        holders,
        (int) lock.waiters,
        owner == null
            ? null
            : owner.attempt.holder(
                owner.label, Mode.share(owner.weight, lock.capacity), between(owner.since, now)),
        between(now, lock.shutUntil));
  }

  /** See {@link io.mortise.spi.LockStore#sessions}. */
  public Page<SessionInfo> sessions(@Nullable String cursor, int limit) throws SQLException {
    long now = clock.now();
    List<SessionInfo> found =
        repository.sessionPage(
            cursor == null ? "" : cursor,
            limit + 1,
            (id, session) ->
                new SessionInfo(
                    id,
                    ClientLabel.parse(session.client()).info(),
                    LockRecord.duration(session.ttl()),
                    LockRecord.duration(session.left(now)),
                    null));
    return found.size() > limit
        ? new Page<>(found.subList(0, limit), found.get(limit).session())
        : new Page<>(found, null);
  }

  private List<LockInfo> views(List<LockRepository.LockSnapshot> lockSnapshots)
      throws SQLException {
    Set<String> ids = new HashSet<>();
    lockSnapshots.forEach(lockSnapshot -> lockSnapshot.addSessions(ids));
    sessions = repository.sessions(ids);
    return lockSnapshots.stream().map(this::view).toList();
  }

  private LockInfo view(LockRepository.LockSnapshot lockSnapshot) {
    LockRow lock = lockSnapshot.lock();
    long now = lockSnapshot.now();
    List<? extends HoldEntry> holds =
        lock.owner != null ? List.of(lock.owner) : lockSnapshot.holds();
    List<LockParticipant> holders = new ArrayList<>();
    long shutUntil = lock.shutUntil;
    for (HoldEntry hold :
        holds.stream().sorted(Comparator.comparingLong((HoldEntry hold) -> hold.token)).toList()) {
      Duration atMost =
          hold.atMostUntil == LockRecord.NEVER ? null : between(now, hold.atMostUntil);
      holders.add(
          party(
              now,
              hold.attempt,
              hold.label,
              Mode.share(hold.weight, lock.capacity),
              hold.token,
              hold.since,
              atMost));
      if (holders.get(holders.size() - 1).isGone()) {
        shutUntil = Math.max(shutUntil, hold.atLeastUntil);
      }
    }
    List<LockParticipant> waiters = new ArrayList<>();
    for (WaitRow waiter : lockSnapshot.waiters()) {
      waiters.add(
          party(
              now,
              AttemptId.parse(waiter.attempt()),
              waiter.label(),
              Mode.share(waiter.weight(), lock.capacity),
              0,
              waiter.since(),
              null));
    }
    return new LockInfo(
        lock.name.value(),
        Mode.permits(lock.capacity),
        lock.lastToken,
        between(now, shutUntil),
        holders,
        waiters,
        holders.size(),
        (int) lock.waiters,
        lock.lastEndedHold());
  }

  private LockParticipant party(
      long now,
      AttemptId attempt,
      String label,
      Share share,
      long token,
      long began,
      @Nullable Duration atMostLeft) {
    SessionRepository.SessionRow sessionRow = sessions.get(attempt.session().value());
    return attempt.participant(
        sessionRow == null ? null : ClientLabel.parse(sessionRow.client()),
        label,
        share,
        token,
        between(began, now),
        sessionRow == null ? Duration.ZERO : between(now, sessionRow.expiresAt()),
        atMostLeft,
        sessionRow == null ? Duration.ZERO : LockRecord.duration(sessionRow.ttl()),
        null);
  }

  private static Duration between(long from, long to) {
    return Duration.of(Math.max(0, to - from), ChronoUnit.MICROS);
  }
}
