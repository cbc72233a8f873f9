package io.mortise.internal.table;

import io.mortise.internal.storekit.Refusals;
import io.mortise.spi.AttemptId;
import io.mortise.spi.ClientLabel;
import io.mortise.spi.Renewal;
import io.mortise.spi.SessionId;
import io.mortise.spi.SessionNotification;
import io.mortise.spi.SessionSpec;
import io.mortise.spi.SessionVerdict;
import java.time.Duration;
import java.time.temporal.ChronoUnit;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;

/** The sessions of a lock table, each with its news. Times are store microseconds. */
final class SessionTable {
  private final TableRules rules;
  private final Map<SessionId, SessionRecord> sessions = new HashMap<>();
  private List<PushedNotification> pushedNotifications = new ArrayList<>();

  SessionTable(TableRules rules) {
    this.rules = rules;
  }

  /** News to be pushed, if the store pushes. */
  record PushedNotification(SessionId session, SessionNotification notifications) {}

  private static final class SessionRecord {
    final ClientLabel client;

    /** What has ended is told before all else: the session must not be extended before that. */
    final Map<Long, SessionNotification> gone = new LinkedHashMap<>();

    final Map<Long, SessionNotification> notifications = new LinkedHashMap<>();

    /** Ids of news about holds that stand. */
    final Map<AttemptId, List<Long>> about = new HashMap<>();

    long beat;
    long expiresAt;
    long nextNews = 1;
    boolean connected = true;

    SessionRecord(ClientLabel client) {
      this.client = client;
    }
  }

  Renewal renew(
      SessionSpec spec, long previous, long next, List<Long> seen, Duration ttl, long now) {
    SessionRecord session = find(spec.id(), now);
    if (session == null) {
      if (previous != 0) {
        return Refusals.SESSION_EXPIRED;
      }
      session = new SessionRecord(spec.client());
      sessions.put(spec.id(), session);
    } else if (!rules.acceptsBeat(session.beat, previous, next)) {
      return Refusals.RENEWED_BY_ANOTHER;
    }
    session.beat = next;
    session.expiresAt = now + LockRecord.micros(ttl);
    session.gone.keySet().removeAll(seen);
    session.notifications.keySet().removeAll(seen);
    Stream<Map.Entry<Long, SessionNotification>> told =
        Stream.concat(session.gone.entrySet().stream(), session.notifications.entrySet().stream());
    if (!rules.deliversEndedHoldsFirst()) {
      told = told.sorted(Map.Entry.comparingByKey());
    }
    List<Renewal.NumberedNotification> notifications =
        told.limit(rules.steps())
            .map(item -> new Renewal.NumberedNotification(item.getKey(), item.getValue()))
            .toList();
    boolean more = session.gone.size() + session.notifications.size() > notifications.size();
    return new Renewal.Renewed(now, notifications, more);
  }

  SessionVerdict judge(SessionId id, long now) {
    SessionRecord session = find(id, now);
    return session == null
        ? new SessionVerdict.SessionEnded()
        : new SessionVerdict.Alive(session.beat, left(id, now));
  }

  void close(SessionId id) {
    sessions.remove(id);
  }

  boolean isLive(SessionId id, long now) {
    return find(id, now) != null;
  }

  void connected(SessionId id, boolean connected) {
    SessionRecord session = sessions.get(id);
    if (session != null) {
      session.connected = connected;
    }
  }

  /** Whether the process behind a live session can be told of a grant at once. */
  boolean isConnected(SessionId id) {
    SessionRecord session = sessions.get(id);
    return session == null || session.connected;
  }

  Duration left(SessionId id, long now) {
    SessionRecord session = find(id, now);
    return session == null
        ? Duration.ZERO
        : Duration.of(session.expiresAt - now, ChronoUnit.MICROS);
  }

  @Nullable ClientLabel client(SessionId id, long now) {
    SessionRecord session = find(id, now);
    return session == null ? null : session.client;
  }

  /** Keeps the news for a live session, and pushes it. */
  void tell(SessionNotification notifications, long now) {
    SessionId id = notifications.attempt().session();
    SessionRecord session = find(id, now);
    if (session != null) {
      long number = session.nextNews++;
      if (notifications instanceof SessionNotification.HoldEnded) {
        session.gone.put(number, notifications);
      } else {
        session.notifications.put(number, notifications);
        session
            .about
            .computeIfAbsent(notifications.attempt(), unused -> new ArrayList<>(1))
            .add(number);
      }
      pushedNotifications.add(new PushedNotification(id, notifications));
    }
  }

  /** A hold has ended: that it was granted, or wanted, is no news any more. */
  void forget(AttemptId ended) {
    SessionRecord session = sessions.get(ended.session());
    List<Long> told = session == null ? null : session.about.remove(ended);
    if (session != null && told != null && rules.forgetsNewsOfEnded()) {
      session.notifications.keySet().removeAll(told);
    }
  }

  List<PushedNotification> drainNotifications() {
    if (pushedNotifications.isEmpty()) {
      return List.of();
    }
    List<PushedNotification> drained = pushedNotifications;
    pushedNotifications = new ArrayList<>();
    return drained;
  }

  int sweep(int budget, long now) {
    List<SessionId> dead = new ArrayList<>();
    sessions.forEach(
        (id, session) -> {
          if (dead.size() < budget && rules.isExpired(session.expiresAt, now)) {
            dead.add(id);
          }
        });
    dead.forEach(sessions::remove);
    return dead.size();
  }

  private @Nullable SessionRecord find(SessionId id, long now) {
    SessionRecord session = sessions.get(id);
    if (session != null && rules.isExpired(session.expiresAt, now)) {
      sessions.remove(id);
      return null;
    }
    return session;
  }
}
