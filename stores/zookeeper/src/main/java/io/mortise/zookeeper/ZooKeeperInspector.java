package io.mortise.zookeeper;

import io.mortise.LockName;
import io.mortise.StoreUnavailableException;
import io.mortise.admin.LockInfo;
import io.mortise.admin.LockParticipant;
import io.mortise.admin.LockParticipant.Share;
import io.mortise.admin.LockQuery;
import io.mortise.admin.Page;
import io.mortise.spi.AttemptId;
import io.mortise.spi.Mode;
import io.mortise.spi.Reply;
import io.mortise.spi.Reply.AttemptState;
import io.mortise.spi.Reply.EndReason;
import io.mortise.spi.SessionId;
import io.mortise.spi.SessionVerdict;
import io.mortise.zookeeper.internal.StoreResources;
import io.mortise.zookeeper.internal.node.AttemptIndex;
import io.mortise.zookeeper.internal.node.LockQueue;
import io.mortise.zookeeper.internal.node.MultiRead;
import io.mortise.zookeeper.internal.node.MultiRead.NodeContent;
import io.mortise.zookeeper.internal.node.NodeData;
import io.mortise.zookeeper.internal.node.NodeNames;
import io.mortise.zookeeper.internal.node.TokenEpoch;
import java.time.Duration;
import java.time.InstantSource;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;
import java.util.TreeSet;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.function.Consumer;
import org.apache.zookeeper.KeeperException.Code;
import org.apache.zookeeper.ZooKeeper;
import org.apache.zookeeper.data.Stat;

/**
 * Inspects a store over a connection of its own: live sessions, holders, waiters. Every inspection
 * first has the server catch up with the leader. Thread-safe.
 */
final class ZooKeeperInspector {
  private static final int MOST_WAITERS = 1_000;

  private final ZooKeeperLockStore store;
  private final InstantSource wall;

  ZooKeeperInspector(ZooKeeperLockStore store, InstantSource wall) {
    this.store = store;
    this.wall = wall;
  }

  // ---- Requests ----

  /** Sends a request once there is a connection; its answer must come in time. */
  <T> CompletionStage<T> ask(StoreResources.AdminQuery<T> question) {
    return store.resources().ask(question);
  }

  StoreUnavailableException silent() {
    return store.resources().silent();
  }

  CompletionStage<SessionVerdict> judge(SessionId session) {
    String path = store.layout().session(session);
    return this.<SessionVerdict>ask(
        (client, answer) -> {
          client.sync(path, (rc, p, context) -> {}, null);
          client.getData(
              path,
              false,
              (rc, p, context, data, stat) -> {
                NodeData.SessionData process = NodeData.member(data);
                if (rc == Code.NONODE.intValue()) {
                  answer.complete(new SessionVerdict.SessionEnded());
                } else if (rc == 0 && process != null) {
                  answer.complete(new SessionVerdict.Alive(process.beat(), process.ttl()));
                } else {
                  answer.completeExceptionally(silent());
                }
              },
              null);
        });
  }

  /**
   * An attempt that was found.
   *
   * @param version of its node; its session may give the node to the next attempt
   * @param marks the paths of the marks of its at-least time
   */
  record FoundAttempt(AttemptState was, String node, int version, List<String> marks) {
    Reply.Ended ended(AttemptId attempt, EndReason how) {
      return new Reply.Ended(attempt, was, how, false);
    }
  }

  /** Looks up an attempt, of any client; answers itself if there is none, or if it fails. */
  void find(
      ZooKeeper client,
      LockName name,
      AttemptId attempt,
      CompletableFuture<Reply.Ended> answer,
      Consumer<FoundAttempt> then) {
    String path = store.layout().lock(name);
    AttemptIndex.read(
        client,
        path,
        roll -> {
          Integer index = roll == null ? null : roll.index().get(attempt);
          if (roll == null) {
            answer.completeExceptionally(silent());
          } else if (index == null) {
            answer.complete(absent(attempt));
          } else {
            LockQueue.QueueNode place = roll.queue().place(index);
            String node = path + "/" + place.node();
            state(
                client,
                roll,
                index,
                answer,
                was ->
                    read(
                        client,
                        attempt,
                        new FoundAttempt(was, node, -1, List.of()),
                        answer,
                        again -> readMarks(client, path, place.seq(), again, answer, then)));
          }
        });
  }

  /** An attempt holds as well if those in front of it have outlived their sessions. */
  private void state(
      ZooKeeper client,
      AttemptIndex roll,
      int index,
      CompletableFuture<Reply.Ended> answer,
      Consumer<AttemptState> then) {
    boolean isFirst = index < roll.queue().holding();
    if (isFirst || roll.queue().hasAtLeast()) {
      then.accept(isFirst ? AttemptState.HELD : AttemptState.WAITING);
      return;
    }
    Map<SessionId, Long> inFront = new TreeMap<>();
    roll.index()
        .forEach(
            (other, at) -> {
              if (at < index) {
                inFront.merge(other.session(), (long) roll.queue().place(at).weight(), Long::sum);
              }
            });
    MultiRead.nodes(
        client,
        inFront.keySet().stream().map(store.layout()::session).toList(),
        found -> {
          if (found == null) {
            answer.completeExceptionally(silent());
            return;
          }
          long used = roll.queue().place(index).weight();
          int next = 0;
          for (long weight : inFront.values()) {
            used += found.get(next++).stat() == null ? 0 : weight;
          }
          then.accept(used <= roll.capacity() ? AttemptState.HELD : AttemptState.WAITING);
        });
  }

  private void read(
      ZooKeeper client,
      AttemptId attempt,
      FoundAttempt found,
      CompletableFuture<Reply.Ended> answer,
      Consumer<FoundAttempt> then) {
    client.getData(
        found.node(),
        false,
        (rc, path, context, data, stat) -> {
          NodeData.AttemptData attemptData = NodeData.attempt(data);
          if (rc == 0 && attemptData != null && attemptData.attempt().equals(attempt)) {
            then.accept(new FoundAttempt(found.was(), found.node(), stat.getVersion(), List.of()));
          } else if (rc == 0 || rc == Code.NONODE.intValue()) {
            answer.complete(absent(attempt));
          } else {
            answer.completeExceptionally(silent());
          }
        },
        null);
  }

  /** Reads the marks after the node: one that is made later changes the node's version. */
  private void readMarks(
      ZooKeeper client,
      String lock,
      int seq,
      FoundAttempt found,
      CompletableFuture<Reply.Ended> answer,
      Consumer<FoundAttempt> then) {
    client.getChildren(
        lock,
        false,
        (rc, path, context, children) -> {
          if (rc != 0) {
            answer.completeExceptionally(silent());
            return;
          }
          List<String> marks =
              LockQueue.of(children, 1).marks(seq).stream()
                  .map(mark -> lock + "/" + mark.name())
                  .toList();
          then.accept(new FoundAttempt(found.was(), found.node(), found.version(), marks));
        },
        null);
  }

  static Reply.Ended absent(AttemptId attempt) {
    return new Reply.Ended(attempt, AttemptState.ABSENT, EndReason.UNKNOWN, false);
  }

  /** Removes an attempt's node, of any client. */
  CompletionStage<Reply.Ended> end(LockName name, AttemptId attempt) {
    return this.<Reply.Ended>ask(
        (client, answer) ->
            find(
                client,
                name,
                attempt,
                answer,
                found ->
                    client.delete(
                        found.node(),
                        found.version(),
                        (rc, path, context) -> {
                          if (rc == 0) {
                            answer.complete(found.ended(attempt, EndReason.RELEASED));
                          } else if (rc == Code.NONODE.intValue()) {
                            answer.complete(absent(attempt));
                          } else {
                            answer.completeExceptionally(silent());
                          }
                        },
                        null)));
  }

  // ---- Inspecting ----

  CompletionStage<Page<LockInfo>> inspect(LockQuery query) {
    LockName only = query.name() == null ? null : LockName.of(query.name());
    return this.<Page<LockInfo>>ask(
        (client, answer) -> {
          LockPageReader lockPageReader = new LockPageReader(client, query, answer);
          client.sync(store.layout().root(), (rc, path, context) -> {}, null);
          if (only != null) {
            lockPageReader.names.add(NodeNames.encode(only));
            lockPageReader.next();
          } else {
            store
                .resources()
                .children(
                    client,
                    store.layout().locks(),
                    answer,
                    children -> {
                      lockPageReader.names.addAll(children);
                      lockPageReader.next();
                    });
          }
        });
  }

  /** Builds one page, lock by lock. */
  private final class LockPageReader {
    private final ZooKeeper client;
    private final LockQuery query;
    private final CompletableFuture<Page<LockInfo>> answer;
    private final TreeSet<String> names = new TreeSet<>();
    private final List<LockInfo> views = new ArrayList<>();
    private final Map<SessionId, NodeData.SessionData> processes = new TreeMap<>();

    /** Sessions without a node, whose attempts any waiter passes. */
    private final Set<SessionId> ended = new TreeSet<>();

    LockPageReader(ZooKeeper client, LockQuery query, CompletableFuture<Page<LockInfo>> answer) {
      this.client = client;
      this.query = query;
      this.answer = answer;
    }

    void next() {
      String from = query.cursor();
      while (from != null && !names.isEmpty() && names.first().compareTo(from) < 0) {
        names.pollFirst();
      }
      String name = names.pollFirst();
      if (name == null) {
        answer.complete(new Page<>(views, null));
      } else if (views.size() == query.limit()) {
        answer.complete(new Page<>(views, name));
      } else {
        lock(name);
      }
    }

    private void lock(String node) {
      LockName name;
      try {
        name = NodeNames.decode(node);
      } catch (IllegalArgumentException e) {
        // A foreign node.
        next();
        return;
      }
      if (!query.matches(name.value())) {
        next();
        return;
      }
      String path = store.layout().lock(name);
      client.getChildren(
          path,
          false,
          (rc, p, context, children, stat) -> {
            if (rc == Code.NONODE.intValue() || (rc == 0 && children.isEmpty() && !query.idle())) {
              next();
            } else if (rc != 0) {
              answer.completeExceptionally(silent());
            } else {
              nodes(name, path, children);
            }
          },
          null);
    }

    private void nodes(LockName name, String path, List<String> children) {
      LockQueue lockQueue = LockQueue.of(children, Mode.SHARERS);
      List<String> paths = new ArrayList<>();
      paths.add(path);
      // Only the first waiters are listed; the capacity tells who waits.
      for (int i = 0; i < lockQueue.size(); i++) {
        paths.add(path + "/" + lockQueue.place(i).node());
      }
      MultiRead.nodes(
          client,
          paths.subList(0, Math.min(paths.size(), 1 + 2 * MOST_WAITERS)),
          nodeContents -> {
            if (nodeContents == null) {
              answer.completeExceptionally(silent());
            } else {
              sessions(name, children, nodeContents);
            }
          });
    }

    private void sessions(LockName name, List<String> children, List<NodeContent> nodeContents) {
      TreeSet<SessionId> missing = new TreeSet<>();
      for (NodeContent nodeContent : nodeContents.subList(1, nodeContents.size())) {
        NodeData.AttemptData attemptData = NodeData.attempt(nodeContent.data());
        if (attemptData != null && !processes.containsKey(attemptData.attempt().session())) {
          missing.add(attemptData.attempt().session());
        }
      }
      List<SessionId> ids = List.copyOf(missing);
      List<String> paths = new ArrayList<>(ids.stream().map(store.layout()::session).toList());
      paths.add(store.layout().epoch());
      MultiRead.nodes(
          client,
          paths,
          found -> {
            if (found == null) {
              answer.completeExceptionally(silent());
              return;
            }
            for (int i = 0; i < ids.size(); i++) {
              NodeData.SessionData process = NodeData.member(found.get(i).data());
              if (found.get(i).stat() == null) {
                ended.add(ids.get(i));
              } else if (process != null) {
                processes.put(ids.get(i), process);
              }
            }
            Stat epoch = found.get(ids.size()).stat();
            view(name, children, nodeContents, epoch == null ? 0 : TokenEpoch.base(epoch));
            next();
          });
    }

    private void view(
        LockName name, List<String> children, List<NodeContent> nodeContents, long base) {
      int capacity = Math.max(1, NodeData.capacity(nodeContents.get(0).data()));
      LockQueue allNodes = LockQueue.of(children, capacity);
      LockQueue living = LockQueue.of(children, capacity, sessionless(allNodes, nodeContents));
      // Where nobody has passed the dead, they keep others out.
      LockQueue lockQueue = living.size() == 0 ? allNodes : living;
      List<LockParticipant> holders = new ArrayList<>();
      List<LockParticipant> waiters = new ArrayList<>();
      long last = 0;
      for (int i = 0; i + 1 < nodeContents.size(); i++) {
        NodeContent nodeContent = nodeContents.get(i + 1);
        Stat stat = nodeContent.stat();
        NodeData.AttemptData attemptData = NodeData.attempt(nodeContent.data());
        int index = lockQueue.indexOf(allNodes.place(i).seq());
        if (stat != null && attemptData != null && index >= 0) {
          boolean holds = index < lockQueue.holding();
          long token = holds ? (base + stat.getCzxid()) << 16 : 0;
          last = Math.max(last, token);
          LockParticipant participant =
              party(
                  attemptData, Mode.share(lockQueue.place(index).weight(), capacity), token, stat);
          if (holds) {
            holders.add(participant);
          } else if (waiters.size() < MOST_WAITERS) {
            waiters.add(participant);
          }
        }
      }
      Duration shutFor = store.shutLocks().shutFor(lockQueue);
      if (query.idle() || !holders.isEmpty() || !waiters.isEmpty() || !shutFor.isZero()) {
        views.add(
            new LockInfo(
                name.value(),
                Mode.permits(capacity),
                last,
                shutFor,
                holders,
                waiters,
                holders.size(),
                lockQueue.size() - lockQueue.holding(),
                null));
      }
    }

    private Map<Integer, SessionId> sessionless(
        LockQueue allNodes, List<NodeContent> nodeContents) {
      Map<Integer, SessionId> found = new HashMap<>();
      for (int i = 0; i + 1 < nodeContents.size(); i++) {
        NodeData.AttemptData attemptData = NodeData.attempt(nodeContents.get(i + 1).data());
        if (attemptData != null && ended.contains(attemptData.attempt().session())) {
          found.put(allNodes.place(i).seq(), attemptData.attempt().session());
        }
      }
      return found;
    }

    /** The age is our clock against the servers', which is close enough. */
    private LockParticipant party(
        NodeData.AttemptData attemptData, Share share, long token, Stat stat) {
      AttemptId attempt = attemptData.attempt();
      NodeData.SessionData process = processes.get(attempt.session());
      long since = Math.max(0, wall.millis() - stat.getMtime());
      return attempt.participant(
          process == null ? null : process.client(),
          attemptData.label(),
          share,
          token,
          Duration.ofMillis(since),
          process == null ? Duration.ZERO : process.ttl(),
          null,
          process == null ? Duration.ZERO : process.ttl(),
          null);
    }
  }
}
