package io.mortise.zookeeper;

import io.mortise.internal.queue.BoundedMap;
import io.mortise.spi.SessionId;
import io.mortise.spi.time.Ticker;
import io.mortise.zookeeper.internal.node.LockQueue.QueueNode;
import io.mortise.zookeeper.internal.node.MultiRead;
import io.mortise.zookeeper.internal.node.MultiRead.NodeContent;
import io.mortise.zookeeper.internal.node.NodeData;
import io.mortise.zookeeper.internal.node.NodeData.AttemptData;
import io.mortise.zookeeper.internal.node.NodeLayout;
import io.mortise.zookeeper.internal.queue.LockQueueState;
import java.time.Duration;
import java.util.Collection;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.OptionalInt;
import java.util.Set;
import java.util.function.BiConsumer;
import java.util.function.Function;
import org.apache.zookeeper.KeeperException.Code;
import org.apache.zookeeper.Op;
import org.apache.zookeeper.data.Stat;
import org.jspecify.annotations.Nullable;

/**
 * Ends sessions of other processes whose beats stand still, since the servers may keep them longer
 * than their TTL (invariants.md#zookeeper-silence). A waiter observes the session of the node that
 * it watches, those of the holders that it meets, and in a short queue all in front of it, which
 * may have died together. Guarded by its session.
 *
 * <p><b>The end</b> is the removal of the session's node, if it still has the version that was seen
 * for a TTL. From then on no renewal of that session succeeds, as its node is never made again. Its
 * attempts' nodes stay until the servers end the ZooKeeper session; each waiter that finds no
 * session's node passes them ({@link LockQueueState#onSessionEnded}). So nothing is written below a
 * lock's path, where a late request might meet another attempt's node.
 *
 * <p><b>Cost.</b> Once a wait lasts for a twelfth of the TTL, or half a second, it lists the queue,
 * and reads each session in front; then one read after each renewal of those.
 */
final class SilentSessions {
  /** Clock rates may differ by 500 ppm on each side. */
  private static final long RATES = 1_000;

  /** Checks in a TTL, which read nothing of sessions that are observed. */
  private static final int CHECKS = 12;

  private static final Duration MOST_PAUSE = Duration.ofMillis(500);

  /** The most queues that are listed by one check. */
  private static final int MOST_LISTS = 64;

  /** What a check may take of the session's time grows with the locks that it waits for. */
  private static final Duration FOR_EACH_FRONT = Duration.ofNanos(5_000);

  private final SessionCore core;
  private final Ticker ticker;
  private final SessionEndListener listener;
  private final Function<String, @Nullable LockQueueState> queues;

  /** The nodes in front of our waiters, by the lock's path. */
  private final Map<String, Front> fronts = new HashMap<>();

  private final Map<SessionId, Observation> observations = new HashMap<>();

  /** Sessions whose nodes are gone, while others' nodes may outlive them. */
  private final Map<SessionId, Boolean> ended = new BoundedMap<>(256);

  private boolean isScheduled;

  /** Takes the nodes of an ended session that are in front of waiters. */
  @FunctionalInterface
  interface SessionEndListener {
    void ended(String lock, SessionId session, Set<Integer> seqs);
  }

  /** Nodes in front of our waiters for a lock, by their numbers. */
  private static final class Front {
    /** Those that the last look has read. */
    Map<Integer, AttemptData> heads = Map.of();

    /** Those that are watched, or were listed. */
    final Map<Integer, AttemptData> others = new HashMap<>();

    /** The last of our waiters at the last check, and when the queue was listed. */
    OptionalInt last = OptionalInt.empty();

    OptionalInt listedBefore = OptionalInt.empty();

    void forEach(BiConsumer<Integer, AttemptData> action) {
      heads.forEach(action);
      others.forEach(action);
    }
  }

  /**
   * A session's node, as it was read last.
   *
   * @param version its version; {@link #UNKNOWN} if this process may not read it
   * @param since the time at which this version was read first
   * @param isRead whether a watch reports the next change; otherwise the next check reads the node
   */
  private record Observation(int version, long since, boolean isRead) {
    static final int UNKNOWN = -1;

    Observation withRead(boolean now) {
      return new Observation(version, since, now);
    }
  }

  /**
   * Observes nothing yet.
   *
   * @param queues finds the queue at a lock's path
   */
  SilentSessions(
      SessionCore core,
      Ticker ticker,
      Function<String, @Nullable LockQueueState> queues,
      SessionEndListener listener) {
    this.core = core;
    this.ticker = ticker;
    this.listener = listener;
    this.queues = queues;
  }

  // ---- Nodes in front ----

  /** A node in front of a waiter was read, and is watched. */
  void watched(String lock, int seq, NodeContent node) {
    AttemptData attempt = ofOther(node);
    if (attempt != null && waits(lock)) {
      fronts.computeIfAbsent(lock, none -> new Front()).others.put(seq, attempt);
      observed(lock, List.of(attempt));
    }
  }

  /** Nodes were read: those of holders, of our own, and of ended sessions come first. */
  void looked(String lock, List<String> paths, List<NodeContent> nodes) {
    if (waits(lock)) {
      Map<Integer, AttemptData> heads = ofOthers(paths, nodes);
      fronts.computeIfAbsent(lock, none -> new Front()).heads = heads;
      observed(lock, heads.values());
    }
  }

  /** The attempts of other sessions; behind the first nodes, only those of ended sessions. */
  private Map<Integer, AttemptData> ofOthers(List<String> paths, List<NodeContent> nodes) {
    Map<Integer, AttemptData> found = new HashMap<>();
    for (int i = 0; i < nodes.size(); i++) {
      AttemptData attempt = ofOther(nodes.get(i));
      if (attempt != null
          && (i < LockQueueState.SHORT || ended.containsKey(attempt.attempt().session()))) {
        found.put(QueueNode.parse(NodeLayout.last(paths.get(i))).seq(), attempt);
      }
    }
    return found;
  }

  private boolean waits(String lock) {
    LockQueueState queue = queues.apply(lock);
    return queue != null && queue.hasWaiters();
  }

  private @Nullable AttemptData ofOther(NodeContent node) {
    AttemptData attempt = NodeData.attempt(node.data());
    return attempt == null || attempt.attempt().session().equals(core.id()) ? null : attempt;
  }

  private void observed(String lock, Collection<AttemptData> attempts) {
    Set<SessionId> over = new HashSet<>();
    for (AttemptData attempt : attempts) {
      SessionId session = attempt.attempt().session();
      if (ended.containsKey(session)) {
        over.add(session);
      } else if (!isScheduled) {
        isScheduled = true;
        checkAfter(interval(attempt.ttl()));
      }
    }
    over.forEach(session -> tell(lock, session));
  }

  // ---- Sessions ----

  /** How long a beat has to stand still before its session may be ended. */
  static Duration silence(Duration ttl) {
    return ttl.plus(ttl.dividedBy(RATES));
  }

  private static Duration interval(Duration ttl) {
    Duration part = ttl.dividedBy(CHECKS);
    return part.compareTo(MOST_PAUSE) < 0 ? part : MOST_PAUSE;
  }

  private void checkAfter(Duration time) {
    core.store().timer().in(time.toNanos(), () -> core.guard().run(this::check));
  }

  /** Ends sessions that stood still, and reads those that are not observed yet. */
  private void check() {
    fronts.keySet().removeIf(lock -> !waits(lock));
    listSome();
    Map<SessionId, Duration> sessions = new HashMap<>();
    for (Front front : fronts.values()) {
      front.forEach((seq, in) -> sessions.put(in.attempt().session(), in.ttl()));
    }
    sessions.keySet().removeAll(ended.keySet());
    observations.keySet().retainAll(sessions.keySet());
    if (fronts.isEmpty() || core.isOver()) {
      isScheduled = false;
      return;
    }
    sessions.forEach(this::check);
    Duration shortest =
        sessions.values().stream().min(Duration::compareTo).orElse(MOST_PAUSE.multipliedBy(CHECKS));
    checkAfter(interval(shortest).plus(FOR_EACH_FRONT.multipliedBy(fronts.size())));
  }

  /** Lists short queues, once for each of our waiters that has waited since the last check. */
  private void listSome() {
    int left = MOST_LISTS;
    for (Map.Entry<String, Front> each : fronts.entrySet()) {
      LockQueueState queue = queues.apply(each.getKey());
      Front front = each.getValue();
      OptionalInt last = queue == null ? OptionalInt.empty() : queue.lastWaiting();
      boolean waits = last.isPresent() && last.equals(front.last);
      front.last = last;
      if (left > 0 && waits && !last.equals(front.listedBefore)) {
        left--;
        front.listedBefore = last;
        list(each.getKey(), front, last.getAsInt());
      }
    }
  }

  private void list(String lock, Front front, int last) {
    core.nodes()
        .stat(
            lock,
            (code, stat) -> {
              if (stat == null) {
                front.listedBefore = OptionalInt.empty();
              } else if (stat.getNumChildren() <= LockQueueState.SHORT) {
                core.nodes()
                    .children(lock, null, (listed, nodes) -> read(lock, front, last, nodes));
              }
            });
  }

  private void read(String lock, Front front, int last, @Nullable List<String> nodes) {
    if (nodes == null || core.isOver()) {
      front.listedBefore = OptionalInt.empty();
      return;
    }
    List<String> paths =
        nodes.stream()
            .filter(node -> QueueNode.parse(node).weight() > 0)
            .filter(node -> QueueNode.parse(node).seq() - last < 0)
            .map(node -> lock + "/" + node)
            .toList();
    MultiRead.nodes(
        core.nodes().client(),
        paths,
        found -> core.guard().run(() -> listed(lock, front, paths, found)));
  }

  private void listed(
      String lock, Front front, List<String> paths, @Nullable List<NodeContent> found) {
    if (found == null) {
      front.listedBefore = OptionalInt.empty();
      return;
    }
    front.others.clear();
    front.others.putAll(ofOthers(paths, found));
    observed(lock, front.others.values());
  }

  private void check(SessionId session, Duration ttl) {
    Observation observation = observations.get(session);
    boolean isStill =
        observation != null && ticker.nanos() - observation.since() >= silence(ttl).toNanos();
    if (observation == null || !observation.isRead()) {
      read(session);
    } else if (isStill && observation.version() == Observation.UNKNOWN) {
      observations.remove(session);
    } else if (isStill) {
      end(session, observation.version());
    }
  }

  /** A node was written to or removed. */
  void changed(String path) {
    if (fronts.isEmpty()) {
      return;
    }
    SessionId session = core.layout().sessionAt(path);
    Front front = fronts.get(NodeLayout.parent(path));
    if (session != null && observations.containsKey(session)) {
      read(session);
    } else if (front != null) {
      front.others.remove(QueueNode.parse(NodeLayout.last(path)).seq());
    }
  }

  private void read(SessionId session) {
    core.nodes()
        .watch(
            core.layout().session(session),
            core.connection(),
            (code, stat) -> answered(session, code, stat));
  }

  private void answered(SessionId session, Code code, @Nullable Stat stat) {
    Observation before = observations.get(session);
    if (code == Code.NONODE) {
      over(session);
    } else if (stat != null) {
      observations.put(
          session,
          before != null && before.version() == stat.getVersion()
              ? before.withRead(true)
              : new Observation(stat.getVersion(), ticker.nanos(), true));
    } else if (code == Code.NOAUTH) {
      // Not tried again before another TTL.
      observations.put(session, new Observation(Observation.UNKNOWN, ticker.nanos(), true));
    } else if (before != null) {
      observations.put(session, before.withRead(false));
    }
  }

  /** A renewal since then has raised the version. Repeated until it is answered. */
  private void end(SessionId session, int version) {
    core.nodes()
        .multi(
            List.of(Op.delete(core.layout().session(session), version)),
            (code, results) -> {
              if (code == Code.OK || code == Code.NONODE) {
                over(session);
              } else if (code == Code.BADVERSION) {
                observations.remove(session);
              } else if (code == Code.NOAUTH) {
                // Not tried again before another TTL.
                observations.put(session, new Observation(version, ticker.nanos(), true));
              }
            });
  }

  private void over(SessionId session) {
    observations.remove(session);
    ended.put(session, true);
    List.copyOf(fronts.keySet()).forEach(lock -> tell(lock, session));
  }

  private void tell(String lock, SessionId session) {
    Front front = fronts.get(lock);
    if (front == null) {
      return;
    }
    Set<Integer> seqs = new HashSet<>();
    front.forEach(
        (seq, in) -> {
          if (in.attempt().session().equals(session)) {
            seqs.add(seq);
          }
        });
    // Each look reads those that are still there.
    front.others.keySet().removeAll(seqs);
    if (!seqs.isEmpty()) {
      listener.ended(lock, session, seqs);
    }
  }
}
