package io.mortise.console.view;

import io.mortise.admin.LockInfo;
import io.mortise.admin.LockParticipant;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Collection;
import java.util.Deque;
import java.util.HashMap;
import java.util.HashSet;
import java.util.LinkedHashMap;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Set;
import java.util.TreeMap;
import java.util.regex.Pattern;

/**
 * The graph of waits between sessions. A session stands for a process without distinguishing its
 * threads, so a cycle is a possible deadlock, and a session that waits for itself is none. A {@code
 * mortise run} inside the command of another one counts as that other: the outer one keeps its lock
 * until the inner one has ended. Parties of a barrier watch each other in a ring: those waits are
 * in no cycle.
 */
public final class WaitGraph {
  /** A session's hold of a lock, or its wait for one. */
  public record Link(String session, LockInfo lock, LockParticipant party) {}

  /** The lock of a party: {@code barrier/NAME/ID/GENERATION/INDEX}. */
  private static final Pattern PARTY =
      Pattern.compile("barrier/.+/[A-Za-z0-9_-]{12}/\\d+/\\d+", Pattern.DOTALL);

  private final NestedRuns nestedRuns;
  private final Map<String, List<Link>> holds = new LinkedHashMap<>();
  private final Map<String, List<Link>> waits = new LinkedHashMap<>();
  private final Map<String, Set<String>> blockers = new TreeMap<>();

  /** Builds the graph of locks that were inspected one after the other. */
  public WaitGraph(Collection<LockInfo> locks) {
    nestedRuns = new NestedRuns(locks);
    for (LockInfo lock : locks) {
      lock.holders().forEach(party -> add(holds, lock, party));
      lock.waiters().forEach(party -> add(waits, lock, party));
    }
    for (List<Link> links : waits.values()) {
      for (Link wait : links) {
        if (isOfBarrierParty(wait.lock().name())) {
          continue;
        }
        Set<String> own =
            blockers.computeIfAbsent(wait.session(), session -> new LinkedHashSet<>());
        wait.lock().holders().forEach(holder -> own.add(outermostSession(holder)));
        own.remove(wait.session());
      }
    }
  }

  /** The session of a party; for a nested {@code mortise run} that of the outermost one. */
  public String outermostSession(LockParticipant party) {
    return nestedRuns.outermostSession(party);
  }

  private void add(Map<String, List<Link>> links, LockInfo lock, LockParticipant party) {
    String session = outermostSession(party);
    links.computeIfAbsent(session, key -> new ArrayList<>()).add(new Link(session, lock, party));
  }

  /** Whether a lock only shows the presence of a barrier's party. */
  public static boolean isOfBarrierParty(String lock) {
    return PARTY.matcher(lock).matches();
  }

  /** The session's holds of locks with waiters. */
  public List<Link> waitedHolds(String session) {
    return holds.getOrDefault(session, List.of()).stream()
        .filter(hold -> !hold.lock().waiters().isEmpty())
        .toList();
  }

  /** The waits of a session. */
  public List<Link> waits(String session) {
    return waits.getOrDefault(session, List.of());
  }

  /** The waits for a lock, in their order. */
  public List<Link> waiters(LockInfo lock) {
    return lock.waiters().stream()
        .map(party -> new Link(outermostSession(party), lock, party))
        .toList();
  }

  /** Sessions that others wait for and that do not wait: the first suspects. */
  public List<String> roots() {
    return holds.keySet().stream()
        .filter(session -> !waitedHolds(session).isEmpty())
        .filter(session -> blockers.getOrDefault(session, Set.of()).isEmpty())
        .toList();
  }

  /** Sessions that wait for each other around a cycle; each such group once. */
  public List<List<String>> cycles() {
    return new Components().found();
  }

  /**
   * Strongly connected components of more than one session: Tarjan's algorithm, without recursion.
   */
  private final class Components {
    private final Map<String, Integer> index = new HashMap<>();
    private final Map<String, Integer> low = new HashMap<>();
    private final Deque<String> open = new ArrayDeque<>();
    private final Set<String> isOpen = new HashSet<>();
    private final List<List<String>> groups = new ArrayList<>();

    /** A session on the path, with its unvisited successors. */
    private record Visit(String session, Deque<String> ahead) {}

    List<List<String>> found() {
      blockers.keySet().stream().filter(session -> !index.containsKey(session)).forEach(this::walk);
      return groups;
    }

    private void walk(String start) {
      Deque<Visit> path = new ArrayDeque<>();
      path.push(enter(start));
      while (!path.isEmpty()) {
        Visit visit = path.peek();
        String next = visit.ahead().poll();
        if (next == null) {
          path.pop();
          leave(visit.session());
          if (!path.isEmpty()) {
            low.merge(path.peek().session(), low.get(visit.session()), Math::min);
          }
        } else if (!index.containsKey(next)) {
          path.push(enter(next));
        } else if (isOpen.contains(next)) {
          low.merge(visit.session(), index.get(next), Math::min);
        }
      }
    }

    private Visit enter(String session) {
      int number = index.size();
      index.put(session, number);
      low.put(session, number);
      open.push(session);
      isOpen.add(session);
      return new Visit(session, new ArrayDeque<>(blockers.getOrDefault(session, Set.of())));
    }

    private void leave(String session) {
      if (!Objects.equals(low.get(session), index.get(session))) {
        return;
      }
      List<String> group = new ArrayList<>();
      String last;
      do {
        last = open.pop();
        isOpen.remove(last);
        group.add(0, last);
      } while (!last.equals(session));
      if (group.size() > 1) {
        groups.add(group);
      }
    }
  }
}
