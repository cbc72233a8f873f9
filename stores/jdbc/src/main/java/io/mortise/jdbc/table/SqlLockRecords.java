package io.mortise.jdbc.table;

import io.mortise.LockName;
import io.mortise.spi.AttemptId;
import io.mortise.spi.SessionId;
import io.mortise.spi.SessionNotification;
import io.mortise.support.table.LockRecord.HoldEntry;
import io.mortise.support.table.LockRecord.WaiterEntry;
import io.mortise.support.table.LockRecords;
import io.mortise.support.table.LockTable;
import java.sql.SQLException;
import java.util.List;
import java.util.function.Consumer;
import java.util.function.Predicate;
import org.jspecify.annotations.Nullable;

/**
 * The records of the lock table in rows. Each step runs inside one transaction, and first reads the
 * lock's row under its lock (SQLite: under the file's write lock). All else of that name is changed
 * only under that row's lock, so what is read after it is fresh.
 */
final class SqlLockRecords implements LockRecords<LockRow, SQLException> {
  private final LockRepository repository;
  private final Consumer<SessionNotification> pendingNotifications;

  /**
   * @param pendingNotifications receives the notifications that a step left; valid once the
   *     transaction has committed
   */
  SqlLockRecords(LockRepository repository, Consumer<SessionNotification> pendingNotifications) {
    this.repository = repository;
    this.pendingNotifications = pendingNotifications;
  }

  @Override
  public @Nullable LockRow find(LockName name) throws SQLException {
    LockRow lock = repository.lock(name.value());
    if (lock != null) {
      recount(lock);
    }
    return lock;
  }

  /**
   * Corrects the lock's count of waiters, which is wrong after rows were deleted or restored
   * separately. The count of a long queue is trusted.
   */
  private void recount(LockRow lock) throws SQLException {
    int there = repository.heads(lock.name.value(), LockTable.CHUNK).size();
    if (there < LockTable.CHUNK ? lock.waiters != there : lock.waiters < there) {
      lock.waiters = there;
      lock.dirty = true;
    }
  }

  @Override
  public LockRow create(LockName name, int capacity, long now) throws SQLException {
    LockRow lock = new LockRow(name, capacity, now);
    repository.insert(lock);
    return lock;
  }

  @Override
  public void save(LockRow lock) throws SQLException {
    if (lock.dirty) {
      repository.update(lock);
      lock.dirty = false;
    }
  }

  @Override
  public void delete(LockRow lock) throws SQLException {
    repository.delete(lock);
  }

  @Override
  public @Nullable HoldEntry hold(LockRow lock, AttemptId attempt) throws SQLException {
    HoldEntry owner = lock.owner;
    if (owner != null) {
      return owner.attempt.equals(attempt) ? owner : null;
    }
    return lock.used == 0 ? null : repository.hold(lock.name.value(), attempt.encoded());
  }

  @Override
  public List<HoldEntry> holds(LockRow lock, int limit) throws SQLException {
    return lock.owner != null
        ? List.of(lock.owner)
        : List.copyOf(repository.holds(lock.name.value(), limit));
  }

  @Override
  public void add(LockRow lock, HoldEntry hold) throws SQLException {
    lock.dirty = true;
    if (hold.weight == lock.capacity) {
      lock.owner = hold;
    } else {
      repository.insert(lock.name.value(), hold, lock.nextPlace++);
    }
  }

  @Override
  public void update(LockRow lock, HoldEntry hold) throws SQLException {
    if (hold != lock.owner) {
      repository.update(lock.name.value(), hold);
      return;
    }
    lock.dirty = true;
    if (hold.weight < lock.capacity) {
      // It has become one of several.
      lock.owner = null;
      add(lock, hold);
    }
  }

  @Override
  public void remove(LockRow lock, HoldEntry hold) throws SQLException {
    if (hold == lock.owner) {
      lock.owner = null;
    } else {
      repository.deleteHold(lock.name.value(), hold.attempt.encoded());
    }
  }

  @Override
  public void rotate(LockRow lock, int count) throws SQLException {
    List<HoldRow> first = repository.holds(lock.name.value(), count);
    if (lock.owner == null && !first.isEmpty()) {
      long from = first.get(0).place;
      long upTo = first.get(first.size() - 1).place;
      repository.rotate(lock.name.value(), upTo, lock.nextPlace - from);
      lock.nextPlace += upTo - from + 1;
      lock.dirty = true;
    }
  }

  @Override
  public @Nullable WaiterEntry waiter(LockRow lock, AttemptId attempt) throws SQLException {
    WaitRow waiter = repository.waiter(lock.name.value(), attempt.encoded());
    return waiter == null ? null : waiter.entry(lock);
  }

  @Override
  public List<WaiterEntry> waiters(LockRow lock, long after, int limit) throws SQLException {
    return repository.heads(lock.name.value(), after, limit).stream()
        .map(waiter -> waiter.entry(lock))
        .toList();
  }

  @Override
  public void add(LockRow lock, WaiterEntry waiter) throws SQLException {
    repository.insert(lock.name.value(), WaitRow.of(waiter));
  }

  @Override
  public boolean removeWaiter(LockRow lock, AttemptId attempt) throws SQLException {
    return repository.deleteWaiter(lock.name.value(), attempt.encoded());
  }

  @Override
  public long soonestEnd(LockRow lock, long ticket, long now) throws SQLException {
    return repository.soonestEnd(lock.name.value(), ticket, LockTable.STEPS, now);
  }

  @Override
  public long left(SessionId session, long now) throws SQLException {
    SessionRepository.SessionRow found = repository.session(session.value());
    return found == null ? 0 : found.left(now);
  }

  /** Also 0 if the clock was set back since its last renewal. */
  @Override
  public long holderLeft(SessionId session, long now) throws SQLException {
    SessionRepository.SessionRow found = repository.session(session.value());
    return found == null || found.isAheadOfClock(now) ? 0 : found.left(now);
  }

  /**
   * Locks the session's row, and so waits for a renewal that has begun. The end is not counted from
   * the step's time, which may be older than that renewal.
   */
  @Override
  public long settledEnd(SessionId session, long now) throws SQLException {
    SessionRepository.SessionRow found = repository.lockSession(session.value());
    return found == null || found.expiresAt() <= now ? 0 : found.expiresAt();
  }

  /** Absent only: one that expired may be renewed at this moment, and is judged in its own step. */
  @Override
  public boolean hasEnded(SessionId session, long now) throws SQLException {
    return repository.session(session.value()) == null;
  }

  @Override
  public Predicate<WaiterEntry> disconnected(List<WaiterEntry> waiters) throws SQLException {
    Predicate<String> disconnected =
        repository.disconnected(
            waiters.stream().map(waiter -> waiter.attempt().session().value()).toList());
    return waiter -> disconnected.test(waiter.attempt().session().value());
  }

  @Override
  public void tell(SessionNotification notification, long now) throws SQLException {
    if (repository.tell(notification, now)) {
      pendingNotifications.accept(notification);
    }
  }

  @Override
  public void forgetNotifications(AttemptId ended) throws SQLException {
    repository.forgetHold(ended.encoded());
  }
}
