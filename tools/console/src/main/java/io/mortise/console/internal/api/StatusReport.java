package io.mortise.console.internal.api;

import io.mortise.admin.LockParticipant.ClientInfo;
import io.mortise.admin.StoreInfo;
import io.mortise.console.observer.Observer;
import io.mortise.console.observer.Outages;
import io.mortise.console.observer.SeenLock;
import io.mortise.console.observer.SeenSession;
import io.mortise.console.observer.Trouble;
import io.mortise.console.observer.WaitCycle;
import io.mortise.console.view.LockFormatter.Condition;
import io.mortise.console.view.OutputSanitizer;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/** Counts, alarms and cost: the frame of every page. */
final class StatusReport {
  private static final int GROUPS = 20;
  private static final int ALARMS = 20;

  private final Observer observer;
  private final Trouble.Finder finder;
  private final Instant now;
  private final Map<String, Integer> groups = new HashMap<>();
  private final List<Alarm> alarms = new ArrayList<>();
  private final Map<Trouble, Integer> troubles = new HashMap<>();
  private int locks;
  private int held;
  private int uncontended;
  private Duration longestWait = Duration.ZERO;
  private Duration longestHold = Duration.ZERO;

  private StatusReport(Observer observer) {
    this.observer = observer;
    this.finder = new Trouble.Finder(observer);
    this.now = observer.now();
  }

  /** An alarm, visible on every page. */
  record Alarm(String kind, List<String> locks, List<String> sessions, @Nullable Instant since) {
    Map<String, @Nullable Object> json() {
      Map<String, @Nullable Object> json = new LinkedHashMap<>();
      json.put("kind", kind);
      json.put("locks", locks);
      json.put("sessions", sessions);
      json.put("sinceAt", JsonParts.at(since));
      return json;
    }
  }

  static Map<String, @Nullable Object> json(
      Observer observer, StoreInfo store, @Nullable String mode, Set<String> allowed) {
    StatusReport report = new StatusReport(observer);
    for (WaitCycle cycle : observer.cycles()) {
      report.alarms.add(new Alarm("cycle", cycle.locks(), cycle.sessions(), cycle.since()));
    }
    observer.locks().forEach(report::count);
    return report.json(store, mode, allowed);
  }

  private void count(SeenLock lock) {
    Condition condition = finder.condition(lock);
    Set<Trouble> found = finder.of(lock);
    locks++;
    held += condition == Condition.HELD ? 1 : 0;
    uncontended += condition == Condition.HELD && !lock.isWaited() ? 1 : 0;
    found.forEach(trouble -> troubles.merge(trouble, 1, Integer::sum));
    groups.merge(SeenLock.group(lock.name()), 1, Integer::sum);
    Duration waited = lock.waitedAt(now);
    if (waited != null && waited.compareTo(longestWait) > 0) {
      longestWait = waited;
    }
    Duration since = lock.heldAt(now);
    if (condition == Condition.HELD && since.compareTo(longestHold) > 0) {
      longestHold = since;
    }
    if (found.contains(Trouble.GONE)) {
      alarm("gone", lock);
    } else if (found.contains(Trouble.LONG) && lock.isWaited()) {
      alarm("long", lock);
    }
  }

  private void alarm(String kind, SeenLock lock) {
    String attempt = lock.firstAttempt();
    if (alarms.size() < ALARMS) {
      alarms.add(
          new Alarm(
              kind,
              List.of(lock.name()),
              attempt == null ? List.of() : List.of(SeenLock.session(attempt)),
              lock.heldFor().isZero() ? null : lock.at().minus(lock.heldFor())));
    }
  }

  private Map<String, @Nullable Object> json(
      StoreInfo store, @Nullable String mode, Set<String> allowed) {
    Map<String, @Nullable Object> json = new LinkedHashMap<>();
    json.put("nowAt", JsonParts.at(observer.now()));
    json.put("startedAt", JsonParts.at(observer.started()));
    json.put("watchedSinceAt", JsonParts.at(observer.watchedSince()));
    json.put("store", OutputSanitizer.hide(store.display()));
    json.put("features", words(store.features()));
    json.put("mode", mode);
    json.put("allowed", allowed.stream().sorted().toList());
    Outages.Outage outage = observer.outage();
    json.put(
        "outage",
        outage == null
            ? null
            : Map.of("sinceAt", outage.since().toEpochMilli(), "message", outage.message()));
    json.put("survey", survey());
    json.put(
        "budget",
        Map.of(
            "share",
            observer.share(),
            "used",
            rounded(observer.cost().share()),
            "putOffMillis",
            observer.cost().putOff().toMillis()));
    json.put("counts", counts());
    json.put("longestWaitMillis", longestWait.toMillis());
    json.put("longestHoldMillis", longestHold.toMillis());
    json.put("groups", largestGroups());
    json.put("alarms", alarms.stream().map(Alarm::json).toList());
    json.put("events", EventList.summary(observer));
    return json;
  }

  private Map<String, @Nullable Object> survey() {
    Observer.Survey last = observer.survey();
    Map<String, @Nullable Object> survey = new LinkedHashMap<>();
    survey.put("asOfAt", JsonParts.at(last.asOf()));
    survey.put("tookMillis", last.asOf() == null ? null : last.took().toMillis());
    survey.put("everyMillis", observer.pause().toMillis());
    survey.put("complete", last.complete());
    return survey;
  }

  private Map<String, @Nullable Object> counts() {
    Map<String, @Nullable Object> counts = new LinkedHashMap<>();
    counts.put("locks", locks);
    counts.put("held", held);
    counts.put("waited", troubles.getOrDefault(Trouble.WAITED, 0));
    counts.put("gone", troubles.getOrDefault(Trouble.GONE, 0));
    counts.put("shut", troubles.getOrDefault(Trouble.SHUT, 0));
    counts.put("long", troubles.getOrDefault(Trouble.LONG, 0));
    counts.put("uncontended", uncontended);
    List<SeenSession> live =
        observer.sessions().stream().filter(session -> !session.over()).toList();
    counts.put("processes", live.stream().map(StatusReport::process).distinct().count());
    counts.put("sessions", live.size());
    counts.put("cycles", observer.cycles().size());
    return counts;
  }

  /** The process of a session, which may have several, one for each client. */
  private static String process(SeenSession session) {
    ClientInfo client = session.client();
    return client == null || client.pid() == 0
        ? session.session()
        : client.host() + ":" + client.pid();
  }

  private List<Map<String, Object>> largestGroups() {
    return groups.entrySet().stream()
        .sorted(
            Map.Entry.<String, Integer>comparingByValue(Comparator.reverseOrder())
                .thenComparing(Map.Entry.comparingByKey()))
        .limit(GROUPS)
        .map(group -> Map.<String, Object>of("prefix", group.getKey(), "locks", group.getValue()))
        .toList();
  }

  private static double rounded(double share) {
    return Math.round(share * 1e5) / 1e5;
  }

  private static List<String> words(Set<? extends Enum<?>> values) {
    return values.stream().sorted().map(value -> value.name().toLowerCase(Locale.ROOT)).toList();
  }

  /** The description of a session, shared by several answers. */
  static Map<String, @Nullable Object> node(Observer observer, String session) {
    SeenSession seen = observer.session(session);
    Map<String, @Nullable Object> node = new LinkedHashMap<>();
    node.put("session", session);
    JsonParts.putClient(node, seen == null ? null : seen.client());
    node.put("gone", seen != null && seen.over());
    return node;
  }
}
