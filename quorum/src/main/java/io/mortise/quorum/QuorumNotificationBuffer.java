package io.mortise.quorum;

import io.mortise.spi.AttemptId;
import io.mortise.spi.Renewal;
import io.mortise.spi.SessionNotification;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.locks.ReentrantLock;
import java.util.function.Predicate;

/**
 * What the session is to be told of its holds, once for all members: what has gone first.
 * Thread-safe.
 */
final class QuorumNotificationBuffer {
  private static final int AT_A_TIME = 64;
  private static final int REMEMBERED = 1_024;

  private final ReentrantLock guard = new ReentrantLock();
  private final Map<Long, SessionNotification> gone = new LinkedHashMap<>();
  private final Map<Long, SessionNotification> wanted = new LinkedHashMap<>();
  private long next = 1;

  /** What was told to have gone, lately: several members tell it. */
  private final Map<AttemptId, Boolean> told =
      new LinkedHashMap<>() {
        private static final long serialVersionUID = 1L;

        @Override
        protected boolean removeEldestEntry(Map.Entry<AttemptId, Boolean> eldest) {
          return size() > REMEMBERED;
        }
      };

  /** Some of the news, and whether there is more. */
  record PendingNotifications(List<Renewal.NumberedNotification> items, boolean more) {}

  /** Returns whether it is new. */
  boolean add(SessionNotification sessionNotification) {
    guard.lock();
    try {
      if (sessionNotification instanceof SessionNotification.HoldEnded) {
        if (told.put(sessionNotification.attempt(), true) != null) {
          return false;
        }
      }
      (sessionNotification instanceof SessionNotification.HoldEnded ? gone : wanted)
          .put(next++, sessionNotification);
      return true;
    } finally {
      guard.unlock();
    }
  }

  /** A hold has ended: that it was wanted is no news any more. */
  void forget(AttemptId ended) {
    guard.lock();
    try {
      wanted.values().removeIf(sessionNotification -> sessionNotification.attempt().equals(ended));
    } finally {
      guard.unlock();
    }
  }

  /** Takes out what was seen; returns of which attempts it is known now that they are wanted. */
  List<AttemptId> seen(List<Long> ids) {
    guard.lock();
    try {
      gone.keySet().removeAll(ids);
      List<AttemptId> known = new ArrayList<>();
      for (Long id : ids) {
        SessionNotification sessionNotification = wanted.remove(id);
        if (sessionNotification != null) {
          known.add(sessionNotification.attempt());
        }
      }
      return known;
    } finally {
      guard.unlock();
    }
  }

  /** Whether it is to be told of any attempt that it is wanted. */
  boolean isWaiting() {
    guard.lock();
    try {
      return !wanted.isEmpty();
    } finally {
      guard.unlock();
    }
  }

  /**
   * What is to be told now.
   *
   * @param standing whether a member still has it that an attempt is wanted
   */
  PendingNotifications tell(Predicate<AttemptId> standing) {
    guard.lock();
    try {
      wanted
          .values()
          .removeIf(sessionNotification -> !standing.test(sessionNotification.attempt()));
      List<Renewal.NumberedNotification> items = new ArrayList<>();
      for (Map<Long, SessionNotification> sessionNotification : List.of(gone, wanted)) {
        sessionNotification.forEach(
            (id, item) -> {
              if (items.size() < AT_A_TIME) {
                items.add(new Renewal.NumberedNotification(id, item));
              }
            });
      }
      return new PendingNotifications(items, gone.size() + wanted.size() > items.size());
    } finally {
      guard.unlock();
    }
  }
}
