package io.mortise.quorum;

import io.mortise.internal.queue.BoundedMap;
import io.mortise.spi.AttemptId;
import io.mortise.spi.Renewal;
import io.mortise.spi.SessionNotification;
import io.mortise.support.internal.session.NotificationBuffer;
import java.util.List;
import java.util.Map;
import java.util.concurrent.locks.ReentrantLock;
import java.util.function.Predicate;

/**
 * Notifications to the session about its holds, once for all members. Thread-safe: its lock is the
 * innermost, under that of a stripe or of the renewals, and only {@link #renewed}'s predicate is
 * called under it.
 */
final class QuorumNotificationBuffer {
  private static final int REMEMBERED = 1_024;

  private final ReentrantLock guard = new ReentrantLock();
  private final NotificationBuffer buffer = new NotificationBuffer();

  /** Recently reported ends: several members report each. */
  private final Map<AttemptId, Boolean> told = new BoundedMap<>(REMEMBERED);

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

  /** A hold has ended: its notification of being wanted is dropped. */
  void forget(AttemptId ended) {
    guard.lock();
    try {
      buffer.forget(ended);
    } finally {
      guard.unlock();
    }
  }

  /** Removes acknowledged notifications; returns the attempts that are now known to be wanted. */
  List<AttemptId> acknowledge(List<Long> ids) {
    guard.lock();
    try {
      return buffer.acknowledge(ids).stream().map(SessionNotification::attempt).toList();
    } finally {
      guard.unlock();
    }
  }

  /** Whether any attempt's notification of being wanted is pending. */
  boolean isWaiting() {
    guard.lock();
    try {
      return buffer.hasStanding();
    } finally {
      guard.unlock();
    }
  }

  /**
   * The answer to a renewal, with the pending notifications.
   *
   * @param standing whether a member still reports that an attempt is wanted
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
