package io.mortise.quorum;

import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.locks.ReentrantLock;
import org.jspecify.annotations.Nullable;

/**
 * A share of a session's attempts under one short lock. What is to be sent to members is put into
 * the outbox under the lock and sent after it, by one thread at a time, so that the requests of a
 * name reach each member in the order in which they were decided. Nothing is called under the lock.
 */
final class QuorumStripe {
  private static final int PAST = 32;

  private final ReentrantLock guard = new ReentrantLock();

  /** By the number that the attempt has for the engine. */
  final Map<Long, QuorumAttempt> attempts = new HashMap<>();

  /**
   * The last of those that were ended or failed, where members know more of them than their number.
   * Who waits asks again for one that failed; who only tried never speaks of it again.
   */
  final Map<Long, QuorumAttempt> past =
      new LinkedHashMap<>() {
        private static final long serialVersionUID = 1L;

        @Override
        protected boolean removeEldestEntry(Map.Entry<Long, QuorumAttempt> eldest) {
          boolean tooMany = size() > PAST;
          if (tooMany) {
            forgotten = Math.max(forgotten, eldest.getKey());
          }
          return tooMany;
        }
      };

  /** The highest number that has fallen out of these. */
  private long forgotten = Long.MIN_VALUE;

  private final ArrayDeque<Runnable> outbox = new ArrayDeque<>();
  private List<Runnable> calls = new ArrayList<>(1);
  private boolean draining;

  void lock() {
    guard.lock();
  }

  /** An attempt that was not ended: asked for, held, or failed lately. */
  @Nullable QuorumAttempt known(long number) {
    QuorumAttempt quorumAttempt = attempts.get(number);
    QuorumAttempt failed = quorumAttempt == null ? past.get(number) : null;
    return failed == null || failed.ended ? quorumAttempt : failed;
  }

  /** Whether an attempt of which nothing is known may be one of which something was. */
  boolean mayHaveForgotten(long number) {
    return number <= forgotten;
  }

  /** To be done after the lock is let go, in order, by one thread at a time. */
  void send(Runnable sending) {
    outbox.add(sending);
  }

  /** To be called after the lock is let go. */
  void afterUnlock(Runnable call) {
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
