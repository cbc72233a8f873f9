package io.mortise.zookeeper;

import io.mortise.spi.SessionId;
import io.mortise.spi.time.Ticker;
import io.mortise.zookeeper.internal.node.LockQueue.QueueNode;
import io.mortise.zookeeper.internal.node.MultiRead.NodeContent;
import io.mortise.zookeeper.internal.node.NodeData;
import io.mortise.zookeeper.internal.node.NodeData.AttemptData;
import io.mortise.zookeeper.internal.node.NodeLayout;
import io.mortise.zookeeper.internal.queue.LockQueueState;
import java.time.Duration;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.function.Predicate;
import org.apache.zookeeper.KeeperException.Code;
import org.apache.zookeeper.Op;
import org.apache.zookeeper.data.Stat;
import org.jspecify.annotations.Nullable;

/**
 * Ends sessions of other processes whose beats stand still, since the servers may keep them longer
 * than their TTL (invariants.md#zookeeper-silence). A waiter observes the session of the node that
 * it watches, and those of the holders that it meets. Guarded by its session.
 *
 * <p><b>The end</b> is the removal of the session's node, if it still has the version that was seen
 * for a TTL. From then on no renewal of that session succeeds, as its node is never made again. Its
 * attempts' nodes stay until the servers end the ZooKeeper session; each waiter that finds no
 * session's node passes them ({@link LockQueueState#onSessionEnded}). So nothing is written below a
 * lock's path, where a late request might meet another attempt's node.
 *
 * <p><b>Cost.</b> Once a wait lasts for a twelfth of the TTL, or half a second, one read, and one
 * more after each renewal of the process in front.
 */
final class SilentSessions {
  /** Clock rates may differ by 500 ppm on each side. */
  private static final long RATES = 1_000;

  /** Checks in a TTL, which read nothing of sessions that are observed. */
  private static final int CHECKS = 12;

  private static final Duration MOST_PAUSE = Duration.ofMillis(500);

  private final SessionCore core;
  private final Ticker ticker;
  private final SessionEndListener listener;
  private final Predicate<String> isWaiting;

  /** The nodes in front of our waiters, by the lock's path. */
  private final Map<String, Front> fronts = new HashMap<>();

  private final Map<SessionId, Observation> observations = new HashMap<>();
  private boolean isScheduled;

  /** Takes the nodes of an ended session that are in front of waiters. */
  @FunctionalInterface
  interface SessionEndListener {
    void ended(String lock, SessionId session, Set<Integer> seqs);
  }

  /** Nodes with their numbers: those that are watched, and the holders of the last look. */
  private static final class Front {
    final Map<Integer, AttemptData> watched = new HashMap<>();
    Map<Integer, AttemptData> heads = Map.of();

    Map<Integer, AttemptData> all() {
      Map<Integer, AttemptData> all = new HashMap<>(heads);
      all.putAll(watched);
      return all;
    }
  }

  /**
   * What is known of a session.
   *
   * @param version of its node
   * @param since when that was read first; null while a request is in flight
   * @param isOver whether its node is gone
   */
  private record Observation(int version, @Nullable Long since, boolean isOver) {
    static final Observation ASKING = new Observation(-1, null, false);
    static final Observation OVER = new Observation(-1, null, true);
  }

  /**
   * Observes nothing yet.
   *
   * @param isWaiting whether the session waits for the lock of that path
   */
  SilentSessions(
      SessionCore core, Ticker ticker, SessionEndListener listener, Predicate<String> isWaiting) {
    this.core = core;
    this.ticker = ticker;
    this.listener = listener;
    this.isWaiting = isWaiting;
  }

  // ---- Nodes in front ----

  /** A node in front of a waiter was read, and is watched. */
  void watched(String lock, int seq, NodeContent node) {
    AttemptData attempt = ofOther(node);
    if (attempt != null && isWaiting.test(lock)) {
      fronts.computeIfAbsent(lock, none -> new Front()).watched.put(seq, attempt);
      observed(lock, attempt);
    }
  }

  /** Holders, and attempts of our own, were read. */
  void looked(String lock, List<String> paths, List<NodeContent> nodes) {
    if (!isWaiting.test(lock)) {
      return;
    }
    Map<Integer, AttemptData> heads = new HashMap<>();
    for (int i = 0; i < nodes.size(); i++) {
      AttemptData attempt = ofOther(nodes.get(i));
      if (attempt != null) {
        heads.put(QueueNode.parse(NodeLayout.last(paths.get(i))).seq(), attempt);
      }
    }
    fronts.computeIfAbsent(lock, none -> new Front()).heads = heads;
    Set.copyOf(heads.values()).forEach(attempt -> observed(lock, attempt));
  }

  /** A watched node was removed, or is watched no more. */
  void unwatched(String lock, int seq) {
    Front front = fronts.get(lock);
    if (front != null) {
      front.watched.remove(seq);
    }
  }

  private @Nullable AttemptData ofOther(NodeContent node) {
    AttemptData attempt = NodeData.attempt(node.data());
    return attempt == null || attempt.attempt().session().equals(core.id()) ? null : attempt;
  }

  private void observed(String lock, AttemptData attempt) {
    SessionId session = attempt.attempt().session();
    Observation observation = observations.get(session);
    if (observation != null && observation.isOver()) {
      tell(lock, session);
    } else if (!isScheduled) {
      isScheduled = true;
      checkAfter(interval(attempt.ttl()));
    }
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
    fronts.keySet().removeIf(lock -> !isWaiting.test(lock));
    Map<SessionId, Duration> sessions = new HashMap<>();
    for (Front front : fronts.values()) {
      front.all().values().forEach(in -> sessions.put(in.attempt().session(), in.ttl()));
    }
    observations.keySet().retainAll(sessions.keySet());
    if (sessions.isEmpty() || core.isOver()) {
      isScheduled = false;
      return;
    }
    sessions.forEach(this::check);
    Duration shortest = sessions.values().stream().min(Duration::compareTo).orElseThrow();
    checkAfter(interval(shortest));
  }

  private void check(SessionId session, Duration ttl) {
    Observation observation = observations.get(session);
    if (observation == null) {
      read(session);
    } else if (observation.since() != null
        && ticker.nanos() - observation.since() >= silence(ttl).toNanos()) {
      end(session, observation.version());
    }
  }

  /** The node of a session was written to or removed. */
  void changed(String path) {
    SessionId session = observations.isEmpty() ? null : core.layout().sessionAt(path);
    if (session != null && observations.containsKey(session)) {
      read(session);
    }
  }

  private void read(SessionId session) {
    observations.putIfAbsent(session, Observation.ASKING);
    core.nodes()
        .watch(
            core.layout().session(session),
            core.connection(),
            (code, stat) -> answered(session, code, stat));
  }

  private void answered(SessionId session, Code code, @Nullable Stat stat) {
    Observation before = observations.get(session);
    if (before == null || before.isOver()) {
      return;
    }
    if (code == Code.NONODE) {
      over(session);
    } else if (stat == null) {
      observations.remove(session, Observation.ASKING);
    } else if (before.version() != stat.getVersion()) {
      observations.put(session, new Observation(stat.getVersion(), ticker.nanos(), false));
    }
  }

  /** A renewal since then has raised the version. */
  private void end(SessionId session, int version) {
    observations.put(session, new Observation(version, null, false));
    core.nodes()
        .multi(
            List.of(Op.delete(core.layout().session(session), version)),
            (code, results) -> {
              if (code == Code.OK || code == Code.NONODE) {
                over(session);
              } else if (code == Code.BADVERSION || code == Code.CONNECTIONLOSS) {
                observations.remove(session);
              } else {
                // We may not remove it: not tried again before another TTL.
                observations.put(session, new Observation(version, ticker.nanos(), false));
              }
            });
  }

  private void over(SessionId session) {
    observations.put(session, Observation.OVER);
    List.copyOf(fronts.keySet()).forEach(lock -> tell(lock, session));
  }

  private void tell(String lock, SessionId session) {
    Front front = fronts.get(lock);
    Set<Integer> seqs = new HashSet<>();
    if (front != null) {
      front
          .all()
          .forEach(
              (seq, in) -> {
                if (in.attempt().session().equals(session)) {
                  seqs.add(seq);
                }
              });
    }
    if (!seqs.isEmpty()) {
      listener.ended(lock, session, seqs);
    }
  }
}
