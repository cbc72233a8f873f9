package io.mortise.testkit;

import io.mortise.internal.engine.EngineScheduler;
import java.time.Duration;
import java.util.PriorityQueue;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.locks.ReentrantLock;
import org.jspecify.annotations.Nullable;

/** Timers on time that moves by hand: they run on the thread that moves it. Thread-safe. */
final class ManualScheduler implements EngineScheduler {
  private final ManualTime time;
  private final ReentrantLock guard = new ReentrantLock();
  private final PriorityQueue<DueTask> tasks = new PriorityQueue<>();
  private long sequence;

  ManualScheduler(ManualTime time) {
    this.time = time;
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
    guard.lock();
    try {
      AtomicBoolean cancelled = new AtomicBoolean();
      long due = time.nanos() + Math.max(0, delayNanos);
      tasks.add(new DueTask(due, sequence++, task, cancelled));
      return () -> cancelled.set(true);
    } finally {
      guard.unlock();
    }
  }

  /**
   * Moves to the next task that is due by then, and takes it.
   *
   * @return null if there is none; the time is {@code until} then
   */
  @Nullable Runnable next(long until) {
    guard.lock();
    try {
      while (!tasks.isEmpty() && tasks.peek().due() <= until) {
        DueTask task = tasks.remove();
        if (!task.cancelled().get()) {
          moveTo(task.due());
          return task.task();
        }
      }
      moveTo(until);
      return null;
    } finally {
      guard.unlock();
    }
  }

  private void moveTo(long nanos) {
    time.advance(Duration.ofNanos(Math.max(0, nanos - time.nanos())));
  }
}
