package io.mortise.console.internal.api;

import io.mortise.admin.LockParticipant;
import io.mortise.console.internal.observer.Observer;
import io.mortise.console.internal.observer.SeenLock;
import io.mortise.console.internal.observer.SeenSession;
import io.mortise.console.internal.view.LockFormatter;
import io.mortise.console.internal.view.WaitGraph;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.HashSet;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/** All that is known of one lock. */
final class LockDetail {
  private static final int EVENTS = 50;

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

  /** As the command line writes it, with the names of processes that the store has forgotten. */
  private static Map<String, @Nullable Object> lock(Observer observer, SeenLock seen) {
    Map<String, @Nullable Object> lock = LockFormatter.json(seen.info());
    lock.put(
        "holders", seen.info().holders().stream().map(party -> party(observer, party)).toList());
    lock.put(
        "waiters", seen.info().waiters().stream().map(party -> party(observer, party)).toList());
    return lock;
  }

  static Map<String, @Nullable Object> party(Observer observer, LockParticipant party) {
    Map<String, @Nullable Object> json = LockFormatter.json(party);
    SeenSession session = observer.session(SeenLock.session(party.attempt()));
    if (session != null && party.client() == null) {
      JsonParts.putClient(json, session.client());
    }
    json.put(
        "ttlMillis", session == null || session.ttl().isZero() ? null : session.ttl().toMillis());
    return json;
  }

  /** From the lock to the one at whose end everybody waits. */
  private static void putChain(
      Map<String, @Nullable Object> json, Observer observer, SeenLock start) {
    Map<String, SeenLock> waitsFor = new HashMap<>();
    for (SeenLock lock : observer.waited()) {
      if (WaitGraph.isOfBarrierParty(lock.name())) {
        continue;
      }
      lock.info()
          .waiters()
          .forEach(waiter -> waitsFor.putIfAbsent(SeenLock.session(waiter.attempt()), lock));
    }
    List<Map<String, @Nullable Object>> chain = new ArrayList<>();
    Set<String> sessions = new HashSet<>();
    boolean cycle = false;
    SeenLock lock = start;
    while (lock != null && lock.first() != null) {
      LockParticipant holder = lock.first();
      String session = SeenLock.session(holder.attempt());
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
