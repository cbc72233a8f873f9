package io.mortise.console.internal.api;

import io.mortise.admin.EndedHold;
import io.mortise.admin.LockInfo;
import io.mortise.admin.LockParticipant;
import io.mortise.console.observer.Observer;
import io.mortise.console.observer.SeenLock;
import io.mortise.console.observer.SeenSession;
import io.mortise.console.observer.Trouble;
import io.mortise.console.view.LockFormatter;
import io.mortise.console.view.WaitGraph;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.HashSet;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/** All details of one lock. */
final class LockDetail {
  private static final int EVENTS = 50;

  /** The most waiters in an answer, as many as the page shows; the count includes the others. */
  private static final int WAITERS = 100;

  private LockDetail() {}

  static Map<String, @Nullable Object> json(Observer observer, SeenLock seen) {
    Map<String, @Nullable Object> json = new LinkedHashMap<>();
    json.put("asOfAt", JsonParts.at(seen.at()));
    json.put("trouble", Trouble.words(new Trouble.Finder(observer).of(seen)));
    json.put("usualMillis", JsonParts.millis(observer.usual(seen.name())));
    json.put("lock", lock(observer, seen));
    putChain(json, observer, seen);
    json.put(
        "events",
        observer.events().latest(event -> seen.name().equals(event.lock()), EVENTS).stream()
            .map(event -> EventList.json(observer, event))
            .toList());
    return json;
  }

  /**
   * The lock as in the command line's JSON, with names of processes that the store has forgotten.
   */
  private static Map<String, @Nullable Object> lock(Observer observer, SeenLock seen) {
    Map<String, @Nullable Object> lock = LockFormatter.json(seen.info());
    lock.put(
        "holders", seen.info().holders().stream().map(party -> party(observer, party)).toList());
    lock.put(
        "waiters",
        seen.info().waiters().stream()
            .limit(WAITERS)
            .map(party -> party(observer, party))
            .toList());
    EndedHold end = seen.info().lastEnd();
    if (end != null) {
      Map<String, @Nullable Object> told = LockFormatter.json(end);
      SeenSession session = observer.session(SeenLock.session(end.attempt()));
      JsonParts.putClient(told, session == null ? null : session.client());
      lock.put("lastEnd", told);
    }
    return lock;
  }

  static Map<String, @Nullable Object> party(Observer observer, LockParticipant party) {
    Map<String, @Nullable Object> json = LockFormatter.json(party);
    SeenSession session = observer.session(SeenLock.session(party.attempt()));
    if (session != null && party.client() == null) {
      JsonParts.putClient(json, session.client());
    }
    if (session != null && !session.ttl().isZero()) {
      json.put("ttlMillis", session.ttl().toMillis());
    }
    return json;
  }

  /** Adds the chain of waits, from the lock to the session that blocks all others. */
  private static void putChain(
      Map<String, @Nullable Object> json, Observer observer, SeenLock start) {
    Map<String, SeenLock> waitsFor = new HashMap<>();
    List<SeenLock> waited = observer.waited();
    List<LockInfo> looked = new ArrayList<>(waited.stream().map(SeenLock::info).toList());
    looked.add(start.info());
    WaitGraph graph = new WaitGraph(looked);
    for (SeenLock lock : waited) {
      if (WaitGraph.isOfBarrierParty(lock.name())) {
        continue;
      }
      lock.info()
          .waiters()
          .forEach(waiter -> waitsFor.putIfAbsent(graph.outermostSession(waiter), lock));
    }
    List<Map<String, @Nullable Object>> chain = new ArrayList<>();
    Set<String> sessions = new HashSet<>();
    boolean cycle = false;
    SeenLock lock = start;
    while (lock != null && lock.first() != null) {
      LockParticipant holder = lock.first();
      String session = graph.outermostSession(holder);
      if (!sessions.add(session)) {
        cycle = true;
        break;
      }
      Map<String, @Nullable Object> by = new LinkedHashMap<>();
      by.put("session", session);
      SeenSession known = observer.session(session);
      JsonParts.putClient(
          by, holder.client() == null && known != null ? known.client() : holder.client());
      Map<String, @Nullable Object> link = new LinkedHashMap<>();
      link.put("lock", lock.name());
      link.put("heldBy", by);
      Duration held = holder.since();
      link.put("heldMillis", held.isZero() ? null : held.toMillis());
      chain.add(link);
      SeenLock next = waitsFor.get(session);
      lock = next != null && next.name().equals(lock.name()) ? null : next;
    }
    json.put("chain", chain);
    json.put("cycle", cycle);
  }
}
