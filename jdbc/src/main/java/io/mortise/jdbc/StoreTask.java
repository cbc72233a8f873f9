package io.mortise.jdbc;

import io.mortise.jdbc.Database.ErrorKind;
import io.mortise.spi.Reply;
import io.mortise.spi.Request;
import java.sql.SQLException;
import java.util.Objects;
import java.util.concurrent.CompletableFuture;
import org.jspecify.annotations.Nullable;

/** Something to be done on a lane. */
abstract class StoreTask {
  /** When it was handed in, by the ticker of the lane, which sets it before it queues the task. */
  long since;

  /**
   * Whether it was sent with others, of which some may have been done when that failed. Belongs to
   * who has the lane's baton.
   */
  boolean mayHaveRun;

  /** Whether it met a row that somebody else had locked. Belongs to who has the lane's baton. */
  boolean wasBlocked;

  /**
   * Tries to do it by one statement, which is its own transaction or part of one. May be called
   * again after a failure.
   *
   * @return false if nothing was changed and {@link #run} is needed
   */
  boolean fast(StoreConnection storeConnection) throws SQLException {
    return false;
  }

  /** What it asks of a lock; null if it is something else. */
  @Nullable Request request() {
    return null;
  }

  /** The lock that {@link #run} is about; null if it is about something else. */
  LockRepository.@Nullable PrefetchTarget expected() {
    Request request = request();
    return request == null ? null : LockRepository.PrefetchTarget.of(request);
  }

  /** Whether {@link #fast} may do it, alone or together with others. */
  boolean hasFastPath() {
    return false;
  }

  /** Whether it asks for a lock that nobody here has asked for. */
  boolean isNew() {
    return false;
  }

  /** It was tried together with others, in vain. */
  void omittedFromBatch() {}

  /** Its answer has come with those of others. */
  void take(Reply reply) {
    throw new UnsupportedOperationException();
  }

  /** Whether {@link ContendedRequest} may do it, with those of other locks. */
  boolean isContended() {
    return false;
  }

  /** It was tried so, in vain or not. */
  void take(ContendedRequest step) {
    throw new UnsupportedOperationException();
  }

  /** Does it, inside a transaction. May be called again after a failure. */
  abstract void run(StoreConnection storeConnection) throws SQLException;

  /** It is committed. Called once, with nothing held. */
  abstract void done();

  /** It is not, or nobody knows. Called once, with nothing held. */
  abstract void failed(ErrorKind errorKind, boolean mayHaveRun, RuntimeException cause);

  /** What a step computes. */
  @FunctionalInterface
  interface TransactionStep<T> {
    T apply(StoreConnection storeConnection) throws SQLException;
  }

  /** What may compute it without a transaction around it; null if not, and nothing was changed. */
  @FunctionalInterface
  interface FastPath<T> {
    @Nullable T apply(StoreConnection storeConnection) throws SQLException;
  }

  /** Work whose answer is a value. */
  static final class ValueTask<T> extends StoreTask {
    final CompletableFuture<T> answer = new CompletableFuture<>();
    private final LockRepository.@Nullable PrefetchTarget expected;
    private final FastPath<T> fastPath;
    private final TransactionStep<T> step;
    private @Nullable T value;

    ValueTask(TransactionStep<T> step) {
      this(null, storeConnection -> null, step);
    }

    /** A step on one lock. */
    ValueTask(LockRepository.PrefetchTarget expected, TransactionStep<T> step) {
      this(expected, storeConnection -> null, step);
    }

    ValueTask(FastPath<T> fastPath, TransactionStep<T> step) {
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
    static <T> ValueTask<T> single(TransactionStep<T> step) {
      return new ValueTask<>(step::apply, step);
    }

    @Override
    boolean fast(StoreConnection storeConnection) throws SQLException {
      value = fastPath.apply(storeConnection);
      return value != null;
    }

    @Override
    LockRepository.@Nullable PrefetchTarget expected() {
      return expected;
    }

    @Override
    void run(StoreConnection storeConnection) throws SQLException {
      value = step.apply(storeConnection);
    }

    @Override
    void done() {
      answer.complete(Objects.requireNonNull(value));
    }

    @Override
    void failed(ErrorKind errorKind, boolean mayHaveRun, RuntimeException cause) {
      answer.completeExceptionally(cause);
    }
  }
}
