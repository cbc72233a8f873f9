package io.mortise.sql;

import io.mortise.LockName;
import io.mortise.spi.time.DurationText;
import java.sql.Connection;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.time.Duration;
import java.util.Objects;
import java.util.Optional;
import org.jspecify.annotations.Nullable;

/**
 * Does something exactly once per key, inside your transaction: the first caller runs the task, and
 * its result is committed or rolled back together with the task's writes. Later callers get that
 * result without running. Others with the same key wait meanwhile. If the runner rolls back or
 * dies, the next caller runs.
 *
 * <p>Only writes to this database are covered. Work elsewhere takes {@link
 * io.mortise.LockClient#once}, which runs a task at least once.
 *
 * <p>Keys are as lock names: 1 to 512 bytes of UTF-8. Results have at most 64 KiB. Rows stay until
 * you delete them; delete none that is still in use. Thread-safe; the connections are the caller's.
 */
public final class TransactionOnce {
  /** The longest result, in bytes. */
  public static final int MAX_RESULT_BYTES = 65_536;

  private static final String TABLE = "once";

  private final SqlFiles files;
  private final HelperRowCreator rows;
  private final DedicatedConnection own;

  /** Microseconds; 0 for ever. */
  private final long keepMicros;

  TransactionOnce(SqlFiles files, HelperRowCreator rows, DedicatedConnection own, long keepMicros) {
    this.files = files;
    this.rows = rows;
    this.own = own;
    this.keepMicros = keepMicros;
  }

  /** The stored result of a task. */
  public static final class KeptResult {
    private final byte[] value;
    private final boolean ranHere;

    KeptResult(byte[] value, boolean ranHere) {
      this.value = value.clone();
      this.ranHere = ranHere;
    }

    /** The bytes that the task returned, in this call or an earlier one; a copy. */
    public byte[] value() {
      return value.clone();
    }

    /** Whether this call ran the task. */
    public boolean ranHere() {
      return ranHere;
    }
  }

  /** The work, in the caller's transaction. */
  @FunctionalInterface
  public interface OnceTask<E extends Exception> {
    /** Does the work; its result is kept, at most {@link #MAX_RESULT_BYTES} bytes. */
    byte[] run() throws E;
  }

  private record OnceRow(boolean done, KeptResult kept) {
    static OnceRow read(ResultSet row) throws SQLException {
      byte[] value = Objects.requireNonNullElseGet(row.getBytes(2), () -> new byte[0]);
      return new OnceRow(row.getInt(1) == 1, new KeptResult(value, false));
    }
  }

  /**
   * The same, with results that are kept for this time only, by the database's clock. After that
   * the next caller runs the task again. Without it they are kept for ever.
   *
   * @throws IllegalArgumentException if it is not within 1 ms and 10 years
   */
  public TransactionOnce keepFor(Duration keep) {
    if (keep.toMillis() < 1 || keep.toDays() > 3650) {
      throw new IllegalArgumentException(
          "The time %s for which a result is kept is not within 1ms and 10 years."
              .formatted(DurationText.formatExact(keep)));
    }
    return new TransactionOnce(files, rows, own, keep.toNanos() / 1000);
  }

  /**
   * Runs the task in this transaction, unless it was done. Blocks while another transaction runs
   * the same key, then for the task. Commit afterwards: until then nothing is done, and others with
   * the key wait. Call it first in the transaction, before anything is read that the task depends
   * on.
   *
   * @return the task's result, or that of the transaction that did it
   * @throws IllegalArgumentException if the key is empty or too long, or the result is too long;
   *     roll back
   * @throws IllegalStateException if autocommit is on
   * @throws E if the task throws it; roll back
   * @throws SQLException if the database fails or refuses: a deadlock, the end of its own lock
   *     wait, a conflict that its isolation level does not allow; roll back
   */
  public <E extends Exception> KeptResult run(Connection connection, String key, OnceTask<E> task)
      throws SQLException, E {
    LockName.of(key);
    HelperRowCreator.requireTransaction(connection, "Doing something once");
    rows.ensure(TABLE, connection, key);
    OnceRow row = read(connection, "once_lock", key);
    if (row == null) {
      throw rows.gone(TABLE, key);
    }
    if (row.done()) {
      return row.kept();
    }
    byte[] result = task.run();
    if (result.length > MAX_RESULT_BYTES) {
      throw new IllegalArgumentException(
          "The result of '%s' has %s bytes; %s are kept at most. Keep it elsewhere, and return where."
              .formatted(key, result.length, MAX_RESULT_BYTES));
    }
    files
        .statement(connection, "once_done")
        .add(result, keepMicros, keepMicros, HelperRowCreator.bytes(key))
        .update();
    return new KeptResult(result, true);
  }

  /**
   * The stored result of a key, without running anything. Blocks for one round trip.
   *
   * @return empty if there is none, or its time is over
   * @throws SQLException if the database fails, the data source gives no connection within 5 s, or
   *     this thread is interrupted while it waits for one: then the flag stays set
   */
  public Optional<KeptResult> result(String key) throws SQLException {
    return own.call(connection -> Optional.ofNullable(read(connection, "once_read", key)))
        .filter(OnceRow::done)
        .map(OnceRow::kept);
  }

  /**
   * Removes a stored result, so that the next caller runs the task again. In this transaction, if
   * there is one. Blocks for one round trip, two on the first use of the key by this process, and
   * while another transaction runs the key.
   *
   * @return whether there was one
   * @throws SQLException if the database fails or refuses
   */
  public boolean forget(Connection connection, String key) throws SQLException {
    return rows.has(TABLE, key)
        && files.statement(connection, "once_forget").add(HelperRowCreator.bytes(key)).update()
            == 1;
  }

  /** Null if this connection sees no row of the key. */
  private @Nullable OnceRow read(Connection connection, String statement, String key)
      throws SQLException {
    return files
        .statement(connection, statement)
        .add(HelperRowCreator.bytes(key))
        .first(OnceRow::read);
  }
}
