package io.mortise.support.internal.session;

import io.mortise.spi.AttemptId;
import io.mortise.spi.Renewal;
import io.mortise.spi.SessionNotification;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.Iterator;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.function.Predicate;

/**
 * The notifications of one session, kept until they are acknowledged. Each has a number, which is
 * never used again; each renewal repeats the oldest of them. Ended holds go before all else: the
 * session must not be extended by an answer that leaves one out.
 *
 * <p>Not thread-safe: all methods need the lock that guards the session. They call only the given
 * predicate, and do no I/O.
 */
public final class NotificationBuffer {
  /** The maximum number delivered by one renewal. */
  private static final int STEPS = 64;

  private final Map<Long, SessionNotification> ended = new LinkedHashMap<>();

  /** The notifications about attempts that hold or wait. */
  private final Map<Long, SessionNotification> standing = new LinkedHashMap<>();

  /** The numbers of those by attempt, so that a release need not scan all of them. */
  private final Map<AttemptId, List<Long>> byAttempt = new HashMap<>();

  private long next = 1;

  /** An empty buffer. */
  public NotificationBuffer() {}

  /**
   * A restored buffer.
   *
   * @param kept its notifications, as {@link #renewed(long, int)} returns all of them
   * @param next its {@link #next()}
   */
  public NotificationBuffer(List<Renewal.NumberedNotification> kept, long next) {
    kept.forEach(item -> put(item.id(), item.notification()));
    this.next = next;
  }

  /** The number of the next notification. */
  public long next() {
    return next;
  }

  /** Adds a notification, delivered from the next renewal on. */
  public void add(SessionNotification notification) {
    put(next++, notification);
  }

  private void put(long id, SessionNotification notification) {
    if (notification instanceof SessionNotification.HoldEnded) {
      ended.put(id, notification);
    } else {
      standing.put(id, notification);
      byAttempt.computeIfAbsent(notification.attempt(), unused -> new ArrayList<>(1)).add(id);
    }
  }

  /** Drops the notifications of an ended hold: its grant and contenders are of no interest. */
  public void forget(AttemptId attempt) {
    List<Long> ids = byAttempt.remove(attempt);
    if (ids != null) {
      standing.keySet().removeAll(ids);
    }
  }

  /** Keeps those about holding or waiting attempts only if the predicate accepts the attempt. */
  public void retain(Predicate<AttemptId> attempts) {
    List.copyOf(byAttempt.keySet()).stream().filter(attempts.negate()).forEach(this::forget);
  }

  /**
   * Drops acknowledged notifications.
   *
   * @return the dropped ones about attempts that hold or wait
   */
  public List<SessionNotification> acknowledge(List<Long> ids) {
    List<SessionNotification> known = new ArrayList<>(0);
    for (Long id : ids) {
      SessionNotification notification = standing.remove(id);
      if (notification == null) {
        ended.remove(id);
      } else {
        known.add(notification);
        List<Long> others = byAttempt.get(notification.attempt());
        if (others != null && others.remove(id) && others.isEmpty()) {
          byAttempt.remove(notification.attempt());
        }
      }
    }
    return known;
  }

  /** Whether there is one about an attempt that holds or waits. */
  public boolean hasStanding() {
    return !standing.isEmpty();
  }

  /** The answer to a renewal, with the oldest of the notifications. */
  public Renewal.Renewed renewed(long storeMicros) {
    return renewed(storeMicros, STEPS);
  }

  /** The answer to a renewal, with at most this number of the oldest notifications. */
  public Renewal.Renewed renewed(long storeMicros, int most) {
    List<Renewal.NumberedNotification> items = new ArrayList<>(0);
    take(ended, items, most);
    take(standing, items, most);
    boolean more = ended.size() + standing.size() > items.size();
    return new Renewal.Renewed(storeMicros, List.copyOf(items), more, "");
  }

  private static void take(
      Map<Long, SessionNotification> from, List<Renewal.NumberedNotification> items, int most) {
    Iterator<Map.Entry<Long, SessionNotification>> oldest = from.entrySet().iterator();
    while (items.size() < most && oldest.hasNext()) {
      Map.Entry<Long, SessionNotification> entry = oldest.next();
      items.add(new Renewal.NumberedNotification(entry.getKey(), entry.getValue()));
    }
  }
}
