package io.mortise.redis.transport;

import io.mortise.redis.transport.RespConnection.PendingCommand;
import io.mortise.spi.time.Ticker;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.ReentrantLock;
import org.jspecify.annotations.Nullable;

/**
 * Finds dead connections of a {@link DirectTransport}.
 *
 * <p><b>Idle for a while.</b> A firewall may have forgotten the connection, and swallows all
 * packets. So a PING goes first, and commands wait for its answer. Without an answer the connection
 * is dropped, and the commands leave on the next one: they were never sent before.
 *
 * <p><b>Stuck in a write</b>, since the other side reads nothing: the connection is dropped.
 *
 * <p>Guarded by the transport's lock for writing.
 */
final class ConnectionWatch {
  /** Firewalls forget after minutes, as a rule. One round trip a second is cheap. */
  private static final long IDLE_NANOS = 1_000_000_000;

  private static final long LONGEST_PROBE_NANOS = 500_000_000;

  private final ReentrantLock writing;
  private final Ticker ticker;
  private final long timeoutNanos;
  private final ArrayDeque<WaitingCommand> held = new ArrayDeque<>();

  /** The connection that is being probed, or was dropped and is being replaced. */
  private volatile @Nullable RespConnection probed;

  /**
   * A command that waits for the answer.
   *
   * @param pinned the only connection that it may travel on; null for any
   */
  record WaitingCommand(
      @Nullable RespConnection pinned, PendingCommand command, List<String> words, long since) {}

  ConnectionWatch(ReentrantLock writing, Ticker ticker, long timeoutNanos) {
    this.writing = writing;
    this.ticker = ticker;
    this.timeoutNanos = timeoutNanos;
  }

  /** Whether commands are held back for a connection that is being opened or probed. */
  boolean holds() {
    return probed != null;
  }

  /**
   * Holds a command back if the connection has to be probed first, or is being probed.
   *
   * @param to the connection in use; null if there is none
   * @param pinned the only connection that the command may travel on; null for any
   */
  boolean hold(
      @Nullable RespConnection to,
      @Nullable RespConnection pinned,
      PendingCommand command,
      String... words) {
    if (probed == null && to != null && to.isIdle(IDLE_NANOS)) {
      probe(to);
    }
    if (probed == null || (pinned != null && pinned != to)) {
      return false;
    }
    held.add(new WaitingCommand(pinned, command, List.of(words), ticker.nanos()));
    return true;
  }

  private void probe(RespConnection idle) {
    probed = idle;
    PendingCommand ping = new PendingCommand();
    var unused = ping.whenComplete((answer, failure) -> answered(idle, failure));
    idle.waiting.add(ping);
    DirectTransport.write(idle, "PING");
    after(
        Math.min(LONGEST_PROBE_NANOS, timeoutNanos / 3),
        () -> {
          if (probed == idle && !ping.isDone()) {
            idle.kill();
          }
        });
  }

  private void answered(RespConnection alive, @Nullable Throwable failure) {
    if (failure != null && !(failure instanceof ErrorReplyException)) {
      // The connection broke, and is being replaced.
      return;
    }
    writing.lock();
    try {
      if (probed == alive) {
        release(alive);
      }
    } finally {
      writing.unlock();
    }
  }

  /**
   * Called with a new connection on which all channels are subscribed again.
   *
   * @return commands pinned to the old connection, to {@link #fail} once the lock is free
   */
  List<WaitingCommand> replaced(RespConnection next) {
    List<WaitingCommand> stale = new ArrayList<>();
    held.removeIf(
        one -> {
          boolean goes =
              one.pinned == null
                  && one.command.channel == null
                  && ticker.nanos() - one.since < timeoutNanos;
          if (!goes) {
            stale.add(one);
          }
          return !goes;
        });
    release(next);
    return stale;
  }

  /** Sends the held commands, in order. */
  private void release(RespConnection to) {
    probed = null;
    for (WaitingCommand one = held.poll(); one != null; one = held.poll()) {
      to.waiting.add(one.command);
      DirectTransport.write(to, one.words.toArray(String[]::new));
    }
  }

  /** No new connection could be opened: the held commands fail. */
  void givenUp(String reason) {
    List<WaitingCommand> stale;
    writing.lock();
    try {
      probed = null;
      stale = List.copyOf(held);
      held.clear();
    } finally {
      writing.unlock();
    }
    fail(stale, reason);
  }

  /** Not under the lock: continuations take locks of their own. */
  static void fail(List<WaitingCommand> stale, String reason) {
    stale.forEach(one -> one.command.completeExceptionally(new NotSentException(reason)));
  }

  /**
   * Checks periodically whether the transport's connection is stuck, until the transport closes.
   * Often enough that a stuck caller is freed within the timeout.
   */
  void watchWrites(DirectTransport transport) {
    after(
        timeoutNanos / 4,
        () -> {
          if (transport.dropIfStuck(timeoutNanos / 2)) {
            watchWrites(transport);
          }
        });
  }

  /** Runs on a thread that cannot be stuck in a write. */
  private static void after(long nanos, Runnable task) {
    CompletableFuture.delayedExecutor(nanos, TimeUnit.NANOSECONDS, Runnable::run).execute(task);
  }
}
