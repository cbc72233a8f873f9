package io.mortise.redis;

import io.mortise.internal.queue.RequestQueue;
import io.mortise.internal.runtime.CompletionStages;
import io.mortise.redis.codec.KeySpace;
import io.mortise.redis.codec.LockCodec;
import io.mortise.redis.transport.ErrorReplyException;
import io.mortise.redis.transport.NotSentException;
import io.mortise.redis.transport.RedisReplies;
import io.mortise.redis.transport.RedisTransport;
import io.mortise.spi.Request;
import io.mortise.spi.time.DurationText;
import io.mortise.spi.time.Ticker;
import java.time.Duration;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.List;
import java.util.Queue;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.TimeoutException;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.locks.ReentrantLock;
import java.util.function.BooleanSupplier;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * The pipeline for operations on locks: while two batches are in flight the next is gathered, and a
 * batch is one EVALSHA. Operations run in the order of a {@link RequestQueue}.
 *
 * <p><b>Time.</b> An operation is answered within the timeout, or fails. It does not run later
 * either, since each batch carries the time after which the script refuses to grant. A connection
 * that does not answer in time is dropped.
 *
 * <p>Thread-safe. Sinks are called without a lock.
 */
final class ScriptPipeline {
  /**
   * Script cost per operation is flat from 16 operations on; 64 hold the server for some 200 µs.
   */
  static final int BATCH = 64;

  private static final int IN_FLIGHT = 2;

  /** Errors of a server that has not begun a batch. */
  private static final List<String> REFUSALS =
      List.of(
          "BUSY", "LOADING", "READONLY", "MASTERDOWN", "CLUSTERDOWN", "MOVED", "ASK", "TRYAGAIN");

  private static final Logger log = LoggerFactory.getLogger(ScriptPipeline.class);
  private static final Duration AFTER_TROUBLE = Duration.ofMillis(100);

  /** How long a deferred operation waits for another to travel with. */
  private static final Duration LATER = Duration.ofNanos(500_000);

  /** The most operations that one thread has in flight: a release and the next acquire. */
  private static final int LONE = 2;

  /** While answers take longer than this, callers park instead of reading. */
  private static final long LINGER_NANOS = 500_000;

  private final RedisTransport transport;
  private final StoreClock clock;
  private final KeySpace keys;
  private final String retentionMillis;
  private final long timeoutNanos;
  private final Ticker ticker;

  private final Queue<PendingOperation> submitted = new ConcurrentLinkedQueue<>();
  private final AtomicBoolean scheduled = new AtomicBoolean();

  /** How many times sending was requested since the sending thread last looked. */
  private final AtomicInteger pumping = new AtomicInteger();

  /** Whether the last look failed, which is logged once. Used by the sending thread only. */
  private boolean inTrouble;

  private final AtomicBoolean flushing = new AtomicBoolean();

  /** How many batches are in flight; written under the lock. */
  private volatile int inFlight;

  /** Whether only one thread seems to be waiting for an answer. */
  private volatile boolean lone;

  /** Round trip of the last batch, in nanoseconds. */
  private volatile long trip = Long.MAX_VALUE;

  private final ReentrantLock guard = new ReentrantLock();

  // The lock guards the fields below.
  private final ArrayDeque<ScriptBatch> flying = new ArrayDeque<>();
  private final RequestQueue<PendingOperation> queue = new RequestQueue<>();
  private final ArrayDeque<PendingOperation> again = new ArrayDeque<>();
  private boolean reloading;
  private boolean watched;

  /**
   * How many batches in a row were refused and will be sent again. Written under the lock, as is
   * the last refusal.
   */
  private final AtomicInteger refusals = new AtomicInteger();

  private String refusal = "";

  ScriptPipeline(
      RedisTransport transport,
      StoreClock clock,
      KeySpace keys,
      Duration retention,
      Duration timeout,
      Ticker ticker) {
    this.transport = transport;
    this.clock = clock;
    this.keys = keys;
    this.retentionMillis = Long.toString(retention.toMillis());
    this.timeoutNanos = timeout.toNanos();
    this.ticker = ticker;
  }

  /** Takes the answer to an operation: exactly one of the methods is called, once. */
  interface OperationCallback {
    /** Takes the script's text. */
    void answered(String text);

    /** Tells that there is no answer, or an error. */
    void failed(boolean mayHaveRun, Throwable cause);
  }

  private record PendingOperation(
      @Nullable Request request,
      String key,
      String arg,
      long submitted,
      OperationCallback operationCallback) {}

  private static final class ScriptBatch {
    final List<PendingOperation> ops = new ArrayList<>();
    final long sent;

    ScriptBatch(long sent) {
      this.sent = sent;
    }
  }

  /** A failure found under the lock, to be reported after its release. */
  private record PipelineFailure(PendingOperation op, Throwable cause) {}

  /** The reason why there will be no answer. */
  static final class NotAnsweredException extends RuntimeException {
    private static final long serialVersionUID = 1L;

    NotAnsweredException(String message) {
      super(message, null, false, false);
    }
  }

  /**
   * Sends an operation with the next batch.
   *
   * @param request the encoded request; null if it concerns no attempt
   */
  void submit(
      @Nullable Request request, String key, String arg, OperationCallback operationCallback) {
    submitted.add(new PendingOperation(request, key, arg, ticker.nanos(), operationCallback));
    wake();
  }

  /**
   * As {@link #submit}, but leaves with the next operation, or after a moment. A release and the
   * acquire that follows so share one request.
   */
  void submitLater(
      @Nullable Request request, String key, String arg, OperationCallback operationCallback) {
    submitted.add(new PendingOperation(request, key, arg, ticker.nanos(), operationCallback));
    // An answer that arrives after this look finds the operation in the queue.
    if (inFlight == 0 && flushing.compareAndSet(false, true)) {
      transport.schedule(this::flush, LATER);
    }
  }

  private void flush() {
    flushing.set(false);
    if (!submitted.isEmpty()) {
      wake();
    }
  }

  private void wake() {
    if (scheduled.compareAndSet(false, true)) {
      transport.execute(this::drain);
    }
  }

  private void drain() {
    scheduled.set(false);
    pump();
  }

  /**
   * Sends as many batches as may be in flight. One thread at a time; a call meanwhile makes it look
   * once more.
   */
  private void pump() {
    if (pumping.getAndIncrement() == 0) {
      try {
        int asked;
        do {
          asked = pumping.get();
          sendAll();
          inTrouble = false;
        } while (!pumping.compareAndSet(asked, 0));
      } catch (RuntimeException | Error e) {
        // Perhaps no thread could be started for a connection. The next look sends the rest.
        boolean first = !inTrouble;
        inTrouble = true;
        pumping.set(0);
        transport.schedule(this::drain, AFTER_TROUBLE);
        if (first) {
          log.error("Requests could not be sent to Redis now.", e);
        }
      }
    }
  }

  private void sendAll() {
    while (true) {
      List<PipelineFailure> pipelineFailures = new ArrayList<>(0);
      ScriptBatch scriptBatch = null;
      guard.lock();
      try {
        if (flying.size() < IN_FLIGHT && !reloading) {
          scriptBatch = gather(pipelineFailures);
          if (scriptBatch.ops.isEmpty()) {
            scriptBatch = null;
          } else {
            flying.add(scriptBatch);
            inFlight = flying.size();
            lone = flying.size() == 1 && scriptBatch.ops.size() <= LONE;
            watch();
          }
        }
      } finally {
        guard.unlock();
      }
      pipelineFailures.forEach(
          failure -> safely(() -> failure.op.operationCallback.failed(false, failure.cause)));
      if (scriptBatch == null) {
        return;
      }
      if (!lone) {
        transport.requireReaderThread();
      }
      send(scriptBatch);
    }
  }

  private ScriptBatch gather(List<PipelineFailure> pipelineFailures) {
    ScriptBatch scriptBatch = new ScriptBatch(ticker.nanos());
    boolean open = transport.isOpen();
    // After a refusal, give up earlier than the timeout, so that callers get the refusal as the
    // reason.
    long most = refusals.get() == 0 ? timeoutNanos : timeoutNanos * 2 / 3;
    for (PendingOperation op = submitted.poll(); op != null; op = submitted.poll()) {
      queue.add(op.request, op);
    }
    while (scriptBatch.ops.size() < BATCH) {
      PendingOperation op = again.poll();
      if (op == null) {
        op = queue.poll();
      }
      if (op == null) {
        break;
      }
      if (!open) {
        pipelineFailures.add(
            new PipelineFailure(op, new NotSentException(transport.outageReason())));
      } else if (scriptBatch.sent - op.submitted > most) {
        String why = refusals.get() == 0 ? "It waited too long to be sent." : refusal;
        pipelineFailures.add(new PipelineFailure(op, new NotSentException(why)));
      } else {
        scriptBatch.ops.add(op);
      }
    }
    return scriptBatch;
  }

  private void send(ScriptBatch scriptBatch) {
    List<PendingOperation> ops = scriptBatch.ops;
    List<String> words = new ArrayList<>(2 * ops.size() + 7);
    words.addAll(
        List.of("EVALSHA", Script.LOCK.sha, Integer.toString(ops.size() + keys.guards().size())));
    ops.forEach(op -> words.add(op.key));
    words.addAll(keys.guards());
    words.add(keys.prefix());
    words.add(Long.toString(clock.deadline(oldest(ops))));
    words.add(retentionMillis);
    ops.forEach(op -> words.add(op.arg));
    String[] command = words.toArray(String[]::new);
    boolean mayGrant = ops.stream().anyMatch(op -> LockCodec.mayGrant(op.arg));
    CompletionStages.start(
            () -> mayGrant ? transport.callGranting(command) : transport.call(command))
        .whenComplete(
            (answers, failure) -> transport.execute(() -> done(scriptBatch, answers, failure)));
  }

  private static long oldest(List<PendingOperation> ops) {
    long oldest = ops.get(0).submitted;
    for (PendingOperation op : ops) {
      oldest = op.submitted - oldest < 0 ? op.submitted : oldest;
    }
    return oldest;
  }

  private void done(
      ScriptBatch scriptBatch, @Nullable Object answers, @Nullable Throwable failure) {
    Throwable cause = failure == null ? null : RedisReplies.unwrap(failure);
    boolean unknownScript = cause instanceof ErrorReplyException error && error.is("NOSCRIPT");
    Duration later =
        cause instanceof ErrorReplyException error && !unknownScript
            ? transport.retryAfter(error, refusals.get())
            : null;
    boolean repeated = unknownScript || later != null;
    boolean known;
    boolean over;
    guard.lock();
    try {
      known = flying.remove(scriptBatch);
      inFlight = flying.size();
      if (known && repeated) {
        // The next batch may have been refused too. When both are back, both are sent again in
        // order.
        again.addAll(scriptBatch.ops);
        reloading = true;
      }
      if (later != null && cause != null) {
        refusals.incrementAndGet();
        refusal = "The cluster has refused it again and again: " + cause.getMessage() + ".";
      } else {
        refusals.set(0);
      }
      over = reloading && flying.isEmpty();
    } finally {
      guard.unlock();
    }
    trip = ticker.nanos() - scriptBatch.sent;
    if (known && !repeated) {
      tell(scriptBatch, answers, cause);
    }
    lone = false;
    if (over && later != null) {
      transport.schedule(this::goOn, later);
      return;
    } else if (over) {
      var unused = CompletionStages.start(() -> transport.call("SCRIPT", "LOAD", Script.LOCK.text));
      endReload();
    }
    if (cause == null || cause instanceof ErrorReplyException) {
      pump();
    } else {
      // The connection is breaking; it notices only after this event.
      transport.schedule(this::drain, Duration.ofMillis(1));
    }
  }

  private void endReload() {
    guard.lock();
    try {
      reloading = false;
    } finally {
      guard.unlock();
    }
  }

  private void goOn() {
    endReload();
    drain();
  }

  /**
   * Lends a thread that is about to park to the transport if the server answers fast: waking the
   * thread would take longer than the answer. Only a lone thread reads; for several, the reader
   * thread does.
   */
  void helpWhileWaiting(BooleanSupplier done) {
    if (lone && trip < LINGER_NANOS) {
      transport.readOnCaller(done, () -> lone);
    } else {
      transport.requireReaderThread();
    }
  }

  private static void tell(
      ScriptBatch scriptBatch, @Nullable Object answers, @Nullable Throwable failure) {
    List<?> texts = answers instanceof List<?> list ? list : List.of();
    boolean whole = texts.size() == scriptBatch.ops.size();
    for (int i = 0; i < scriptBatch.ops.size(); i++) {
      OperationCallback operationCallback = scriptBatch.ops.get(i).operationCallback;
      if (failure != null) {
        safely(() -> operationCallback.failed(mayHaveRun(failure), failure));
      } else if (whole && texts.get(i) instanceof String text) {
        safely(() -> operationCallback.answered(text));
      } else {
        IllegalStateException other = new IllegalStateException("The answer has another form.");
        safely(() -> operationCallback.failed(true, other));
      }
    }
  }

  /** A callback that throws must not keep the others from being answered. */
  private static void safely(Runnable callback) {
    try {
      callback.run();
    } catch (RuntimeException | Error e) {
      log.error("What follows from an answer of Redis could not be done.", e);
    }
  }

  private static boolean mayHaveRun(Throwable failure) {
    boolean refused =
        failure instanceof ErrorReplyException error && REFUSALS.stream().anyMatch(error::is);
    return !refused && !(failure instanceof NotSentException);
  }

  /** Schedules a check of the oldest batch for the end of its time. */
  private void watch() {
    ScriptBatch oldest = flying.peek();
    if (!watched && oldest != null) {
      watched = true;
      long left = oldest.sent + timeoutNanos - ticker.nanos();
      transport.schedule(this::dropOverdue, Duration.ofNanos(Math.max(1_000_000, left)));
    }
  }

  private void dropOverdue() {
    List<ScriptBatch> overdue = new ArrayList<>(0);
    guard.lock();
    try {
      watched = false;
      ScriptBatch oldest = flying.peek();
      if (oldest != null && ticker.nanos() - oldest.sent >= timeoutNanos) {
        overdue.addAll(flying);
        flying.clear();
        inFlight = 0;
        reloading = false;
      }
      watch();
    } finally {
      guard.unlock();
    }
    if (!overdue.isEmpty()) {
      transport.reset();
      fail(
          overdue,
          new TimeoutException(
              "No answer within " + DurationText.format(Duration.ofNanos(timeoutNanos)) + "."));
      pump();
    }
  }

  private static void fail(List<ScriptBatch> batches, Throwable cause) {
    batches.forEach(
        scriptBatch ->
            scriptBatch.ops.forEach(op -> safely(() -> op.operationCallback.failed(true, cause))));
  }

  /**
   * Fails all operations that are left. Called when the transport is closed, as its thread may do
   * no more work.
   */
  void close() {
    List<ScriptBatch> left;
    guard.lock();
    try {
      left = new ArrayList<>(flying);
      flying.clear();
      inFlight = 0;
      reloading = false;
    } finally {
      guard.unlock();
    }
    fail(left, new NotAnsweredException("The store was closed."));
    pump();
  }
}
