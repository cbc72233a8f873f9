package io.mortise.console.internal.api;

import io.mortise.admin.LockParticipant;
import io.mortise.admin.LockParticipant.ClientInfo;
import io.mortise.console.internal.http.RefusedException;
import io.mortise.console.observer.Observer;
import io.mortise.console.observer.SeenLock;
import io.mortise.console.observer.SeenSession;
import io.mortise.console.view.LockFormatter;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/** Processes, with their holds and waits. */
final class ProcessList {
  private static final int MOST = 200;
  private static final int USUAL = 100;
  private static final int EVENTS = 50;

  private final Observer observer;
  private final Map<String, Integer> holds = new HashMap<>();
  private final Map<String, Integer> waits = new HashMap<>();

  private ProcessList(Observer observer) {
    this.observer = observer;
    for (SeenLock lock : observer.locks()) {
      String first = lock.firstAttempt();
      if (lock.full()) {
        lock.info().holders().forEach(party -> count(holds, party.attempt()));
        lock.info().waiters().forEach(party -> count(waits, party.attempt()));
      } else if (first != null) {
        count(holds, first);
      }
    }
  }

  private static void count(Map<String, Integer> counts, String attempt) {
    counts.merge(SeenLock.session(attempt), 1, Integer::sum);
  }

  static Map<String, @Nullable Object> json(Observer observer, Parameters parameters) {
    ProcessList list = new ProcessList(observer);
    String wanted = parameters.text("q").toLowerCase(Locale.ROOT);
    int from = (int) parameters.number("cursor", 0, 0, Integer.MAX_VALUE);
    int limit = (int) parameters.number("limit", USUAL, 1, MOST);
    List<SeenSession> found =
        observer.sessions().stream()
            .filter(session -> list.isShown(session) && matches(session, wanted))
            .sorted(list.order())
            .toList();
    int end = (int) Math.min((long) from + limit, found.size());
    Map<String, @Nullable Object> json = new LinkedHashMap<>();
    json.put("asOfAt", JsonParts.at(observer.sessionsAsOf()));
    json.put("total", found.size());
    json.put("next", end < found.size() ? Integer.toString(end) : null);
    json.put(
        "processes", found.subList(Math.min(from, end), end).stream().map(list::process).toList());
    return json;
  }

  /** Whether to show a session: not if it has ended and holds nothing. */
  private boolean isShown(SeenSession session) {
    return !session.over()
        || holds.containsKey(session.session())
        || waits.containsKey(session.session())
        || Duration.between(session.seen(), observer.now()).toMinutes() < 1;
  }

  private static boolean matches(SeenSession session, String wanted) {
    ClientInfo client = session.client();
    String text =
        client == null
            ? session.session()
            : client.host() + ":" + client.pid() + " " + client.name() + " " + session.session();
    return wanted.isEmpty() || text.toLowerCase(Locale.ROOT).contains(wanted);
  }

  private Comparator<SeenSession> order() {
    return Comparator.<SeenSession>comparingInt(
            session -> -waits.getOrDefault(session.session(), 0))
        .thenComparing(session -> -holds.getOrDefault(session.session(), 0))
        .thenComparing(session -> session.client() == null ? "" : session.client().host())
        .thenComparing(SeenSession::session);
  }

  private Map<String, @Nullable Object> process(SeenSession session) {
    Map<String, @Nullable Object> json = StatusReport.node(observer, session.session());
    json.put("ttlMillis", session.ttl().isZero() ? null : session.ttl().toMillis());
    json.put("leftMillis", session.left().toMillis());
    Duration renewedAgo = session.renewedAgo();
    json.put("renewedAgoMillis", renewedAgo == null ? null : renewedAgo.toMillis());
    json.put("holds", holds.getOrDefault(session.session(), 0));
    json.put("waits", waits.getOrDefault(session.session(), 0));
    json.put("seenAt", JsonParts.at(session.seen()));
    json.put("sinceAt", JsonParts.at(session.first()));
    return json;
  }

  static Map<String, @Nullable Object> json(Observer observer, String wanted) {
    SeenSession session = observer.session(wanted);
    if (session == null) {
      throw new RefusedException(
          404, "not-found", "The console has not seen this process, or long ago.", "");
    }
    List<Map<String, @Nullable Object>> holding = new ArrayList<>();
    List<Map<String, @Nullable Object>> waiting = new ArrayList<>();
    for (SeenLock lock : observer.locks()) {
      add(holding, lock, lock.info().holders(), wanted);
      add(waiting, lock, lock.info().waiters(), wanted);
      String first = lock.firstAttempt();
      if (!lock.full() && first != null && SeenLock.session(first).equals(wanted)) {
        holding.add(link(lock, first, lock.firstLabel(), null, null, lock.heldFor()));
      }
    }
    Map<String, @Nullable Object> json = new LinkedHashMap<>();
    json.put("asOfAt", JsonParts.at(observer.sessionsAsOf()));
    json.put("process", new ProcessList(observer).process(session));
    json.put("holds", holding);
    json.put("waits", waiting);
    json.put(
        "events",
        observer.events().latest(event -> wanted.equals(event.session()), EVENTS).stream()
            .map(event -> EventList.json(observer, event))
            .toList());
    return json;
  }

  private static void add(
      List<Map<String, @Nullable Object>> links,
      SeenLock lock,
      List<LockParticipant> parties,
      String session) {
    for (LockParticipant party : parties) {
      if (SeenLock.session(party.attempt()).equals(session)) {
        links.add(
            link(
                lock,
                party.attempt(),
                party.label(),
                party.share().toString(),
                LockFormatter.jsonToken(party.token()),
                party.since()));
      }
    }
  }

  private static Map<String, @Nullable Object> link(
      SeenLock lock,
      String attempt,
      String label,
      @Nullable String mode,
      @Nullable String token,
      Duration since) {
    Map<String, @Nullable Object> link = new LinkedHashMap<>();
    link.put("lock", lock.name());
    link.put("attempt", LockFormatter.attempt(attempt));
    link.put("label", label);
    link.put("mode", mode);
    link.put("token", token);
    link.put("sinceMillis", LockFormatter.jsonAge(since));
    link.put("asOfAt", JsonParts.at(lock.at()));
    return link;
  }
}
