package io.mortise.console.internal.api;

import io.mortise.console.internal.http.RefusedException;
import io.mortise.console.observer.EventRing;
import io.mortise.console.observer.ObservedEvent;
import io.mortise.console.observer.ObservedKind;
import io.mortise.console.observer.Observer;
import io.mortise.console.observer.SeenLock;
import io.mortise.console.observer.SeenSession;
import io.mortise.console.view.LockFormatter;
import java.util.Collection;
import java.util.Comparator;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.PriorityQueue;
import java.util.function.Predicate;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;

/** Events of all locks, or of one. */
final class EventList {
  private static final int MOST = 1000;
  private static final int USUAL = 200;

  private static final List<String> KINDS =
      Stream.of(ObservedKind.values()).map(ObservedKind::toString).toList();

  private EventList() {}

  static Map<String, @Nullable Object> json(
      Observer observer, Parameters parameters, @Nullable String name) {
    String lock = name == null ? parameters.text("lock") : name;
    String process = parameters.text("process");
    List<String> kinds =
        parameters.text("kind").isEmpty()
            ? List.of()
            : List.of(parameters.text("kind").split(",", -1));
    kinds.stream()
        .filter(kind -> !KINDS.contains(kind))
        .findFirst()
        .ifPresent(
            kind -> {
              throw RefusedException.badRequest(
                  "'kind' has to be any of " + String.join(", ", KINDS) + ".");
            });
    Predicate<ObservedEvent> wanted =
        event ->
            (lock.isEmpty() || lock.equals(event.lock()))
                && (process.isEmpty() || process.equals(event.session()))
                && (kinds.isEmpty() || kinds.contains(event.kind().toString()));
    int limit = (int) parameters.number("limit", USUAL, 1, MOST);
    EventRing ring = observer.events();
    List<ObservedEvent> events =
        parameters.text("since").isEmpty()
            ? ring.latest(wanted, limit)
            : ring.after(parameters.number("since", 0, 0, Long.MAX_VALUE), wanted, limit);
    Map<String, @Nullable Object> json = summary(observer);
    json.put("events", events.stream().map(event -> json(observer, event)).toList());
    json.put("holds", kinds.isEmpty() ? olderHolds(observer, lock, process) : List.of());
    return json;
  }

  /** Present holds older than the console, the longest first: no event shows them. */
  private static List<Map<String, @Nullable Object>> olderHolds(
      Observer observer, String name, String process) {
    Comparator<SeenLock> longestFirst = Comparator.comparing(SeenLock::heldFor).reversed();
    PriorityQueue<SeenLock> longest = new PriorityQueue<>(longestFirst.reversed());
    for (SeenLock lock : candidates(observer, name)) {
      if (isOlder(observer, lock) && isOf(process, lock)) {
        LockList.add(longest, lock, longestFirst, USUAL);
      }
    }
    return longest.stream().sorted(longestFirst).map(lock -> olderHold(observer, lock)).toList();
  }

  private static Collection<SeenLock> candidates(Observer observer, String name) {
    if (name.isEmpty()) {
      return observer.locks();
    }
    SeenLock lock = observer.lock(name);
    return lock == null ? List.of() : List.of(lock);
  }

  private static boolean isOlder(Observer observer, SeenLock lock) {
    return !lock.heldFor().isZero() && lock.at().minus(lock.heldFor()).isBefore(observer.started());
  }

  private static boolean isOf(String process, SeenLock lock) {
    String attempt = lock.firstAttempt();
    return process.isEmpty() || (attempt != null && process.equals(SeenLock.session(attempt)));
  }

  private static Map<String, @Nullable Object> olderHold(Observer observer, SeenLock lock) {
    Map<String, @Nullable Object> hold = new LinkedHashMap<>();
    hold.put("lock", lock.name());
    hold.put("sinceAt", JsonParts.at(lock.at().minus(lock.heldFor())));
    Map<String, @Nullable Object> first = LockList.first(observer, lock);
    if (first != null) {
      hold.putAll(first);
    }
    return hold;
  }

  /** The range of event numbers, and the gaps in observation. */
  static Map<String, @Nullable Object> summary(Observer observer) {
    Map<String, @Nullable Object> json = new LinkedHashMap<>();
    json.put("first", observer.events().first());
    json.put("last", observer.events().last());
    json.put(
        "gaps",
        observer.gaps().stream()
            .map(
                gap -> Map.of("fromAt", gap.from().toEpochMilli(), "toAt", gap.to().toEpochMilli()))
            .toList());
    return json;
  }

  static Map<String, @Nullable Object> json(Observer observer, ObservedEvent event) {
    String session = event.session();
    SeenSession known =
        event.client() == null && session != null ? observer.session(session) : null;
    Map<String, @Nullable Object> json = new LinkedHashMap<>();
    json.put("seq", event.seq());
    json.put("at", JsonParts.at(event.at()));
    json.put("kind", event.kind().toString());
    json.put("lock", event.lock());
    json.put("session", event.session());
    JsonParts.putClient(json, known == null ? event.client() : known.client());
    json.put("label", event.label());
    json.put("attempt", event.attempt() == null ? null : LockFormatter.attempt(event.attempt()));
    json.put("token", LockFormatter.jsonToken(event.token()));
    json.put("heldMillis", JsonParts.millis(event.held()));
    json.put("doubtMillis", event.doubt().toMillis());
    json.put("text", event.text());
    return json;
  }
}
