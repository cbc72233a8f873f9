package io.mortise.support.memory;

import io.mortise.LockName;
import io.mortise.admin.Eviction;
import io.mortise.admin.LockInfo;
import io.mortise.admin.LockQuery;
import io.mortise.admin.Page;
import io.mortise.admin.SessionInfo;
import io.mortise.spi.AttemptId;
import io.mortise.spi.Capability;
import io.mortise.spi.Renewal;
import io.mortise.spi.Reply;
import io.mortise.spi.Request;
import io.mortise.spi.SessionId;
import io.mortise.spi.SessionNotification;
import io.mortise.spi.SessionSpec;
import io.mortise.spi.SessionVerdict;
import io.mortise.support.table.LockDocument;
import io.mortise.support.table.LockStep;
import io.mortise.support.table.LockTable;
import io.mortise.support.table.SessionTable;
import io.mortise.support.table.TableRules;
import java.time.Duration;
import java.util.ArrayList;
import java.util.EnumSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;
import java.util.function.BiConsumer;
import java.util.function.Consumer;
import java.util.function.Function;
import org.jspecify.annotations.Nullable;

/**
 * Sessions and locks in memory: the {@link LockTable} on documents. Not thread-safe. Times are
 * microseconds of the store's clock, passed in.
 */
public final class MemLockTable {
  private final TableRules rules;
  private final Set<Capability> capabilities;
  private final boolean remembersAllEnds;
  private final SessionTable sessions;
  private final TreeMap<String, LockDocument> locks = new TreeMap<>();
  private String sweptTo = "";

  /** An empty table under the given rules. */
  public MemLockTable(TableRules rules) {
    this(rules, EnumSet.allOf(Capability.class));
  }

  /**
   * An empty table under the given rules, of a store that may lack {@link Capability#PROOF} and
   * {@link Capability#RECORD}. Other missing capabilities make no difference here.
   */
  public MemLockTable(TableRules rules, Set<Capability> capabilities) {
    this.rules = rules;
    // In a store without sessions neither capability has a meaning.
    this.capabilities =
        capabilities.contains(Capability.SESSION)
            ? capabilities
            : EnumSet.of(Capability.PROOF, Capability.RECORD);
    this.remembersAllEnds = !this.capabilities.contains(Capability.RECORD);
    this.sessions = new SessionTable(rules);
  }

  /** Executes one request. */
  public Reply apply(Request request, long now) {
    return step(request.name(), now, table -> table.apply(request, now));
  }

  private <T> T step(
      LockName name, long now, Function<LockTable<LockDocument, RuntimeException>, T> step) {
    LockStep records = new LockStep(locks.get(name.value()), sessions, remembersAllEnds);
    T result = step.apply(new LockTable<>(records, rules, capabilities));
    LockDocument document = records.document();
    if (document == null) {
      locks.remove(name.value());
    } else {
      locks.put(name.value(), document);
    }
    records.obsolete().forEach(sessions::forget);
    records.notifications().forEach(notification -> sessions.tell(notification, now));
    return result;
  }

  /** See {@link io.mortise.spi.StoreSession#renew}. */
  public Renewal renew(
      SessionSpec spec, long previous, long next, List<Long> seen, Duration ttl, long now) {
    return sessions.renew(spec, previous, next, seen, ttl, now);
  }

  /** Records that a session's process has lost its connection to the store, or has one again. */
  public void connected(SessionId session, boolean connected) {
    sessions.connected(session, connected);
  }

  /** See {@link io.mortise.spi.StoreSession#close}. */
  public void close(SessionId session) {
    sessions.close(session);
  }

  /** Ends the holds and waits of dead sessions, in a store that does so by itself; not bounded. */
  public void settle(long now) {
    if (!capabilities.contains(Capability.PROOF)) {
      for (LockDocument lock : List.copyOf(locks.values())) {
        step(
            lock.name,
            now,
            table -> {
              table.settle(lock.name, now);
              return true;
            });
      }
    }
  }

  /** See {@link io.mortise.spi.LockStore#judge}. */
  public SessionVerdict judge(SessionId session, long now) {
    return sessions.judge(session, now);
  }

  /** Passes on the notifications since the last call, for a store that pushes. */
  public void drainNotifications(BiConsumer<SessionId, SessionNotification> push) {
    sessions.drainNotifications().forEach(hint -> push.accept(hint.session(), hint.notification()));
  }

  /** Loses a record, as if it had never been written: for simulations of servers that forget. */
  public void forget(LockName name) {
    locks.remove(name.value());
  }

  /** See {@link io.mortise.spi.LockStore#evict}. */
  public Reply.Ended evict(LockName name, AttemptId attempt, Eviction how, long now) {
    return step(name, now, table -> table.evict(name, attempt, how, now));
  }

  /** See {@link io.mortise.spi.LockStore#reopen}. */
  public boolean reopen(LockName name, long now) {
    return step(name, now, table -> table.reopen(name, now));
  }

  /** See {@link io.mortise.spi.LockStore#inspect}. */
  public Page<LockInfo> inspect(LockQuery query, long now) {
    List<LockInfo> infos = new ArrayList<>();
    String next =
        page(
            query,
            now,
            lock -> infos.add(query.isSummary() ? lock.summary(now) : lock.view(sessions, now)));
    return new Page<>(infos, next);
  }

  /** Shows the locks of one page; returns the begin of the next. */
  private @Nullable String page(LockQuery query, long now, Consumer<LockDocument> shown) {
    settle(now);
    LockName only = query.name() == null ? null : LockName.of(query.name());
    String cursor = query.cursor();
    Map<String, LockDocument> range =
        only != null
            ? locks.subMap(only.value(), true, only.value(), true)
            : locks.tailMap(cursor == null ? query.prefix() : cursor, true);
    int count = 0;
    for (LockDocument lock : range.values()) {
      if (!query.matches(lock.name.value())) {
        return null;
      }
      if (count == query.limit()) {
        return lock.name.value();
      }
      if (query.idle() || !lock.isIdle(now)) {
        shown.accept(lock);
        count++;
      }
    }
    return null;
  }

  /** See {@link io.mortise.spi.LockStore#sessions}. */
  public Page<SessionInfo> sessions(@Nullable String cursor, int limit, long now) {
    return sessions.page(cursor, limit, now);
  }

  /** See {@link io.mortise.spi.LockStore#sweep}: continues where the last sweep ended. */
  public int sweep(int budget, long now) {
    int removed = sessions.sweep(budget, now);
    int left = budget - removed;
    if (left == 0) {
      return removed;
    }
    List<LockDocument> visited =
        locks.tailMap(sweptTo, false).values().stream().limit(left).toList();
    sweptTo = visited.size() < left ? "" : visited.get(visited.size() - 1).name.value();
    for (LockDocument lock : visited) {
      removed += step(lock.name, now, table -> table.sweep(lock.name, now));
    }
    return removed;
  }
}
