package io.mortise.quorum;

import io.mortise.spi.AttemptId;
import io.mortise.spi.Renewal;
import io.mortise.spi.SessionNotification;
import io.mortise.support.internal.store.NotificationBuffer;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.locks.ReentrantLock;
import java.util.function.Predicate;

/**
 * What the session is to be told of its holds, once for all members. Thread-safe: its lock is the
 * innermost, under that of a stripe or of the renewals, and nothing is called under it but {@link
 * #renewed}'s predicate.
 */
final class QuorumNotificationBuffer {
  private static final int REMEMBERED = 1_024;

  private final ReentrantLock guard = new ReentrantLock();
  private final NotificationBuffer buffer = new NotificationBuffer();

  /** What was told to have gone, lately: several members tell it. */
  private final Map<AttemptId, Boolean> told =
      new LinkedHashMap<>() {
        private static final long serialVersionUID = 1L;

        @Override
        protected boolean removeEldestEntry(Map.Entry<AttemptId, Boolean> eldest) {
          return size() > REMEMBERED;
        }
      };

  /** Returns whether it is new. */
  boolean add(SessionNotification sessionNotification) {
    guard.lock();
    try {
      if (sessionNotification instanceof SessionNotification.HoldEnded
          && told.put(sessionNotification.attempt(), true) != null) {
        return false;
      }
      buffer.add(sessionNotification);
      return true;
    } finally {
      guard.unlock();
    }
  }

  /** A hold has ended: that it was wanted need not be told any more. */
  void forget(AttemptId ended) {
    guard.lock();
    try {
      buffer.forget(ended);
    } finally {
      guard.unlock();
    }
  }

  /** Takes out what was seen; returns of which attempts it is known now that they are wanted. */
  List<AttemptId> acknowledge(List<Long> ids) {
    guard.lock();
    try {
      return buffer.acknowledge(ids).stream().map(SessionNotification::attempt).toList();
    } finally {
      guard.unlock();
    }
  }

  /** Whether it is to be told of any attempt that it is wanted. */
  boolean isWaiting() {
    guard.lock();
    try {
      return buffer.hasStanding();
    } finally {
      guard.unlock();
    }
  }

  /**
   * The answer to a renewal, with what is to be told now.
   *
   * @param standing whether a member still has it that an attempt is wanted
   */
  Renewal.Renewed renewed(Predicate<AttemptId> standing) {
    guard.lock();
    try {
      buffer.retain(standing);
      return buffer.renewed(0);
    } finally {
      guard.unlock();
    }
  }
}
