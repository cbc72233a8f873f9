package io.mortise.zookeeper;

import io.mortise.LockName;
import io.mortise.admin.LockInfo;
import io.mortise.admin.LockQuery;
import io.mortise.admin.Page;
import io.mortise.admin.SessionInfo;
import io.mortise.spi.Mode;
import io.mortise.zookeeper.internal.node.LockQueue;
import io.mortise.zookeeper.internal.node.MultiRead;
import io.mortise.zookeeper.internal.node.MultiRead.NodeContent;
import io.mortise.zookeeper.internal.node.NodeData;
import io.mortise.zookeeper.internal.node.NodeNames;
import java.time.Duration;
import java.time.InstantSource;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.function.Consumer;
import org.apache.zookeeper.ZooKeeper;
import org.apache.zookeeper.data.Stat;
import org.jspecify.annotations.Nullable;

/**
 * Surveys many locks in a few packets: their nodes, the names of the nodes in their queues, and the
 * first node of each. Lists sessions. Thread-safe.
 */
final class ZooKeeperSurvey {
  /** Locks that are read together. */
  private static final int TOGETHER = 500;

  private final ZooKeeperLockStore store;
  private final ZooKeeperInspector inspector;
  private final InstantSource wall;

  ZooKeeperSurvey(ZooKeeperLockStore store, ZooKeeperInspector inspector, InstantSource wall) {
    this.store = store;
    this.inspector = inspector;
    this.wall = wall;
  }

  /** The names of nodes from a cursor on, in order. Fails the answer if they cannot be read. */
  private void children(
      ZooKeeper client,
      String parent,
      @Nullable String cursor,
      CompletableFuture<?> answer,
      Consumer<List<String>> then) {
    client.sync(store.layout().root(), (rc, path, context) -> {}, null);
    store
        .resources()
        .children(
            client,
            parent,
            answer,
            children ->
                then.accept(
                    children.stream()
                        .filter(name -> cursor == null || name.compareTo(cursor) >= 0)
                        .sorted()
                        .toList()));
  }

  CompletionStage<Page<LockInfo>> locks(LockQuery query) {
    return inspector.<Page<LockInfo>>ask(
        (client, answer) ->
            children(
                client,
                store.layout().locks(),
                query.cursor(),
                answer,
                names -> new SurveyReader(client, query, answer, named(names, query)).next()));
  }

  /** A lock's node, by its name in ZooKeeper. */
  private record NamedNode(String node, LockName name) {}

  private static List<NamedNode> named(List<String> nodes, LockQuery query) {
    List<NamedNode> named = new ArrayList<>();
    for (String node : nodes) {
      try {
        LockName name = NodeNames.decode(node);
        if (query.matches(name.value())) {
          named.add(new NamedNode(node, name));
        }
      } catch (IllegalArgumentException e) {
        // A foreign node.
      }
    }
    return named;
  }

  CompletionStage<Page<SessionInfo>> sessions(@Nullable String cursor, int limit) {
    return inspector.<Page<SessionInfo>>ask(
        (client, answer) ->
            children(
                client,
                store.layout().sessions(),
                cursor,
                answer,
                ids -> {
                  List<String> page = ids.subList(0, Math.min(limit, ids.size()));
                  MultiRead.nodes(
                      client,
                      page.stream().map(id -> store.layout().sessions() + "/" + id).toList(),
                      found -> {
                        if (found == null) {
                          answer.completeExceptionally(inspector.silent());
                        } else {
                          answer.complete(
                              new Page<>(
                                  infos(page, found), ids.size() > limit ? ids.get(limit) : null));
                        }
                      });
                }));
  }

  private static List<SessionInfo> infos(List<String> ids, List<NodeContent> found) {
    List<SessionInfo> infos = new ArrayList<>();
    for (int i = 0; i < ids.size(); i++) {
      NodeData.SessionData process = NodeData.member(found.get(i).data());
      if (process != null) {
        infos.add(
            new SessionInfo(
                ids.get(i), process.client().info(), process.ttl(), process.ttl(), null));
      }
    }
    return infos;
  }

  /** Builds one page, some hundreds of locks at a time. */
  private final class SurveyReader {
    private final ZooKeeper client;
    private final LockQuery query;
    private final CompletableFuture<Page<LockInfo>> answer;
    private final List<NamedNode> nodes;
    private final List<LockInfo> lines = new ArrayList<>();
    private int done;

    SurveyReader(
        ZooKeeper client,
        LockQuery query,
        CompletableFuture<Page<LockInfo>> answer,
        List<NamedNode> nodes) {
      this.client = client;
      this.query = query;
      this.answer = answer;
      this.nodes = nodes;
    }

    void next() {
      int end = Math.min(nodes.size(), done + Math.min(TOGETHER, query.limit() - lines.size()));
      if (done == end) {
        answer.complete(new Page<>(lines, done < nodes.size() ? nodes.get(done).node() : null));
        return;
      }
      List<NamedNode> some = nodes.subList(done, end);
      done = end;
      List<String> paths = some.stream().map(one -> store.layout().lock(one.name())).toList();
      MultiRead.nodes(
          client,
          paths,
          found -> {
            if (found == null) {
              answer.completeExceptionally(inspector.silent());
            } else {
              queues(some, paths, found);
            }
          });
    }

    private void queues(List<NamedNode> some, List<String> paths, List<NodeContent> found) {
      MultiRead.children(
          client,
          paths,
          found,
          children -> {
            if (children == null) {
              answer.completeExceptionally(inspector.silent());
              return;
            }
            List<LockQueue> queues = new ArrayList<>();
            List<String> first = new ArrayList<>();
            for (int i = 0; i < some.size(); i++) {
              LockQueue queue = LockQueue.of(children.get(i), capacity(found.get(i)));
              queues.add(queue);
              if (queue.holding() > 0) {
                first.add(paths.get(i) + "/" + queue.place(0).node());
              }
            }
            MultiRead.nodes(
                client,
                first,
                holders -> {
                  if (holders == null) {
                    answer.completeExceptionally(inspector.silent());
                  } else {
                    lines(some, found, queues, holders);
                    next();
                  }
                });
          });
    }

    private void lines(
        List<NamedNode> some,
        List<NodeContent> found,
        List<LockQueue> queues,
        List<NodeContent> holders) {
      int nextHolder = 0;
      for (int i = 0; i < some.size(); i++) {
        LockQueue queue = queues.get(i);
        NodeContent holder = queue.holding() > 0 ? holders.get(nextHolder++) : NodeContent.NONE;
        Duration shutFor = store.shutLocks().shutFor(queue);
        boolean isShown = query.idle() || queue.size() > 0 || !shutFor.isZero();
        if (found.get(i).stat() != null && isShown) {
          lines.add(line(some.get(i).name(), capacity(found.get(i)), queue, holder, shutFor));
        }
      }
    }

    private LockInfo line(
        LockName name, int capacity, LockQueue queue, NodeContent holder, Duration shutFor) {
      int waiters = queue.size() - queue.holding();
      NodeData.AttemptData first = NodeData.attempt(holder.data());
      Stat stat = holder.stat();
      return LockInfo.summary(
          name.value(),
          Mode.permits(capacity),
          queue.holding(),
          waiters,
          first == null
              ? null
              : first
                  .attempt()
                  .holder(
                      first.label(),
                      Mode.share(queue.place(0).weight(), capacity),
                      stat == null
                          ? Duration.ZERO
                          : Duration.ofMillis(Math.max(0, wall.millis() - stat.getMtime()))),
          shutFor);
    }

    private static int capacity(NodeContent lock) {
      return Math.max(1, NodeData.capacity(lock.data()));
    }
  }
}
