package io.mortise.jdbc;

import io.mortise.LockName;
import io.mortise.spi.AttemptId;
import io.mortise.spi.ClientLabel;
import io.mortise.spi.LockPage;
import io.mortise.spi.LockQuery;
import io.mortise.spi.LockView;
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
 * Shows locks. Takes no row's lock, and needs no transaction: whoever looks keeps nobody waiting,
 * and may see a holder and the queue a moment apart.
 */
final class Inspector {
  /** The most holders, and the most waiters, that are shown of one lock. */
  private static final int SHOWN = 1000;

  private final Rows rows;
  private final Rows.Clock clock;
  private Map<String, SessionRows.Session> sessions = Map.of();

  Inspector(Rows rows, Rows.Clock clock) {
    this.rows = rows;
    this.clock = clock;
  }

  LockPage page(LockQuery query) throws SQLException {
    LockName only = query.name();
    if (only != null) {
      Rows.Look look = rows.look(only.value(), SHOWN, clock);
      boolean shown = look != null && (query.idle() || !look.lock().isIdle(look.now()));
      return new LockPage(shown ? views(List.of(look)) : List.of(), null);
    }
    long now = clock.now();
    String from = query.cursor() == null ? "" : query.cursor();
    List<LockRow> locks = rows.page(from, query.idle(), now, query.limit() + 1);
    List<Rows.Look> looks = new ArrayList<>();
    for (LockRow lock : locks.subList(0, Math.min(query.limit(), locks.size()))) {
      looks.add(rows.look(now, lock, SHOWN));
    }
    return new LockPage(
        views(looks), locks.size() > query.limit() ? locks.get(query.limit()).name : null);
  }

  private List<LockView> views(List<Rows.Look> looks) throws SQLException {
    Set<String> ids = new HashSet<>();
    looks.forEach(look -> look.addSessions(ids));
    sessions = rows.sessions(ids);
    return looks.stream().map(this::view).toList();
  }

  private LockView view(Rows.Look look) {
    LockRow lock = look.lock();
    long now = look.now();
    List<HoldRow> holds = lock.owner != null ? List.of(lock.owner) : look.holds();
    List<LockView.Party> holders = new ArrayList<>();
    for (HoldRow hold :
        holds.stream().sorted(Comparator.comparingLong((HoldRow hold) -> hold.token)).toList()) {
      Duration atMost = hold.freeAt == LockRow.NEVER ? null : between(now, hold.freeAt);
      holders.add(
          party(now, hold.attempt, hold.label, hold.weight, hold.token, hold.since, atMost));
    }
    List<LockView.Party> waiters = new ArrayList<>();
    for (WaitRow waiter : look.waiters()) {
      waiters.add(
          party(now, waiter.attempt(), waiter.label(), waiter.weight(), 0, waiter.since(), null));
    }
    return new LockView(
        LockName.of(lock.name),
        lock.capacity,
        lock.lastToken,
        between(now, lock.closedUntil),
        holders,
        waiters);
  }

  private LockView.Party party(
      long now,
      String attempt,
      String label,
      int weight,
      long token,
      long began,
      @Nullable Duration atMostLeft) {
    AttemptId id = AttemptId.parse(attempt);
    SessionRows.Session session = sessions.get(id.session().value());
    if (session != null && session.expiresAt() <= now) {
      session = null;
    }
    return new LockView.Party(
        id,
        session == null ? null : ClientLabel.parse(session.client()),
        label,
        weight,
        token,
        between(began, now),
        session == null ? Duration.ZERO : between(now, session.expiresAt()),
        atMostLeft);
  }

  private static Duration between(long from, long to) {
    return Duration.of(Math.max(0, to - from), ChronoUnit.MICROS);
  }
}
