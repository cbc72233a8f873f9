package io.mortise.zookeeper.internal;

import io.mortise.spi.AttemptId;
import io.mortise.spi.Renewal;
import io.mortise.spi.SessionNotification;
import java.util.ArrayList;
import java.util.Iterator;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;

/**
 * News of a session until it is acknowledged. It came by watch events, which are not lost while the
 * session lives: after a new connection, what may have been missed is looked up. Guarded by its
 * session.
 */
public final class NotificationBuffer {
  private static final int MOST = 64;

  private final Map<Long, SessionNotification> holdEnded = new LinkedHashMap<>();
  private final Map<Long, SessionNotification> rest = new LinkedHashMap<>();
  private long next = 1;

  /** What one renewal tells. */
  public record NotificationBatch(List<Renewal.NumberedNotification> items, boolean more) {}

  /** To be told with the next renewal. */
  public void add(SessionNotification sessionNotification) {
    (sessionNotification instanceof SessionNotification.HoldEnded ? holdEnded : rest)
        .put(next++, sessionNotification);
  }

  /** A hold has ended: that it was granted, or wanted, is no news any more. */
  public void forget(AttemptId ended) {
    if (!rest.isEmpty()) {
      rest.values().removeIf(sessionNotification -> sessionNotification.attempt().equals(ended));
    }
  }

  /** These need not be told again. */
  public void seen(List<Long> ids) {
    if (!ids.isEmpty()) {
      holdEnded.keySet().removeAll(ids);
      rest.keySet().removeAll(ids);
    }
  }

  /** First what has gone. */
  public NotificationBatch tell() {
    List<Renewal.NumberedNotification> items = new ArrayList<>();
    take(holdEnded, items);
    take(rest, items);
    return new NotificationBatch(items, holdEnded.size() + rest.size() > items.size());
  }

  private static void take(
      Map<Long, SessionNotification> from, List<Renewal.NumberedNotification> items) {
    Iterator<Map.Entry<Long, SessionNotification>> next = from.entrySet().iterator();
    while (items.size() < MOST && next.hasNext()) {
      Map.Entry<Long, SessionNotification> sessionNotification = next.next();
      items.add(
          new Renewal.NumberedNotification(
              sessionNotification.getKey(), sessionNotification.getValue()));
    }
  }
}
