package io.mortise.quorum;

import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.locks.ReentrantLock;

/**
 * A share of a session's attempts under one short lock. What is to be sent to members is put into
 * the outbox under the lock and sent after it, by one thread at a time, so that the requests of a
 * name reach each member in the order in which they were decided. Nothing is called under the lock.
 */
final class Stripe {
  private static final int RENAMED = 32;

  private final ReentrantLock guard = new ReentrantLock();

  /** By the number that the attempt has for the engine. */
  final Map<Long, Attempt> attempts = new HashMap<>();

  /** Of those that were ended: the last that are called otherwise in members than here. */
  final Map<Long, Attempt> renamed =
      new LinkedHashMap<>() {
        private static final long serialVersionUID = 1L;

        @Override
        protected boolean removeEldestEntry(Map.Entry<Long, Attempt> eldest) {
          return size() > RENAMED;
        }
      };

  private final ArrayDeque<Runnable> outbox = new ArrayDeque<>();
  private List<Runnable> calls = new ArrayList<>(1);
  private boolean draining;

  void lock() {
    guard.lock();
  }

  /** To be done after the lock is let go, in order, by one thread at a time. */
  void send(Runnable sending) {
    outbox.add(sending);
  }

  /** To be called after the lock is let go. */
  void afterwards(Runnable call) {
    calls.add(call);
  }

  /** Lets go of the lock, then calls and sends what was decided under it. */
  void unlock() {
    // Never the list itself while it is empty: who locks next adds to that, and calls it too.
    List<Runnable> due = List.of();
    if (!calls.isEmpty()) {
      due = calls;
      calls = new ArrayList<>(1);
    }
    boolean drain = !outbox.isEmpty() && !draining;
    draining |= drain;
    guard.unlock();
    try {
      due.forEach(Runnable::run);
    } finally {
      if (drain) {
        drain();
      }
    }
  }

  private void drain() {
    while (true) {
      Runnable sending;
      guard.lock();
      try {
        sending = outbox.poll();
        if (sending == null) {
          draining = false;
          return;
        }
      } finally {
        guard.unlock();
      }
      sending.run();
    }
  }
}
