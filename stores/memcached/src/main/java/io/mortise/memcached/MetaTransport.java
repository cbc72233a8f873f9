package io.mortise.memcached;

import io.mortise.StoreUnfitException;
import io.mortise.internal.runtime.CompletionStages;
import io.mortise.internal.runtime.DaemonThreads;
import io.mortise.internal.runtime.FailureText;
import io.mortise.memcached.MetaConnection.ConnectionCheck;
import io.mortise.memcached.MetaException.FailureKind;
import io.mortise.spi.time.DurationText;
import io.mortise.spi.time.Ticker;
import io.mortise.support.internal.server.ReadOwnership;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.time.Duration;
import java.util.ArrayDeque;
import java.util.List;
import java.util.Queue;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.Executor;
import java.util.concurrent.Semaphore;
import java.util.concurrent.ThreadLocalRandom;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicLong;
import java.util.concurrent.locks.ReentrantLock;
import java.util.function.BooleanSupplier;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Speaks to a server, by one connection at a time. Thread-safe.
 *
 * <p><b>Sending.</b> Senders write themselves, one at a time. Two writes may be unanswered;
 * commands that come meanwhile leave in one write when the first is answered.
 *
 * <p><b>Reading.</b> A thread of its own, the reader, connects, reads, and connects anew when the
 * connection breaks. A thread that waits alone for an answer may read it itself, see {@link
 * ReadOwnership}.
 *
 * <p><b>Failures.</b> The reader takes a broken connection out of use and fails its exchanges.
 * Other threads only break it. An overdue exchange fails at its timeout, and the connection is
 * broken then.
 */
final class MetaTransport {
  private static final Logger log = LoggerFactory.getLogger(MetaTransport.class);

  private static final int UNANSWERED_WRITES = 2;
  private static final int WRITE_BYTES = 32_768;

  /** Slower answers are waited for asleep. */
  private static final long LINGER_NANOS = 500_000;

  private static final long FIRST_PAUSE_NANOS = 5_000_000;
  private static final long LONGEST_PAUSE_NANOS = 1_000_000_000;
  private static final long CLOSING_MILLIS = 2_000;

  /** Shorter than any firewall keeps a silent connection. */
  private static final long LONGEST_SILENCE_NANOS = 1_000_000_000;

  private static final MetaCommand SIGN_OF_LIFE = MetaCommand.classic("mn");

  /** For writes that must stop neither the reader nor the JVM's timer when they are stuck. */
  private static final Executor APART = CompletionStages.detaching("mortise-memcached-write");

  private final MemcachedTarget target;
  private final Ticker ticker;
  private final ConnectionCheck check;
  private final Runnable reconnected;
  private final Thread reader;
  private final ReadOwnership readOwnership;
  private final long since;
  private final CompletableFuture<Void> firstTry = new CompletableFuture<>();
  private final AtomicLong numbers = new AtomicLong();

  /** A permit ends a pause between two tries to connect. */
  private final Semaphore hurry = new Semaphore(0);

  /** Sent and not answered, in order. Taken from by the thread that reads. */
  private final Queue<MetaExchange> waiting = new ConcurrentLinkedQueue<>();

  private final ReentrantLock guard = new ReentrantLock();

  // Guarded.
  private final ArrayDeque<MetaExchange> unsent = new ArrayDeque<>();
  private int unansweredWrites;
  private boolean writing;
  private boolean watched;

  /** In use; null if there is none. Changed by the reader, under the lock. */
  private volatile @Nullable MetaConnection current;

  /** The latest that was made. */
  private volatile @Nullable MetaConnection latest;

  /** Whether only one thread seems to wait for something. */
  private volatile boolean lone;

  /** How long the last answer took. */
  private volatile long roundTrip = Long.MAX_VALUE;

  private volatile String outage = "there was none yet";
  private volatile boolean closed;

  /**
   * Begins to connect.
   *
   * @param check asked on each connection before it is used
   * @param reconnected called by the reader when a connection was made after another broke
   */
  MetaTransport(
      MemcachedTarget target,
      String thread,
      Ticker ticker,
      ConnectionCheck check,
      Runnable reconnected) {
    this.target = target;
    this.ticker = ticker;
    this.check = check;
    this.reconnected = reconnected;
    this.since = ticker.nanos();
    this.reader = DaemonThreads.create(thread, this::run);
    this.readOwnership = new ReadOwnership(reader);
    reader.start();
  }

  /** The outcome of the first try to connect, which is taken again after a slow answer. */
  CompletableFuture<Void> firstTry() {
    return firstTry;
  }

  /** The connection in use; null if there is none. */
  @Nullable MetaConnection connection() {
    return current;
  }

  /** How long the last answer took; very long if there was none yet. */
  long roundTripNanos() {
    return roundTrip;
  }

  /** Sends commands; fails with a {@link MetaException} only, by the timeout at the latest. */
  CompletableFuture<List<MetaReply>> call(List<MetaCommand> commands) {
    return call(current, commands);
  }

  /**
   * The same by this connection only, that is to the same process of the server. Not sent if
   * another one is in use.
   */
  CompletableFuture<List<MetaReply>> call(
      @Nullable MetaConnection connection, List<MetaCommand> commands) {
    MetaExchange exchange =
        new MetaExchange(commands, numbers.getAndAdd(commands.size()), ticker.nanos());
    guard.lock();
    try {
      if (connection == null || current != connection) {
        exchange.fail(FailureKind.NOT_SENT, "There is no connection: " + outage + ".", null);
        return exchange;
      }
      unsent.add(exchange);
      watch();
    } finally {
      guard.unlock();
    }
    sendAll();
    return exchange;
  }

  /** Sends what may be sent, unless another thread does. */
  private void sendAll() {
    for (Outgoing next = gather(); next != null; next = gather()) {
      try {
        next.bytes.writeTo(next.to.out());
      } catch (IOException | RuntimeException | Error e) {
        next.to.kill();
      }
      locked(() -> writing = false);
    }
  }

  private record Outgoing(MetaConnection to, ByteArrayOutputStream bytes) {}

  private void locked(Runnable change) {
    guard.lock();
    try {
      change.run();
    } finally {
      guard.unlock();
    }
  }

  /** The bytes that this thread is to write; null if there are none. */
  private @Nullable Outgoing gather() {
    guard.lock();
    try {
      MetaConnection to = current;
      if (to == null || writing || unansweredWrites == UNANSWERED_WRITES || unsent.isEmpty()) {
        return null;
      } else if (Thread.currentThread() == reader && unsent.element().bytes.length > WRITE_BYTES) {
        // The server takes nothing more in while nobody reads what it answers.
        APART.execute(this::sendAll);
        return null;
      }
      lone = unansweredWrites == 0 && unsent.size() == 1;
      if (!lone) {
        readOwnership.recallReader();
      }
      ByteArrayOutputStream bytes = new ByteArrayOutputStream(lone ? 256 : 4_096);
      MetaExchange exchange;
      do {
        exchange = unsent.element();
        bytes.writeBytes(exchange.bytes);
        waiting.add(exchange);
        unsent.remove();
        MetaExchange next = unsent.peek();
        exchange.endsWrite = next == null || bytes.size() + next.bytes.length > WRITE_BYTES;
      } while (!exchange.endsWrite);
      writing = true;
      unansweredWrites++;
      return new Outgoing(to, bytes);
    } finally {
      guard.unlock();
    }
  }

  /** Reads a reply, and completes what it is the last of. Blocks. */
  private void readOne(MetaConnection connection) throws IOException {
    MetaReply reply = connection.read();
    MetaExchange exchange = waiting.peek();
    if (exchange == null) {
      throw new IOException("The server answers what nobody asked: " + reply.shown());
    } else if (!exchange.add(reply)) {
      return;
    }
    waiting.remove();
    roundTrip = ticker.nanos() - exchange.since;
    lone = false;
    if (exchange.endsWrite) {
      locked(() -> unansweredWrites--);
      sendAll();
    }
    exchange.complete(exchange.replies());
  }

  /**
   * Lends a thread that is about to park to the transport, where the server answers at once: waking
   * it would take longer than the answer. Only one that is alone; for several, the reader reads.
   *
   * @param longest how long it may stay; it stays for the timeout if the server is silent
   */
  void helpWhileWaiting(BooleanSupplier done, Duration longest) {
    if (!lone || roundTrip > LINGER_NANOS || longest.compareTo(target.timeout()) < 0) {
      readOwnership.recallReader();
      return;
    } else if (current == null || !readOwnership.tryAcquire()) {
      return;
    }
    MetaConnection connection = current;
    try {
      while (connection != null && !done.getAsBoolean() && lone) {
        readOne(connection);
      }
    } catch (IOException | RuntimeException | Error e) {
      log.debug("Could not read from {}", target, e);
      reset();
    } finally {
      readOwnership.release();
      // In this order: a sender that could not read meanwhile relies on being seen here.
      if (!done.getAsBoolean() || !waiting.isEmpty()) {
        readOwnership.recallReader();
      }
    }
  }

  /** Sees to it that somebody looks at the oldest exchange when its time is over. Guarded. */
  private void watch() {
    if (watched) {
      return;
    }
    MetaExchange oldest = waiting.isEmpty() ? unsent.peek() : waiting.peek();
    if (oldest != null) {
      watched = true;
      long left = oldest.since + target.timeout().toNanos() - ticker.nanos();
      CompletableFuture.delayedExecutor(
              Math.max(1_000_000, left), TimeUnit.NANOSECONDS, Runnable::run)
          .execute(this::dropOverdue);
    }
  }

  private void dropOverdue() {
    List<MetaExchange> overdue = List.of();
    guard.lock();
    try {
      watched = false;
      MetaExchange oldest = waiting.peek();
      if (oldest != null && ticker.nanos() - oldest.since >= target.timeout().toNanos()) {
        overdue = List.copyOf(waiting);
      }
      watch();
    } finally {
      guard.unlock();
    }
    if (overdue.isEmpty()) {
      return;
    }
    MetaConnection silent = current;
    if (silent != null) {
      silent.giveUp();
    }
    String late = "No answer within " + DurationText.format(target.timeout()) + ".";
    overdue.forEach(exchange -> exchange.fail(FailureKind.UNANSWERED, late, null));
  }

  /** Drops the connection. The reader reconnects then. */
  void reset() {
    MetaConnection connection = current;
    if (connection != null) {
      connection.kill();
    }
  }

  // ---- The reader ----

  private void run() {
    boolean isFirst = true;
    int failures = 0;
    while (!closed) {
      MetaConnection connection = new MetaConnection(target);
      latest = connection;
      try {
        if (closed) {
          break;
        }
        connection.open(check);
        current = connection;
        askForSign(connection);
        firstTry.complete(null);
        if (!isFirst) {
          reconnected.run();
        }
        isFirst = false;
        failures = 0;
        readAll(connection);
      } catch (IOException | RuntimeException | Error e) {
        // Out of memory, perhaps: this thread must go on.
        drop(connection, connection.why(e));
        if (!(e instanceof SlowAnswerException)
            || ticker.nanos() - since > target.timeout().toNanos()) {
          firstTry.completeExceptionally(connection.why(e));
        }
      }
      pause(failures++);
    }
    firstTry.completeExceptionally(new IOException("The store was closed."));
  }

  /**
   * Asks for a sign of life again and again while the connection is in use: a firewall forgets a
   * connection that is silent, and tells nobody. A missing answer ends it, before a request needs
   * it.
   */
  private void askForSign(MetaConnection connection) {
    CompletableFuture.delayedExecutor(
            Math.min(LONGEST_SILENCE_NANOS, target.timeout().toNanos()),
            TimeUnit.NANOSECONDS,
            APART)
        .execute(
            () -> {
              if (current == connection) {
                var unused = call(connection, List.of(SIGN_OF_LIFE));
                askForSign(connection);
              }
            });
  }

  private void readAll(MetaConnection connection) throws IOException {
    while (true) {
      readOne(connection);
      if (waiting.isEmpty() && connection.isQuiet()) {
        readOwnership.yieldToCallers();
      }
    }
  }

  /** Takes a broken connection out of use, and fails what waits on it. */
  private void drop(MetaConnection connection, Throwable why) {
    connection.kill();
    String reason = FailureText.withoutFullStop(FailureText.said(why));
    boolean isNew = !outage.equals(reason);
    outage = reason;
    List<MetaExchange> sent;
    List<MetaExchange> never;
    guard.lock();
    try {
      current = null;
      sent = List.copyOf(waiting);
      never = List.copyOf(unsent);
      waiting.clear();
      unsent.clear();
      unansweredWrites = 0;
    } finally {
      guard.unlock();
    }
    String broke = "The connection broke: " + reason + ".";
    sent.forEach(exchange -> exchange.fail(FailureKind.UNANSWERED, broke, why));
    never.forEach(exchange -> exchange.fail(FailureKind.NOT_SENT, broke, why));
    if (closed) {
      return;
    }
    if (why instanceof StoreUnfitException && isNew && firstTry.isDone()) {
      log.warn("Cannot use memcached again: {} The client goes on trying.", why.getMessage());
    } else {
      log.debug("There is no connection to {}", target, why);
    }
  }

  private void pause(int failures) {
    long longest = Math.min(LONGEST_PAUSE_NANOS, FIRST_PAUSE_NANOS << Math.min(failures, 10));
    try {
      // Any time up to that: after an outage not everybody should come back at once.
      var unused =
          hurry.tryAcquire(ThreadLocalRandom.current().nextLong(longest), TimeUnit.NANOSECONDS);
    } catch (InterruptedException e) {
      // Nobody but close() ends this thread.
    }
  }

  /** Ends the connection and the thread. Blocks, for seconds at most. */
  void close() {
    closed = true;
    hurry.release();
    MetaConnection last = latest;
    if (last != null) {
      last.kill();
    }
    try {
      if (Thread.currentThread() != reader) {
        reader.join(CLOSING_MILLIS);
      }
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
    }
  }
}
