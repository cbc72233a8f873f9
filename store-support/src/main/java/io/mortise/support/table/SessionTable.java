package io.mortise.support.table;

import io.mortise.admin.Page;
import io.mortise.admin.SessionInfo;
import io.mortise.spi.AttemptId;
import io.mortise.spi.ClientLabel;
import io.mortise.spi.Renewal;
import io.mortise.spi.SessionId;
import io.mortise.spi.SessionNotification;
import io.mortise.spi.SessionSpec;
import io.mortise.spi.SessionVerdict;
import io.mortise.support.internal.session.NotificationBuffer;
import io.mortise.support.internal.session.Refusals;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/** The sessions of a lock table, each with its notifications. Times are store microseconds. */
public final class SessionTable implements LockStep.Liveness {
  private final TableRules rules;
  private final Map<SessionId, SessionDocument> sessions = new HashMap<>();
  private List<PushedNotification> pushedNotifications = new ArrayList<>();

  public SessionTable(TableRules rules) {
    this.rules = rules;
  }

  /** A notification to be pushed, if the store pushes. */
  public record PushedNotification(SessionId session, SessionNotification notification) {}

  public Renewal renew(
      SessionSpec spec, long previous, long next, List<Long> seen, Duration ttl, long now) {
    SessionDocument session = find(spec.id(), now);
    if (session == null) {
      if (previous != 0) {
        return Refusals.SESSION_EXPIRED;
      }
      session = new SessionDocument(spec.client(), new NotificationBuffer(), rules);
      session.ttl = LockRecord.micros(ttl);
      session.expiresAt = now + session.ttl;
      sessions.put(spec.id(), session);
    }
    return session.renew(previous, next, seen, ttl, now);
  }

  public SessionVerdict judge(SessionId id, long now) {
    SessionDocument session = find(id, now);
    return session == null ? new SessionVerdict.SessionEnded() : session.verdict(now);
  }

  public void close(SessionId id) {
    sessions.remove(id);
  }

  public void connected(SessionId id, boolean connected) {
    SessionDocument session = sessions.get(id);
    if (session != null) {
      session.connected = connected;
    }
  }

  @Override
  public boolean isConnected(SessionId id) {
    SessionDocument session = sessions.get(id);
    return session == null || session.connected;
  }

  @Override
  public long left(SessionId id, long now) {
    SessionDocument session = find(id, now);
    return session == null ? 0 : session.left(now);
  }

  @Override
  public @Nullable ClientLabel client(SessionId id, long now) {
    SessionDocument session = find(id, now);
    return session == null ? null : session.client;
  }

  @Override
  public Duration ttl(SessionId id) {
    SessionDocument session = sessions.get(id);
    return session == null ? Duration.ZERO : session.ttl();
  }

  /** A page of the known sessions, including expired ones not yet judged. */
  public Page<SessionInfo> page(@Nullable String cursor, int limit, long now) {
    List<SessionInfo> found =
        sessions.entrySet().stream()
            .filter(entry -> cursor == null || entry.getKey().value().compareTo(cursor) >= 0)
            .sorted(Map.Entry.comparingByKey())
            .limit(limit + 1L)
            .map(
                entry ->
                    new SessionInfo(
                        entry.getKey().value(),
                        entry.getValue().client.info(),
                        LockRecord.duration(entry.getValue().ttl),
                        LockRecord.duration(entry.getValue().left(now)),
                        null))
            .toList();
    return found.size() > limit
        ? new Page<>(found.subList(0, limit), found.get(limit).session())
        : new Page<>(found, null);
  }

  /** Keeps the notification for a live session, and pushes it. */
  public void tell(SessionNotification notification, long now) {
    SessionId id = notification.attempt().session();
    SessionDocument session = find(id, now);
    if (session != null) {
      session.notifications.add(notification);
      pushedNotifications.add(new PushedNotification(id, notification));
    }
  }

  /**
   * Drops notifications of a hold that has ended: its grant and its contention need not be
   * delivered any more.
   */
  public void forget(AttemptId ended) {
    SessionDocument session = sessions.get(ended.session());
    if (session != null) {
      session.notifications.forget(ended);
    }
  }

  public List<PushedNotification> drainNotifications() {
    if (pushedNotifications.isEmpty()) {
      return List.of();
    }
    List<PushedNotification> drained = pushedNotifications;
    pushedNotifications = new ArrayList<>();
    return drained;
  }

  public int sweep(int budget, long now) {
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

  private @Nullable SessionDocument find(SessionId id, long now) {
    SessionDocument session = sessions.get(id);
    if (session != null && rules.isExpired(session.expiresAt, now)) {
      sessions.remove(id);
      return null;
    }
    return session;
  }
}
