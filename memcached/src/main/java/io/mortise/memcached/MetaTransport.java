package io.mortise.memcached;

import io.mortise.StoreUnfitException;
import io.mortise.memcached.MetaException.FailureKind;
import io.mortise.spi.time.DurationText;
import io.mortise.spi.time.Ticker;
import java.io.IOException;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.Semaphore;
import java.util.concurrent.ThreadLocalRandom;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import java.util.concurrent.locks.ReentrantLock;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Speaks to a server, by one connection at a time. A thread of its own connects, reads, and
 * connects anew when the connection breaks. Thread-safe.
 */
final class MetaTransport {
  private static final Logger log = LoggerFactory.getLogger(MetaTransport.class);

  private static final long FIRST_PAUSE_NANOS = 5_000_000;
  private static final long LONGEST_PAUSE_NANOS = 1_000_000_000;
  private static final long CLOSING_MILLIS = 2_000;

  private final MemcachedTarget target;
  private final Ticker ticker;
  private final Runnable reconnected;
  private final Thread reader;
  private final CompletableFuture<Void> firstTry = new CompletableFuture<>();

  /** A permit ends a pause between two tries to connect. */
  private final Semaphore hurry = new Semaphore(0);

  /** Held while a connection is given something to send, or taken out of use. */
  private final ReentrantLock guard = new ReentrantLock();

  /** In use; null if there is none. Guarded. */
  private @Nullable MetaConnection current;

  /** The latest that was made. */
  private volatile @Nullable MetaConnection latest;

  private volatile String outage = "there was none yet";
  private volatile boolean closed;

  /**
   * Begins to connect.
   *
   * @param reconnected called by the reading thread when a connection was made after another broke
   */
  MetaTransport(MemcachedTarget target, String thread, Ticker ticker, Runnable reconnected) {
    this.target = target;
    this.ticker = ticker;
    this.reconnected = reconnected;
    this.reader = new Thread(this::run, thread);
    reader.setDaemon(true);
    reader.start();
  }

  /** What came of the first try to connect. */
  CompletableFuture<Void> firstTry() {
    return firstTry;
  }

  /** Sends commands; fails with a {@link MetaException} only, by the timeout at the latest. */
  CompletableFuture<List<MetaReply>> call(List<MetaCommand> commands) {
    return call(commands, false);
  }

  /** As {@link #call}, and fails if the server's clock was behind when it executed them. */
  CompletableFuture<List<MetaReply>> callByClock(List<MetaCommand> commands) {
    return call(commands, true);
  }

  private CompletableFuture<List<MetaReply>> call(List<MetaCommand> commands, boolean byClock) {
    MetaConnection connection;
    MetaExchange exchange;
    guard.lock();
    try {
      connection = current;
      if (connection == null) {
        return CompletableFuture.failedFuture(
            new MetaException(
                FailureKind.NOT_SENT, "There is no connection: " + outage + ".", null));
      }
      exchange = byClock ? connection.withClock(commands) : new MetaExchange(commands, false);
    } finally {
      guard.unlock();
    }
    if (!connection.send(exchange)) {
      return CompletableFuture.failedFuture(
          new MetaException(FailureKind.NOT_SENT, "The connection has just broken.", null));
    }
    return exchange
        .orTimeout(target.timeout().toMillis(), TimeUnit.MILLISECONDS)
        .exceptionallyCompose(
            failure -> {
              if (!(failure instanceof TimeoutException)) {
                return CompletableFuture.failedFuture(failure);
              }
              connection.kill();
              return CompletableFuture.failedFuture(
                  new MetaException(
                      FailureKind.UNANSWERED,
                      "No answer within " + DurationText.format(target.timeout()) + ".",
                      failure));
            });
  }

  private void run() {
    MetaConnection before = null;
    int failures = 0;
    while (!closed) {
      MetaConnection connection = new MetaConnection(target, ticker);
      latest = connection;
      try {
        if (closed) {
          break;
        }
        connection.open();
        use(connection, before);
        before = connection;
        failures = 0;
        while (true) {
          connection.readOne();
        }
      } catch (IOException | RuntimeException | Error e) {
        // Out of memory, perhaps: whatever it is, this thread must go on.
        drop(connection, e);
        firstTry.completeExceptionally(e);
      }
      pause(failures++);
    }
    firstTry.completeExceptionally(new IOException("The store was closed."));
  }

  private void use(MetaConnection connection, @Nullable MetaConnection before) {
    guard.lock();
    try {
      current = connection;
    } finally {
      guard.unlock();
    }
    if (connection.lacksClockOf(before)) {
      log.warn(
          "Memcached has forgotten items, locks perhaps: it was restarted or flushed, or it evicts (store={}). Leases that are gone are lost at once.",
          target);
    }
    firstTry.complete(null);
    if (before != null) {
      reconnected.run();
    }
  }

  private void drop(MetaConnection connection, Throwable why) {
    connection.kill();
    String reason = MetaConnection.reason(why).replaceFirst("\\.+$", "");
    boolean isNew = !outage.equals(reason);
    outage = reason;
    guard.lock();
    try {
      current = null;
    } finally {
      guard.unlock();
    }
    connection.fail(why);
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
