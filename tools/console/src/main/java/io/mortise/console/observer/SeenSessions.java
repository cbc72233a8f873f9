package io.mortise.console.observer;

import io.mortise.admin.LockParticipant;
import io.mortise.admin.SessionInfo;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import org.jspecify.annotations.Nullable;

/** The observed processes. Remembers ended ones for a while, as a store may have forgotten them. */
final class SeenSessions {
  private static final Duration REMEMBERED = Duration.ofMinutes(10);

  private final Map<String, SeenSession> sessions = new ConcurrentHashMap<>();
  private volatile @Nullable Instant listed;

  /** The begin of the last full list, or else of this observation. */
  @Nullable Instant listedAt(@Nullable Instant otherwise) {
    Instant last = listed;
    return last == null ? otherwise : last;
  }

  /** Records a full list that began then. */
  void listed(Instant began) {
    listed = began;
  }

  @Nullable SeenSession get(String session) {
    return sessions.get(session);
  }

  List<SeenSession> all() {
    return List.copyOf(sessions.values());
  }

  /** Records a holder or waiter; returns news about its process. */
  List<ObservedEvent> saw(LockParticipant party, Instant at) {
    return saw(
        new SessionInfo(
            SeenLock.session(party.attempt()),
            party.client(),
            party.sessionTtl(),
            Objects.requireNonNullElse(party.sessionLeft(), party.sessionTtl()),
            party.renewedAgo()),
        at);
  }

  /** Records a process; returns news about it. */
  List<ObservedEvent> saw(SessionInfo listed, Instant at) {
    String session = listed.session();
    SeenSession before = sessions.get(session);
    boolean over = listed.left().isZero();
    SeenSession now =
        new SeenSession(
            session,
            listed.client() == null && before != null ? before.client() : listed.client(),
            listed.ttl().isZero() && before != null ? before.ttl() : listed.ttl(),
            listed.left(),
            listed.renewedAgo(),
            !over ? null : before != null && before.over() ? before.overSince() : at,
            before == null ? at : before.first(),
            at);
    sessions.put(session, now);
    List<ObservedEvent> events = new ArrayList<>();
    if (before == null && !over) {
      events.add(event(ObservedKind.SESSION_BEGAN, now, Duration.ZERO));
    } else if (before != null && over && !before.over()) {
      events.add(event(ObservedKind.SESSION_OVER, now, Duration.between(before.seen(), at)));
    }
    return events;
  }

  /** Sessions last seen alive. */
  Set<String> live() {
    Set<String> live = new HashSet<>();
    for (SeenSession session : all()) {
      if (!session.over()) {
        live.add(session.session());
      }
    }
    return live;
  }

  /** Records sessions missing from a full list as ended. */
  List<ObservedEvent> missed(Set<String> missing, Instant now) {
    List<ObservedEvent> events = new ArrayList<>();
    for (SeenSession session : all()) {
      if (missing.contains(session.session()) && !session.over()) {
        events.addAll(
            saw(
                new SessionInfo(
                    session.session(), session.client(), session.ttl(), Duration.ZERO, null),
                now));
      }
    }
    return events;
  }

  /** Forgets sessions not seen for long. */
  void forget(Instant now) {
    sessions
        .values()
        .removeIf(session -> Duration.between(session.seen(), now).compareTo(REMEMBERED) > 0);
  }

  private static ObservedEvent event(ObservedKind kind, SeenSession session, Duration doubt) {
    return new ObservedEvent(
        0,
        session.seen(),
        kind,
        null,
        session.session(),
        session.client(),
        "",
        null,
        0,
        null,
        doubt,
        null);
  }
}
