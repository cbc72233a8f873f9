package io.mortise.testkit;

import io.mortise.internal.runtime.EngineScheduler;
import java.time.Duration;
import java.util.PriorityQueue;
import java.util.concurrent.Executor;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.locks.ReentrantLock;

/**
 * Timers on time that moves by hand. They run on the thread that moves it; tasks due at once run on
 * another. One task runs at a time. Thread-safe.
 */
final class ManualScheduler implements EngineScheduler {
  private final ManualTime time;
  private final Executor immediate;
  private final ReentrantLock guard = new ReentrantLock();
  private final PriorityQueue<DueTask> tasks = new PriorityQueue<>();
  private long sequence;

  /** Held while a task runs. */
  private final ReentrantLock turn = new ReentrantLock();

  /** Creates a scheduler, with an executor for tasks that are due at once. */
  ManualScheduler(ManualTime time, Executor immediate) {
    this.time = time;
    this.immediate = immediate;
  }

  private record DueTask(long due, long number, Runnable task, AtomicBoolean cancelled)
      implements Comparable<DueTask> {
    @Override
    public int compareTo(DueTask other) {
      int byTime = Long.compare(due, other.due);
      return byTime != 0 ? byTime : Long.compare(number, other.number);
    }
  }

  @Override
  public ScheduledTimer schedule(long delayNanos, Runnable task) {
    AtomicBoolean cancelled = new AtomicBoolean();
    guard.lock();
    try {
      long due = time.nanos() + Math.max(0, delayNanos);
      DueTask added = new DueTask(due, sequence++, task, cancelled);
      if (delayNanos <= 0) {
        immediate.execute(() -> run(added));
      } else {
        tasks.add(added);
      }
    } finally {
      guard.unlock();
    }
    return () -> cancelled.set(true);
  }

  private void run(DueTask task) {
    turn.lock();
    try {
      if (!task.cancelled().get()) {
        task.task().run();
      }
    } finally {
      turn.unlock();
    }
  }

  /**
   * Moves to the next task that is due by then, and runs it.
   *
   * @return false if there is none; the time is {@code until} then
   */
  boolean runNext(long until) {
    DueTask next;
    guard.lock();
    try {
      do {
        boolean due = !tasks.isEmpty() && tasks.peek().due() <= until;
        if (!due) {
          moveTo(until);
          return false;
        }
        next = tasks.remove();
      } while (next.cancelled().get());
      moveTo(next.due());
    } finally {
      guard.unlock();
    }
    run(next);
    return true;
  }

  private void moveTo(long nanos) {
    time.advance(Duration.ofNanos(Math.max(0, nanos - time.nanos())));
  }
}
