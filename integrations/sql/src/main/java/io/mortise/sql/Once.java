package io.mortise.sql;

import io.mortise.DistributedLock;
import io.mortise.FencingToken;
import io.mortise.Lease;
import io.mortise.LeaseLostException;
import io.mortise.LockName;
import io.mortise.StaleTokenException;
import io.mortise.spi.time.DurationText;
import java.sql.Connection;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.time.Duration;
import java.util.Objects;
import java.util.Optional;
import org.jspecify.annotations.Nullable;

/**
 * Does something once per key: the first caller runs it, and what came of it is kept, for ever or
 * for a time; later callers get that without running. If the runner fails or dies, the next caller
 * runs.
 *
 * <p>There are two forms, for one key use one of them.
 *
 * <ul>
 *   <li><b>In your transaction</b> ({@link #run(Connection, String, Task)}), when the work is
 *       writing to this database: the fact that it is done is committed together with the work, or
 *       rolled back with it. That is exactly once. Others with the key wait meanwhile.
 *   <li><b>Under a lock</b> ({@link #run(DistributedLock, Duration, HeldTask)}), when the work is
 *       elsewhere. The fact is recorded after the work, so a runner that dies in between has done
 *       it, and it is done again: at least once, and hardly ever twice. What must not happen twice
 *       has to be refused where it happens, by the token or a key of its own.
 * </ul>
 *
 * <p>Keys are as lock names: 1 to 512 bytes of UTF-8. Results have at most 64 KiB. Rows stay until
 * you delete them; delete none that is still in use. Thread-safe; the connections are the caller's.
 */
public final class Once {
  /** The longest result, in bytes. */
  public static final int MAX_RESULT = 65_536;

  private static final String TABLE = "once";

  /** With the second that each takes, as long as MySQL lets a statement wait for a row. */
  private static final int TRIES = 50;

  private final SqlFiles files;
  private final HelperRowCreator rows;
  private final DedicatedConnection own;

  /** Microseconds; 0 for ever. */
  private final long counts;

  Once(SqlFiles files, HelperRowCreator rows, DedicatedConnection own, long counts) {
    this.files = files;
    this.rows = rows;
    this.own = own;
    this.counts = counts;
  }

  /** What came of it. */
  public static final class Outcome {
    private final byte[] result;
    private final boolean ran;

    Outcome(byte[] result, boolean ran) {
      this.result = result.clone();
      this.ran = ran;
    }

    /** What the task returned, now or then; a copy. */
    public byte[] result() {
      return result.clone();
    }

    /** Whether this call ran the task. */
    public boolean ran() {
      return ran;
    }
  }

  /** The work, in the caller's transaction. */
  @FunctionalInterface
  public interface Task<E extends Exception> {
    /** Does it; what it returns is kept, at most {@link #MAX_RESULT} bytes. */
    byte[] run() throws E;
  }

  /** The work, under a lock. */
  @FunctionalInterface
  public interface HeldTask<E extends Exception> {
    /** Does it; what it returns is kept, at most {@link #MAX_RESULT} bytes. */
    byte[] run(Lease lease) throws E;
  }

  /** What the row says. */
  private record StoredOutcome(boolean done, Outcome kept, SeenToken seen) {
    static StoredOutcome read(ResultSet row) throws SQLException {
      byte[] result = Objects.requireNonNullElseGet(row.getBytes(2), () -> new byte[0]);
      SeenToken seen = new SeenToken(row.getLong(3), String.valueOf(row.getString(4)));
      return new StoredOutcome(row.getInt(1) == 1, new Outcome(result, false), seen);
    }

    Optional<Outcome> outcome() {
      return done ? Optional.of(kept) : Optional.empty();
    }
  }

  /**
   * The same for things whose being done counts only so long, by the database's clock; then the
   * next caller runs again.
   *
   * @throws IllegalArgumentException if it is not within 1 ms and 10 years
   */
  public Once expiringAfter(Duration time) {
    if (time.toMillis() < 1 || time.toDays() > 3650) {
      throw new IllegalArgumentException(
          "The time %s for which something counts as done is not within 1ms and 10 years."
              .formatted(DurationText.formatExact(time)));
    }
    return new Once(files, rows, own, time.toNanos() / 1000);
  }

  /**
   * Runs the task in this transaction, unless it was done. Blocks while another transaction runs
   * the same key, then for the task. Commit afterwards: until then nothing is done, and others with
   * the key wait. Call it first in the transaction, before anything is read that the task depends
   * on.
   *
   * @return the task's result, or that of the transaction that did it
   * @throws IllegalArgumentException if the key is none, or the result is too long; roll back
   * @throws IllegalStateException if autocommit is on
   * @throws E what the task throws; roll back
   * @throws SQLException if the database fails or refuses: a deadlock, the end of its own lock
   *     wait, a conflict that its isolation level does not allow; roll back
   */
  public <E extends Exception> Outcome run(Connection connection, String key, Task<E> task)
      throws SQLException, E {
    LockName.of(key);
    HelperRowCreator.requireTransaction(connection, "Doing something once");
    rows.ensure(TABLE, connection, key);
    StoredOutcome storedOutcome = read(connection, "once_lock", key);
    if (storedOutcome == null) {
      throw rows.gone(TABLE, key);
    }
    Optional<Outcome> before = storedOutcome.outcome();
    if (before.isPresent()) {
      return before.get();
    }
    byte[] result = checked(key, task.run());
    files
        .statement(connection, "once_done")
        .add(result, counts, counts, HelperRowCreator.bytes(key))
        .update();
    return new Outcome(result, true);
  }

  /**
   * Runs the task under this lock, whose name is the key, unless it was done; asks first, so a key
   * that is done costs one round trip to the database and none to the lock's store. The row
   * remembers the lease's fencing token: a runner that lost its lease cannot record over one that
   * was let run after it. Blocks for the wait and for the task.
   *
   * @param wait how long to wait for another who runs it
   * @return the task's result, or that of the caller who did it
   * @throws io.mortise.LockTimeoutException if another runs it for longer
   * @throws StaleTokenException if another was let run because this one's lease was lost; if the
   *     task ran, it ran twice, and the other's result is the one that is kept
   * @throws IllegalArgumentException if the wait is negative, or the result is too long
   * @throws IllegalStateException if the lock is shared or one of permits
   * @throws InterruptedException if this thread is interrupted while it waits for the lock; the
   *     recording of a result is not interrupted
   * @throws io.mortise.LockException if the lock's store refuses or does not answer
   * @throws E what the task throws; then it is not done
   * @throws SQLException if the database fails; if the task ran, whether it counts as done is
   *     unknown
   */
  public <E extends Exception> Outcome run(DistributedLock lock, Duration wait, HeldTask<E> task)
      throws SQLException, InterruptedException, E {
    String key = lock.name();
    Optional<Outcome> before = interruptibly(connection -> find(connection, key));
    if (before.isPresent()) {
      return before.get();
    }
    Lease lease = lock.acquireWithin(wait);
    byte[] result;
    try {
      FencingToken token = lease.fencingToken();
      Optional<Outcome> meanwhile = interruptibly(connection -> begin(connection, key, token));
      if (meanwhile.isPresent()) {
        lease.close();
        return meanwhile.get();
      }
      result = checked(key, task.run(lease));
      record(lease, connection -> done(connection, key, token, result));
    } catch (Throwable e) {
      closeAfter(e, lease);
      throw e;
    }
    try {
      lease.close();
    } catch (LeaseLostException e) {
      // Late, but nobody was let run before it was recorded; the present holder finds it done.
    }
    return new Outcome(result, true);
  }

  /**
   * Records what the task has done, also if this thread is interrupted: a pool or a driver may end
   * what an interrupted thread asks of it.
   */
  private void record(Lease lease, DedicatedConnection.ConnectionTask done) throws SQLException {
    boolean interrupted = false;
    boolean recorded = false;
    try {
      while (!recorded) {
        interrupted |= Thread.interrupted();
        try {
          recorded =
              patiently(
                  connection -> {
                    done.run(connection);
                    return true;
                  });
        } catch (SQLException e) {
          if (!Thread.currentThread().isInterrupted() || lease.state() == Lease.State.LOST) {
            throw e;
          }
        }
      }
    } finally {
      if (interrupted) {
        Thread.currentThread().interrupt();
      }
    }
  }

  /**
   * Again, if another transaction has the row: one that forgets the key, say. In between the own
   * connection is there for others.
   */
  private <T> T patiently(DedicatedConnection.ConnectionFunction<T> work) throws SQLException {
    for (int tries = 1; ; tries++) {
      try {
        return own.call(work);
      } catch (SQLException e) {
        if (!files.dialect().isMySqlLike() || !files.dialect().isLockTimeout(e) || tries == TRIES) {
          throw e;
        }
      }
    }
  }

  private <T> T interruptibly(DedicatedConnection.ConnectionFunction<T> work)
      throws SQLException, InterruptedException {
    try {
      return patiently(work);
    } catch (SQLException e) {
      if (e.getCause() instanceof InterruptedException interrupt && Thread.interrupted()) {
        throw interrupt;
      }
      throw e;
    }
  }

  private static void closeAfter(Throwable trouble, Lease lease) {
    try {
      lease.close();
    } catch (RuntimeException e) {
      trouble.addSuppressed(e);
    }
  }

  /** Empty if the holder may run. */
  private Optional<Outcome> begin(Connection connection, String key, FencingToken token)
      throws SQLException {
    rows.ensure(TABLE, connection, key);
    files
        .statement(connection, "once_begin")
        .add(token.value(), token.holder(), HelperRowCreator.bytes(key))
        .add(token.value(), token.value(), token.holder())
        .update();
    // The row tells, not the count: the reply may have been lost, and this be the second time.
    StoredOutcome storedOutcome = known(connection, key);
    if (!storedOutcome.done()) {
      storedOutcome.seen().refuseUnless(token, table());
    }
    return storedOutcome.outcome();
  }

  private void done(Connection connection, String key, FencingToken token, byte[] result)
      throws SQLException {
    files
        .statement(connection, "once_done_by")
        .add(result, counts, counts, HelperRowCreator.bytes(key), token.value(), token.holder())
        .update();
    known(connection, key).seen().refuseUnless(token, table());
  }

  private String table() {
    return "'" + files.prefix() + TABLE + "'";
  }

  /**
   * What came of a key, without running anything. Blocks for one round trip.
   *
   * @return empty if it is not done, or does not count any more
   * @throws SQLException if the database fails, the data source gives no connection within 5 s, or
   *     this thread is interrupted while it waits for one: then the flag stays set
   */
  public Optional<Outcome> find(String key) throws SQLException {
    return own.call(connection -> find(connection, key));
  }

  private Optional<Outcome> find(Connection connection, String key) throws SQLException {
    return Optional.ofNullable(read(connection, "once_read", key)).flatMap(StoredOutcome::outcome);
  }

  /**
   * Makes a key count as not done, so that the next caller runs. In this transaction, if there is
   * one. Blocks for one round trip, two on the first use of the key by this process, and while
   * another transaction runs the key.
   *
   * @return whether it was done
   * @throws SQLException if the database fails or refuses
   */
  public boolean forget(Connection connection, String key) throws SQLException {
    return rows.has(TABLE, key)
        && files.statement(connection, "once_forget").add(HelperRowCreator.bytes(key)).update()
            == 1;
  }

  private StoredOutcome known(Connection connection, String key) throws SQLException {
    StoredOutcome storedOutcome = read(connection, "once_read", key);
    if (storedOutcome == null) {
      throw rows.gone(TABLE, key);
    }
    return storedOutcome;
  }

  private @Nullable StoredOutcome read(Connection connection, String statement, String key)
      throws SQLException {
    return files
        .statement(connection, statement)
        .add(HelperRowCreator.bytes(key))
        .first(StoredOutcome::read);
  }

  private static byte[] checked(String key, byte[] result) {
    if (result.length > MAX_RESULT) {
      throw new IllegalArgumentException(
          "The result of '%s' has %s bytes; %s are kept at most. Keep it elsewhere, and return where."
              .formatted(key, result.length, MAX_RESULT));
    }
    return result;
  }
}
