package io.mortise.jdbc;

import io.mortise.spi.AttemptId;
import io.mortise.spi.ClientLabel;
import io.mortise.spi.LockName;
import io.mortise.spi.LockPage;
import io.mortise.spi.LockQuery;
import io.mortise.spi.LockView;
import java.sql.SQLException;
import java.time.Duration;
import java.time.temporal.ChronoUnit;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/**
 * Shows locks. Takes no row's lock, and needs no transaction: whoever looks keeps nobody waiting,
 * and may see a holder and the queue a moment apart.
 */
final class Inspector {
  /** The most holders, and the most waiters, that are shown of one lock. */
  private static final int SHOWN = 1000;

  private final Rows rows;
  private final long now;

  private final Map<String, SessionRows.@Nullable Session> sessions = new HashMap<>();

  Inspector(Rows rows, long now) {
    this.rows = rows;
    this.now = now;
  }

  LockPage page(LockQuery query) throws SQLException {
    LockName only = query.name();
    if (only != null) {
      for (LockRow lock : rows.page(only.value(), true, now, 1)) {
        if (lock.name.equals(only.value()) && (query.idle() || !lock.isIdle(now))) {
          return new LockPage(List.of(view(lock)), null);
        }
      }
      return new LockPage(List.of(), null);
    }
    String from = query.cursor() == null ? "" : query.cursor();
    List<LockRow> locks = rows.page(from, query.idle(), now, query.limit() + 1);
    List<LockView> views = new ArrayList<>();
    for (LockRow lock : locks) {
      if (views.size() == query.limit()) {
        return new LockPage(views, lock.name);
      }
      views.add(view(lock));
    }
    return new LockPage(views, null);
  }

  private LockView view(LockRow lock) throws SQLException {
    List<HoldRow> holds =
        lock.owner != null
            ? List.of(lock.owner)
            : lock.used == 0 ? List.of() : new ArrayList<>(rows.holds(lock.name, SHOWN));
    List<LockView.Party> holders = new ArrayList<>();
    for (HoldRow hold :
        holds.stream().sorted(Comparator.comparingLong((HoldRow hold) -> hold.token)).toList()) {
      Duration atMost = hold.freeAt == LockRow.NEVER ? null : between(now, hold.freeAt);
      holders.add(party(hold.attempt, hold.label, hold.weight, hold.token, hold.since, atMost));
    }
    List<LockView.Party> waiters = new ArrayList<>();
    if (lock.waiters > 0) {
      for (WaitRow waiter : rows.heads(lock.name, SHOWN)) {
        waiters.add(
            party(waiter.attempt(), waiter.label(), waiter.weight(), 0, waiter.since(), null));
      }
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
      String attempt,
      String label,
      int weight,
      long token,
      long began,
      @Nullable Duration atMostLeft)
      throws SQLException {
    AttemptId id = AttemptId.parse(attempt);
    SessionRows.Session session = session(id.session().value());
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

  /** Most locks of a page are held by few: each session is read once. */
  private SessionRows.@Nullable Session session(String id) throws SQLException {
    if (!sessions.containsKey(id)) {
      sessions.put(id, rows.session(id));
    }
    return sessions.get(id);
  }

  private static Duration between(long from, long to) {
    return Duration.of(Math.max(0, to - from), ChronoUnit.MICROS);
  }
}
