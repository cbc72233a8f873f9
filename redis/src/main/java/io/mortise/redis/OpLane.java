package io.mortise.redis;

import io.lettuce.core.RedisBusyException;
import io.lettuce.core.RedisCommandExecutionException;
import io.lettuce.core.RedisLoadingException;
import io.lettuce.core.RedisNoScriptException;
import io.lettuce.core.RedisReadOnlyException;
import java.time.Duration;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.List;
import java.util.Queue;
import java.util.concurrent.CompletionException;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.TimeoutException;
import java.util.concurrent.atomic.AtomicBoolean;
import org.jspecify.annotations.Nullable;

/**
 * The lane on which operations on locks travel: while two batches are under way the next gathers,
 * and a batch is one EVALSHA. Operations are executed in the order in which they were submitted.
 *
 * <p><b>Time.</b> An operation is answered within the timeout, or fails; and it is not executed
 * later than that, for each batch carries the moment after which the script refuses to grant. A
 * connection that does not answer in time is dropped.
 *
 * <p>Thread-safe. Sinks are called without a lock.
 */
final class OpLane {
  /**
   * Script cost per operation is flat from 16 operations on; 64 hold the server for some 200 µs.
   */
  static final int BATCH = 64;

  private static final int IN_FLIGHT = 2;

  private final RedisWire wire;
  private final StoreClock clock;
  private final String prefix;
  private final String retentionMillis;
  private final long timeoutNanos;

  private final Queue<Op> queue = new ConcurrentLinkedQueue<>();
  private final AtomicBoolean scheduled = new AtomicBoolean();

  // Guarded by this.
  private final ArrayDeque<Batch> flying = new ArrayDeque<>();
  private final ArrayDeque<Op> again = new ArrayDeque<>();
  private boolean reloading;
  private boolean watched;

  OpLane(RedisWire wire, StoreClock clock, String prefix, Duration retention, Duration timeout) {
    this.wire = wire;
    this.clock = clock;
    this.prefix = prefix;
    this.retentionMillis = Long.toString(retention.toMillis());
    this.timeoutNanos = timeout.toNanos();
  }

  /** Takes the answer to an operation: one of the two methods is called, once. */
  interface Sink {
    /** The script's text. */
    void answered(String text);

    /** No answer, or an error. */
    void failed(boolean mayHaveRun, Throwable cause);
  }

  private static final class Op {
    final String key;
    final String arg;
    final Sink sink;
    final long submitted = System.nanoTime();

    Op(String key, String arg, Sink sink) {
      this.key = key;
      this.arg = arg;
      this.sink = sink;
    }
  }

  private static final class Batch {
    final List<Op> ops = new ArrayList<>();
    final long sent = System.nanoTime();
  }

  /** Tells of failures that are found under the lock, after it was given back. */
  private record Failure(Op op, boolean mayHaveRun, Throwable cause) {}

  /** Why an operation was not sent. */
  static final class NotSentException extends RuntimeException {
    private static final long serialVersionUID = 1L;

    NotSentException(String message) {
      super(message, null, false, false);
    }
  }

  /** Why there will be no answer. */
  static final class NotAnsweredException extends RuntimeException {
    private static final long serialVersionUID = 1L;

    NotAnsweredException(String message) {
      super(message, null, false, false);
    }
  }

  void submit(String key, String arg, Sink sink) {
    queue.add(new Op(key, arg, sink));
    if (scheduled.compareAndSet(false, true)) {
      wire.execute(this::drain);
    }
  }

  private void drain() {
    scheduled.set(false);
    pump();
  }

  private void pump() {
    List<Failure> failures = new ArrayList<>(0);
    synchronized (this) {
      while (flying.size() < IN_FLIGHT && !reloading) {
        Batch batch = gather(failures);
        if (batch.ops.isEmpty()) {
          break;
        }
        send(batch);
      }
    }
    failures.forEach(failure -> failure.op.sink.failed(failure.mayHaveRun, failure.cause));
  }

  private Batch gather(List<Failure> failures) {
    Batch batch = new Batch();
    boolean open = wire.isOpen();
    while (batch.ops.size() < BATCH) {
      Op op = again.poll();
      if (op == null) {
        op = queue.poll();
      }
      if (op == null) {
        break;
      }
      if (!open) {
        failures.add(new Failure(op, false, new NotSentException("There is no connection.")));
      } else if (batch.sent - op.submitted > timeoutNanos) {
        failures.add(
            new Failure(op, false, new NotSentException("It waited too long to be sent.")));
      } else {
        batch.ops.add(op);
      }
    }
    return batch;
  }

  private void send(Batch batch) {
    int size = batch.ops.size();
    String[] keys = new String[size];
    String[] args = new String[size + 3];
    args[0] = prefix;
    args[1] = Long.toString(clock.deadline(batch.ops.get(0).submitted));
    args[2] = retentionMillis;
    for (int i = 0; i < size; i++) {
      keys[i] = batch.ops.get(i).key;
      args[i + 3] = batch.ops.get(i).arg;
    }
    flying.add(batch);
    watch();
    wire.run(Script.LOCK, true, keys, args)
        .whenComplete(
            (answers, failure) -> {
              if (Thread.holdsLock(this)) {
                // Failed before it was sent: sinks are not to be called from here.
                wire.schedule(() -> done(batch, answers, failure), Duration.ZERO);
              } else {
                wire.execute(() -> done(batch, answers, failure));
              }
            });
  }

  private void done(Batch batch, @Nullable Object answers, @Nullable Throwable failure) {
    boolean unknownScript = failure != null && unwrap(failure) instanceof RedisNoScriptException;
    boolean known;
    synchronized (this) {
      known = flying.remove(batch);
      if (known && unknownScript) {
        // The next batch may have met the same. Both are sent again, in order, when both are back.
        again.addAll(batch.ops);
        reloading = true;
      }
      if (reloading && flying.isEmpty()) {
        wire.load(Script.LOCK);
        reloading = false;
      }
    }
    if (known && !unknownScript) {
      tell(batch, answers, failure);
    }
    if (failure == null || unwrap(failure) instanceof RedisCommandExecutionException) {
      pump();
    } else {
      // The connection breaks; it knows of it when this event was dealt with.
      wire.schedule(this::pump, Duration.ofMillis(1));
    }
  }

  private static void tell(Batch batch, @Nullable Object answers, @Nullable Throwable failure) {
    List<?> texts = answers instanceof List<?> list ? list : List.of();
    boolean whole = texts.size() == batch.ops.size();
    for (int i = 0; i < batch.ops.size(); i++) {
      Sink sink = batch.ops.get(i).sink;
      if (failure != null) {
        Throwable cause = unwrap(failure);
        sink.failed(mayHaveRun(cause), cause);
      } else if (whole && texts.get(i) instanceof String text) {
        sink.answered(text);
      } else {
        sink.failed(true, new IllegalStateException("The answer has another form."));
      }
    }
  }

  private static boolean mayHaveRun(Throwable failure) {
    return !(failure instanceof RedisBusyException
        || failure instanceof RedisLoadingException
        || failure instanceof RedisReadOnlyException);
  }

  static Throwable unwrap(Throwable failure) {
    Throwable cause = failure.getCause();
    return failure instanceof CompletionException && cause != null ? cause : failure;
  }

  /** Sees to it that somebody looks at the oldest batch when its time is over. */
  private void watch() {
    Batch oldest = flying.peek();
    if (!watched && oldest != null) {
      watched = true;
      long left = oldest.sent + timeoutNanos - System.nanoTime();
      wire.schedule(this::dropOverdue, Duration.ofNanos(Math.max(1_000_000, left)));
    }
  }

  private void dropOverdue() {
    List<Batch> overdue = new ArrayList<>(0);
    synchronized (this) {
      watched = false;
      Batch oldest = flying.peek();
      if (oldest != null && System.nanoTime() - oldest.sent >= timeoutNanos) {
        overdue.addAll(flying);
        flying.clear();
        reloading = false;
      }
      watch();
    }
    if (!overdue.isEmpty()) {
      wire.reset();
      fail(
          overdue,
          new TimeoutException(
              "No answer within " + Duration.ofNanos(timeoutNanos).toMillis() + " ms."));
      pump();
    }
  }

  private static void fail(List<Batch> batches, Throwable cause) {
    batches.forEach(batch -> batch.ops.forEach(op -> op.sink.failed(true, cause)));
  }

  /** Answers all that is left. Called when the wire is closed: its thread may do no more work. */
  void close() {
    List<Batch> left;
    synchronized (this) {
      left = new ArrayList<>(flying);
      flying.clear();
      reloading = false;
    }
    fail(left, new NotAnsweredException("The store was closed."));
    pump();
  }
}
