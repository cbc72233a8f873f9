package io.mortise.internal.client;

import io.mortise.Leadership.Change;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.List;
import java.util.Queue;
import java.util.concurrent.Executor;
import java.util.concurrent.locks.ReentrantLock;
import java.util.function.Consumer;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** Notifies listeners of the changes of a candidate, in order and one at a time. Thread-safe. */
final class LeadershipListeners {
  /** The logger of the candidate, whose name users know. */
  private static final Logger log = LoggerFactory.getLogger(LeaderCandidate.class);

  private final String name;
  private final Executor executor;
  private final ReentrantLock guard = new ReentrantLock();

  // Guarded by the guard.
  private final List<Consumer<? super Change>> listeners = new ArrayList<>();
  private final Queue<Runnable> notifications = new ArrayDeque<>();
  private boolean notifying;

  LeadershipListeners(String name, Executor executor) {
    this.name = name;
    this.executor = executor;
  }

  /** Adds a listener, which first receives the present state. */
  void add(Consumer<? super Change> listener, Change present) {
    guard.lock();
    try {
      listeners.add(listener);
      enqueue(() -> tell(listener, present));
    } finally {
      guard.unlock();
    }
  }

  void changed(Change change) {
    guard.lock();
    try {
      listeners.forEach(listener -> enqueue(() -> tell(listener, change)));
    } finally {
      guard.unlock();
    }
  }

  private void enqueue(Runnable notification) {
    notifications.add(notification);
    if (!notifying) {
      notifying = true;
      executor.execute(this::deliver);
    }
  }

  private void deliver() {
    while (true) {
      Runnable next;
      guard.lock();
      try {
        next = notifications.poll();
        if (next == null) {
          notifying = false;
          return;
        }
      } finally {
        guard.unlock();
      }
      next.run();
    }
  }

  private void tell(Consumer<? super Change> listener, Change change) {
    try {
      listener.accept(change);
    } catch (Throwable e) { // any throwable: the other listeners are notified too
      log.warn("A listener for changes of leader '{}' failed.", name, e);
    }
  }
}
