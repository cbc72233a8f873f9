package io.mortise.internal.event;

import java.util.ArrayDeque;
import java.util.concurrent.Executor;
import java.util.concurrent.locks.ReentrantLock;
import org.jspecify.annotations.Nullable;

/**
 * Runs tasks one after the other, in the order of their arrival, on threads of an executor. The
 * thread that adds a task never runs one. Thread-safe.
 */
final class EventQueue {
  private final Executor executor;
  private final int most;
  private final ReentrantLock guard = new ReentrantLock();

  // Guarded by the lock.
  private final ArrayDeque<Runnable> tasks = new ArrayDeque<>();
  private boolean running;

  /**
   * A queue without tasks.
   *
   * @param most the number of waiting tasks above which offered ones are dropped
   */
  EventQueue(Executor executor, int most) {
    this.executor = executor;
    this.most = most;
  }

  /** Adds a task that must be run. */
  void add(Runnable task) {
    add(task, Integer.MAX_VALUE);
  }

  /** Adds a task unless too many are waiting. */
  void offer(Runnable task) {
    add(task, most);
  }

  private void add(Runnable task, int limit) {
    guard.lock();
    try {
      if (tasks.size() >= limit) {
        return;
      }
      tasks.add(task);
      if (running) {
        return;
      }
      running = true;
    } finally {
      guard.unlock();
    }
    boolean begun = false;
    try {
      executor.execute(this::run);
      begun = true;
    } finally {
      if (!begun) {
        // There was no thread for it: the next task retries.
        stop();
      }
    }
  }

  private void stop() {
    guard.lock();
    try {
      running = false;
    } finally {
      guard.unlock();
    }
  }

  private void run() {
    for (Runnable task = next(); task != null; task = next()) {
      task.run();
    }
  }

  private @Nullable Runnable next() {
    guard.lock();
    try {
      Runnable next = tasks.poll();
      running = next != null;
      return next;
    } finally {
      guard.unlock();
    }
  }
}
