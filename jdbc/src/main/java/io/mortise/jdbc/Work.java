package io.mortise.jdbc;

import io.mortise.jdbc.Database.Trouble;
import io.mortise.spi.Reply;
import io.mortise.spi.Request;
import java.sql.SQLException;
import java.util.Objects;
import java.util.concurrent.CompletableFuture;
import org.jspecify.annotations.Nullable;

/** Something to be done on a lane. */
abstract class Work {
  /** When it was handed in, by {@link System#nanoTime()}. */
  final long since = System.nanoTime();

  /**
   * Whether it was sent with others, of which some may have been done when that failed. Belongs to
   * who has the lane's baton.
   */
  boolean mayHaveRun;

  /** Whether it met a row that somebody else had locked. Belongs to who has the lane's baton. */
  boolean wasSetAside;

  /**
   * Tries to do it by one statement, which is its own transaction or part of one. May be called
   * again after a failure.
   *
   * @return false if nothing was changed and {@link #run} is needed
   */
  boolean fast(Link link) throws SQLException {
    return false;
  }

  /** What it asks of a lock; null if it is something else. */
  @Nullable Request request() {
    return null;
  }

  /** The lock that {@link #run} is about; null if it is about something else. */
  Rows.@Nullable Expected expected() {
    Request request = request();
    return request == null ? null : Rows.Expected.of(request);
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
  void leftOut() {}

  /** Its answer has come with those of others. */
  void take(Reply reply) {
    throw new UnsupportedOperationException();
  }

  /** Whether {@link ContendedStep} may do it, with those of other locks. */
  boolean isContended() {
    return false;
  }

  /** It was tried so, in vain or not. */
  void take(ContendedStep step) {
    throw new UnsupportedOperationException();
  }

  /** Does it, inside a transaction. May be called again after a failure. */
  abstract void run(Link link) throws SQLException;

  /** It is committed. Called once, with nothing held. */
  abstract void done();

  /** It is not, or nobody knows. Called once, with nothing held. */
  abstract void failed(Trouble trouble, boolean mayHaveRun, RuntimeException cause);

  /** What a step computes. */
  @FunctionalInterface
  interface Step<T> {
    T apply(Link link) throws SQLException;
  }

  /** What may compute it without a transaction around it; null if not, and nothing was changed. */
  @FunctionalInterface
  interface Shortcut<T> {
    @Nullable T apply(Link link) throws SQLException;
  }

  /** Work whose answer is a value. */
  static final class Call<T> extends Work {
    final CompletableFuture<T> answer = new CompletableFuture<>();
    private final Rows.@Nullable Expected expected;
    private final Shortcut<T> shortcut;
    private final Step<T> step;
    private @Nullable T value;

    Call(Step<T> step) {
      this(null, link -> null, step);
    }

    /** A step on one lock. */
    Call(Rows.Expected expected, Step<T> step) {
      this(expected, link -> null, step);
    }

    Call(Shortcut<T> shortcut, Step<T> step) {
      this(null, shortcut, step);
    }

    private Call(Rows.@Nullable Expected expected, Shortcut<T> shortcut, Step<T> step) {
      this.expected = expected;
      this.shortcut = shortcut;
      this.step = step;
    }

    /** A step that needs no transaction around it: one statement, or several that only look. */
    static <T> Call<T> single(Step<T> step) {
      return new Call<>(step::apply, step);
    }

    @Override
    boolean fast(Link link) throws SQLException {
      value = shortcut.apply(link);
      return value != null;
    }

    @Override
    Rows.@Nullable Expected expected() {
      return expected;
    }

    @Override
    void run(Link link) throws SQLException {
      value = step.apply(link);
    }

    @Override
    void done() {
      answer.complete(Objects.requireNonNull(value));
    }

    @Override
    void failed(Trouble trouble, boolean mayHaveRun, RuntimeException cause) {
      answer.completeExceptionally(cause);
    }
  }
}
