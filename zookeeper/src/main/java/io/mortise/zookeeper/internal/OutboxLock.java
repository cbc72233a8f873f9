package io.mortise.zookeeper.internal;

import java.util.ArrayDeque;
import java.util.concurrent.locks.ReentrantLock;
import java.util.function.Supplier;

/**
 * One short lock for all that belongs to a session, and a list of what is to be called once it is
 * let go: answers never reach the engine under it.
 */
public final class OutboxLock {
  private static final Runnable[] NONE = {};

  private final ReentrantLock lock = new ReentrantLock();
  private final ArrayDeque<Runnable> later = new ArrayDeque<>();

  /** Runs a step under the lock, then what it left to be called. */
  public void run(Runnable step) {
    Runnable[] calls;
    lock.lock();
    try {
      step.run();
      calls = take();
    } finally {
      lock.unlock();
    }
    callAll(calls, 0);
  }

  /** One that throws keeps nobody behind it from its answer. */
  private static void callAll(Runnable[] calls, int from) {
    int next = from;
    try {
      while (next < calls.length) {
        calls[next++].run();
      }
    } finally {
      if (next < calls.length) {
        callAll(calls, next);
      }
    }
  }

  /** Reads something under the lock. */
  public <T> T get(Supplier<T> reading) {
    lock.lock();
    try {
      return reading.get();
    } finally {
      lock.unlock();
    }
  }

  /** A client that is closed calls back on the thread that asked: then only the outermost calls. */
  private Runnable[] take() {
    if (later.isEmpty() || lock.getHoldCount() > 1) {
      return NONE;
    }
    Runnable[] calls = later.toArray(NONE);
    later.clear();
    return calls;
  }

  /** Under the lock: to be called when it has been let go. */
  public void later(Runnable call) {
    later.add(call);
  }
}
