package io.mortise.jdbc.batch;

import io.mortise.spi.Request;
import io.mortise.spi.time.Ticker;
import java.time.Duration;
import java.util.ArrayDeque;
import java.util.Deque;
import java.util.List;
import java.util.concurrent.ThreadLocalRandom;

/**
 * Tasks whose row another transaction keeps locked, to be tried again in a while, and the tasks of
 * the same lock that came after them. Used by the leader of its {@link ConnectionExecutor} only.
 * The executor's thread may read a stale state for a moment, before it leads.
 */
public final class BlockedRowQueue {
  /**
   * How long a try waits for the row, where the server lets that be so short. Other processes keep
   * one for a millisecond or two.
   */
  public static final Duration LOCK_WAIT = Duration.ofMillis(10);

  /** First and longest pause. */
  private static final long SHORTEST = Duration.ofMillis(1).toNanos();

  private static final long LONGEST = LOCK_WAIT.multipliedBy(10).toNanos();

  private final Ticker ticker;
  private final Deque<StoreTask> tasks = new ArrayDeque<>();
  private long pause = SHORTEST;
  private volatile boolean empty = true;
  private volatile long until;

  BlockedRowQueue(Ticker ticker) {
    this.ticker = ticker;
  }

  boolean isEmpty() {
    return empty;
  }

  /** Time until the next retry; 0 or less if a retry is due. */
  long nanosLeft() {
    return until - ticker.nanos();
  }

  /** Whether it has to wait behind another of the same lock. */
  boolean blocks(StoreTask task) {
    Request request = task.request();
    if (request != null) {
      for (StoreTask earlier : tasks) {
        Request before = earlier.request();
        if (before != null && before.name().equals(request.name())) {
          return true;
        }
      }
    }
    return false;
  }

  void add(StoreTask task) {
    task.wasBlocked = true;
    tasks.add(task);
    empty = false;
  }

  /** Takes all, in order. */
  void moveTo(List<StoreTask> batch) {
    batch.addAll(tasks);
    tasks.clear();
    empty = true;
  }

  /**
   * A round is over.
   *
   * @param restedBefore whether something was here when it began, so that its pause goes on
   */
  void roundEnds(boolean restedBefore) {
    if (tasks.isEmpty()) {
      pause = SHORTEST;
    } else if (!restedBefore) {
      until = ticker.nanos() + pause / 2 + ThreadLocalRandom.current().nextLong(pause);
      // A release is worth trying more often: processes that take turns keep the row for moments.
      boolean releases = tasks.stream().anyMatch(BlockedRowQueue::isRelease);
      pause = Math.min(2 * pause, releases ? LOCK_WAIT.toNanos() : LONGEST);
    }
  }

  private static boolean isRelease(StoreTask task) {
    return task.request() instanceof Request.Abandon;
  }
}
