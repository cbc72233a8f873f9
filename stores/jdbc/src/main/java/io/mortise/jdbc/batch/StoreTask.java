package io.mortise.jdbc.batch;

import io.mortise.jdbc.table.Database.ErrorKind;
import io.mortise.jdbc.table.LockRepository;
import io.mortise.jdbc.table.StoreConnection;
import io.mortise.spi.Reply;
import io.mortise.spi.Request;
import java.sql.SQLException;
import java.util.Objects;
import java.util.concurrent.CompletableFuture;
import org.jspecify.annotations.Nullable;

/** Something to be done by a {@link ConnectionExecutor}. */
public abstract class StoreTask {
  /**
   * When it was submitted, by the ticker of the executor, which sets it before it queues the task.
   */
  long since;

  /** Nobody waits for it. Set before it is queued. */
  boolean isDeferrable;

  /**
   * Whether it was sent with others, of which some may have been done when that failed. Used by the
   * leader of its {@link ConnectionExecutor} only.
   */
  boolean mayHaveRun;

  /**
   * Whether it met a row that another transaction had locked. Used by the leader of its {@link
   * ConnectionExecutor} only.
   */
  boolean wasBlocked;

  /**
   * Tries to do it by one statement, which is its own transaction or part of one. May be called
   * again after a failure.
   *
   * @return false if nothing was changed and {@link #run} is needed
   */
  public boolean fast(StoreConnection storeConnection) throws SQLException {
    return false;
  }

  /** The request on a lock; null if the task is about something else. */
  public @Nullable Request request() {
    return null;
  }

  /** The lock that {@link #run} is about; null if it is about something else. */
  LockRepository.@Nullable PrefetchTarget expected() {
    Request request = request();
    return request == null ? null : LockRepository.PrefetchTarget.of(request);
  }

  /** Whether {@link #fast} may do it, alone or together with others. */
  public boolean hasFastPath() {
    return false;
  }

  /** Whether it asks for a lock that nobody here has asked for. */
  public boolean isNew() {
    return false;
  }

  /** It was tried together with others, in vain. */
  public void omittedFromBatch() {}

  /** Its answer has come with those of others. */
  public void take(Reply reply) {
    throw new UnsupportedOperationException();
  }

  /** Does it, inside a transaction. May be called again after a failure. */
  public abstract void run(StoreConnection storeConnection) throws SQLException;

  /** It is committed. Called once, with nothing held. */
  public abstract void done();

  /** It is not, or nobody knows. Called once, with nothing held. */
  public abstract void failed(ErrorKind errorKind, boolean mayHaveRun, RuntimeException cause);

  /** A step of a transaction, which computes a value. */
  @FunctionalInterface
  public interface TransactionStep<T> {
    T apply(StoreConnection storeConnection) throws SQLException;
  }

  /**
   * A step that may compute the value outside a transaction; null if it could not, and changed
   * nothing.
   */
  @FunctionalInterface
  public interface FastPath<T> {
    @Nullable T apply(StoreConnection storeConnection) throws SQLException;
  }

  /** A task whose answer is a value. */
  public static final class ValueTask<T> extends StoreTask {
    public final CompletableFuture<T> answer = new CompletableFuture<>();
    private final LockRepository.@Nullable PrefetchTarget expected;
    private final FastPath<T> fastPath;
    private final TransactionStep<T> step;
    private @Nullable T value;

    public ValueTask(TransactionStep<T> step) {
      this(null, storeConnection -> null, step);
    }

    /** A step on one lock. */
    public ValueTask(LockRepository.PrefetchTarget expected, TransactionStep<T> step) {
      this(expected, storeConnection -> null, step);
    }

    public ValueTask(FastPath<T> fastPath, TransactionStep<T> step) {
      this(null, fastPath, step);
    }

    private ValueTask(
        LockRepository.@Nullable PrefetchTarget expected,
        FastPath<T> fastPath,
        TransactionStep<T> step) {
      this.expected = expected;
      this.fastPath = fastPath;
      this.step = step;
    }

    /** A step that needs no transaction around it: one statement, or several that only look. */
    public static <T> ValueTask<T> single(TransactionStep<T> step) {
      return new ValueTask<>(step::apply, step);
    }

    @Override
    public boolean fast(StoreConnection storeConnection) throws SQLException {
      value = fastPath.apply(storeConnection);
      return value != null;
    }

    @Override
    LockRepository.@Nullable PrefetchTarget expected() {
      return expected;
    }

    @Override
    public void run(StoreConnection storeConnection) throws SQLException {
      value = step.apply(storeConnection);
    }

    @Override
    public void done() {
      answer.complete(Objects.requireNonNull(value));
    }

    @Override
    public void failed(ErrorKind errorKind, boolean mayHaveRun, RuntimeException cause) {
      answer.completeExceptionally(cause);
    }
  }
}
