package io.mortise.zookeeper;

import io.mortise.spi.SessionId;
import io.mortise.spi.time.Ticker;
import io.mortise.support.liveness.BeatMonitor;
import io.mortise.zookeeper.internal.Countdown;
import io.mortise.zookeeper.internal.node.NodeData;
import io.mortise.zookeeper.internal.node.NodeData.AttemptData;
import io.mortise.zookeeper.internal.node.NodeLayout;
import java.time.Duration;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.function.Predicate;
import org.apache.zookeeper.KeeperException.Code;
import org.apache.zookeeper.Op;
import org.jspecify.annotations.Nullable;

/**
 * Ends sessions of other processes whose beats stand still, where the servers would keep them
 * longer than their TTL (invariants.md#zookeeper-silence). A waiter observes the session of the
 * node that it watches, and those of the holders that it meets. Guarded by its session.
 *
 * <p><b>The end</b> is the removal of the session's node, if it still has the version that was seen
 * for a TTL. From then on no renewal of that session succeeds, as its node is never made again. So
 * its attempts' nodes can be removed without further conditions, by any observer.
 *
 * <p><b>Cost.</b> Eight times in a TTL, one small read for each process in front. Nothing is read
 * unless a waiter waits for that long.
 */
final class CrashDetector {
  /** How often a session is read in its TTL, which bounds the delay of its end. */
  private static final int LOOKS = 8;

  /** Nodes of holders are not watched, and may be here after their end. */
  private static final int MOST = 256;

  private final SessionCore core;
  private final Predicate<String> isWaiting;
  private final BeatMonitor<SessionId> beats;
  private boolean isScheduled;
  private Duration pause = Duration.ZERO;

  /** Nodes in front of waiters, by their paths. */
  private final Map<String, AttemptData> nodes =
      new LinkedHashMap<>() {
        private static final long serialVersionUID = 1;

        @Override
        protected boolean removeEldestEntry(Map.Entry<String, AttemptData> eldest) {
          return size() > MOST;
        }
      };

  /**
   * Observes nothing yet.
   *
   * @param isWaiting whether the session waits for the lock of that path
   */
  CrashDetector(SessionCore core, Ticker ticker, Predicate<String> isWaiting) {
    this.core = core;
    this.isWaiting = isWaiting;
    this.beats = new BeatMonitor<>(ticker);
  }

  /** A node in front of a waiter was read. */
  void observe(String node, byte @Nullable [] data) {
    AttemptData attempt = NodeData.attempt(data);
    if (attempt == null
        || attempt.attempt().session().equals(core.id())
        || !core.store().resources().limits().outlive(attempt.ttl())) {
      return;
    }
    nodes.put(node, attempt);
    if (!isScheduled) {
      isScheduled = true;
      lookAfter(interval(attempt));
    }
  }

  /** A watched node was removed. */
  void removed(String node) {
    nodes.remove(node);
  }

  private static Duration interval(AttemptData attempt) {
    return attempt.ttl().dividedBy(LOOKS);
  }

  private void lookAfter(Duration time) {
    core.store().timer().in(time.toNanos(), () -> core.guard().run(this::look));
  }

  private void look() {
    nodes.keySet().removeIf(node -> !isWaiting.test(NodeLayout.parent(node)));
    if (nodes.isEmpty() || core.isOver()) {
      isScheduled = false;
      return;
    }
    Map<SessionId, Duration> sessions = new HashMap<>();
    pause = Duration.ofDays(1);
    for (AttemptData attempt : nodes.values()) {
      sessions.put(attempt.attempt().session(), attempt.ttl());
      lookAgainIn(interval(attempt));
    }
    Countdown unread = new Countdown(sessions.size(), () -> lookAfter(pause));
    sessions.forEach((session, ttl) -> read(session, ttl, unread));
  }

  private void lookAgainIn(Duration time) {
    pause = time.compareTo(pause) < 0 ? time : pause;
  }

  private void read(SessionId session, Duration ttl, Countdown unread) {
    String path = core.layout().session(session);
    core.nodes()
        .stat(
            path,
            (code, stat) -> {
              if (stat != null) {
                Duration left = beats.left(session, stat.getVersion(), ttl);
                if (left.isZero()) {
                  end(session, path, stat.getVersion());
                } else {
                  lookAgainIn(left);
                }
              } else if (code == Code.NONODE) {
                removeNodes(session);
              }
              unread.less();
            });
  }

  /** A renewal since then has raised the version, and the session is observed anew. */
  private void end(SessionId session, String path, int version) {
    core.nodes()
        .multi(
            List.of(Op.delete(path, version)),
            (code, results) -> {
              if (code == Code.OK || code == Code.NONODE) {
                removeNodes(session);
              }
            });
  }

  private void removeNodes(SessionId session) {
    Map.copyOf(nodes)
        .forEach(
            (node, attempt) -> {
              if (attempt.attempt().session().equals(session)) {
                removeIfOf(session, node);
              }
            });
  }

  /** Another lock of that name may have numbered its nodes anew. */
  private void removeIfOf(SessionId session, String node) {
    core.nodes()
        .read(
            node,
            (code, read) -> {
              AttemptData attempt = read == null ? null : NodeData.attempt(read.data());
              if (attempt != null && attempt.attempt().session().equals(session)) {
                core.nodes().delete(node, (deleted, unused) -> {});
              } else if (code == Code.OK || code == Code.NONODE) {
                nodes.remove(node);
              }
            });
  }
}
