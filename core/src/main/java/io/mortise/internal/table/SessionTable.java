package io.mortise.internal.table;

import io.mortise.spi.AttemptId;
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
import java.util.stream.Stream;
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

    /** What has ended is told before all else: the session must not be extended before that. */
    final Map<Long, News> gone = new LinkedHashMap<>();

    final Map<Long, News> news = new LinkedHashMap<>();

    /** Ids of news about holds that stand. */
    final Map<AttemptId, List<Long>> about = new HashMap<>();

    long beat;
    long expiresAt;
    long nextNews = 1;
    boolean connected = true;

    Session(ClientLabel client) {
      this.client = client;
    }
  }

  Renewal renew(
      SessionSpec spec, long previous, long next, List<Long> seen, Duration ttl, long now) {
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
    session.expiresAt = now + LockRecord.micros(ttl);
    session.gone.keySet().removeAll(seen);
    session.news.keySet().removeAll(seen);
    Stream<Map.Entry<Long, News>> told =
        Stream.concat(session.gone.entrySet().stream(), session.news.entrySet().stream());
    if (!rules.tellsGoneFirst()) {
      told = told.sorted(Map.Entry.comparingByKey());
    }
    List<Renewal.Item> news =
        told.limit(rules.steps())
            .map(item -> new Renewal.Item(item.getKey(), item.getValue()))
            .toList();
    boolean more = session.gone.size() + session.news.size() > news.size();
    return new Renewal.Renewed(now, news, more);
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

  void connected(SessionId id, boolean connected) {
    Session session = sessions.get(id);
    if (session != null) {
      session.connected = connected;
    }
  }

  /** Whether the process behind a live session can be told of a grant at once. */
  boolean isConnected(SessionId id) {
    Session session = sessions.get(id);
    return session == null || session.connected;
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
      long number = session.nextNews++;
      if (news instanceof News.Gone) {
        session.gone.put(number, news);
      } else {
        session.news.put(number, news);
        session.about.computeIfAbsent(news.attempt(), unused -> new ArrayList<>(1)).add(number);
      }
      hints.add(new Hint(id, news));
    }
  }

  /** A hold has ended: that it was granted, or wanted, is no news any more. */
  void forget(AttemptId ended) {
    Session session = sessions.get(ended.session());
    List<Long> told = session == null ? null : session.about.remove(ended);
    if (session != null && told != null && rules.forgetsNewsOfEnded()) {
      session.news.keySet().removeAll(told);
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
