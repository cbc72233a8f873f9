package io.mortise.internal.table;

import io.mortise.spi.ClientLabel;
import io.mortise.spi.News;
import io.mortise.spi.Renewal;
import io.mortise.spi.SessionId;
import io.mortise.spi.SessionSpec;
import io.mortise.spi.Verdict;
import java.time.Duration;
import java.time.temporal.ChronoUnit;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/** The sessions of a lock table, each with its news. Times are store microseconds. */
final class SessionTable {
  private final TableRules rules;
  private final Map<SessionId, Session> sessions = new HashMap<>();
  private List<Hint> hints = new ArrayList<>();

  SessionTable(TableRules rules) {
    this.rules = rules;
  }

  /** News to be pushed, if the store pushes. */
  record Hint(SessionId session, News news) {}

  private static final class Session {
    final ClientLabel client;
    final Map<Long, News> news = new LinkedHashMap<>();
    long beat;
    long expiresAt;
    long nextNews = 1;

    Session(ClientLabel client) {
      this.client = client;
    }
  }

  Renewal renew(SessionSpec spec, long previous, long next, List<Long> seen, long now) {
    Session session = find(spec.id(), now);
    if (session == null) {
      if (previous != 0) {
        return new Renewal.Lost("the session expired in the store");
      }
      session = new Session(spec.client());
      sessions.put(spec.id(), session);
    } else if (!rules.acceptsBeat(session.beat, previous, next)) {
      return new Renewal.Lost("another process renews the same session");
    }
    session.beat = next;
    session.expiresAt = now + LockRecord.micros(spec.ttl());
    session.news.keySet().removeAll(seen);
    List<Renewal.Item> news = new ArrayList<>();
    for (Map.Entry<Long, News> item : session.news.entrySet()) {
      if (news.size() == rules.steps()) {
        break;
      }
      news.add(new Renewal.Item(item.getKey(), item.getValue()));
    }
    return new Renewal.Renewed(now, List.copyOf(news), session.news.size() > news.size());
  }

  Verdict judge(SessionId id, long now) {
    Session session = find(id, now);
    return session == null
        ? new Verdict.SessionEnded()
        : new Verdict.Alive(session.beat, left(id, now));
  }

  void close(SessionId id) {
    sessions.remove(id);
  }

  boolean isLive(SessionId id, long now) {
    return find(id, now) != null;
  }

  Duration left(SessionId id, long now) {
    Session session = find(id, now);
    return session == null
        ? Duration.ZERO
        : Duration.of(session.expiresAt - now, ChronoUnit.MICROS);
  }

  @Nullable ClientLabel client(SessionId id, long now) {
    Session session = find(id, now);
    return session == null ? null : session.client;
  }

  /** Keeps the news for a live session, and pushes it. */
  void tell(News news, long now) {
    SessionId id = news.attempt().session();
    Session session = find(id, now);
    if (session != null) {
      session.news.put(session.nextNews++, news);
      hints.add(new Hint(id, news));
    }
  }

  List<Hint> drainHints() {
    if (hints.isEmpty()) {
      return List.of();
    }
    List<Hint> drained = hints;
    hints = new ArrayList<>();
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

  private @Nullable Session find(SessionId id, long now) {
    Session session = sessions.get(id);
    if (session != null && rules.isExpired(session.expiresAt, now)) {
      sessions.remove(id);
      return null;
    }
    return session;
  }
}
