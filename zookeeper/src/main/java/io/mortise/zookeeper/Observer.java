package io.mortise.zookeeper;

import io.mortise.LockName;
import io.mortise.StoreUnavailableException;
import io.mortise.spi.AttemptId;
import io.mortise.spi.LockPage;
import io.mortise.spi.LockQuery;
import io.mortise.spi.LockView;
import io.mortise.spi.Reply;
import io.mortise.spi.Reply.How;
import io.mortise.spi.Reply.Was;
import io.mortise.spi.SessionId;
import io.mortise.spi.Verdict;
import io.mortise.zookeeper.Reads.Node;
import io.mortise.zookeeper.internal.Lookout;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.TreeSet;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import org.apache.zookeeper.KeeperException.Code;
import org.apache.zookeeper.ZooKeeper;
import org.apache.zookeeper.data.Stat;

/**
 * Looks at a store, over a connection of its own: who is alive, who holds, who waits. Every look
 * first has the server catch up with the leader. Thread-safe.
 */
final class Observer {
  private static final int MOST_WAITERS = 1_000;

  private final ZooKeeperLockStore store;
  private final Lookout lookout;
  private final String display;

  Observer(ZooKeeperLockStore store, Lookout lookout, String display) {
    this.store = store;
    this.lookout = lookout;
    this.display = display;
  }

  void close() {
    lookout.close();
  }

  // ---- Asking ----

  /** Runs a question once there is a connection; its answer must come in time. */
  private <T> CompletionStage<T> ask(Question<T> question) {
    CompletableFuture<T> answer = new CompletableFuture<>();
    lookout
        .connected()
        .whenComplete(
            (client, failure) -> {
              if (failure != null) {
                answer.completeExceptionally(silent());
              } else {
                try {
                  question.ask(client, answer);
                } catch (RuntimeException e) {
                  answer.completeExceptionally(e);
                }
              }
            });
    store
        .timer()
        .in(store.options().timeout().toNanos(), () -> answer.completeExceptionally(silent()));
    return answer;
  }

  private interface Question<T> {
    void ask(ZooKeeper client, CompletableFuture<T> answer);
  }

  private StoreUnavailableException silent() {
    return new StoreUnavailableException("Store '" + display + "' does not answer.");
  }

  CompletionStage<Verdict> judge(SessionId session) {
    String path = store.layout().session(session);
    return this.<Verdict>ask(
        (client, answer) -> {
          client.sync(path, (rc, p, context) -> {}, null);
          client.getData(
              path,
              false,
              (rc, p, context, data, stat) -> {
                NodeData.Member process = NodeData.member(data);
                if (rc == Code.NONODE.intValue()) {
                  answer.complete(new Verdict.SessionEnded());
                } else if (rc == 0 && process != null) {
                  answer.complete(new Verdict.Alive(process.beat(), process.ttl()));
                } else {
                  answer.completeExceptionally(silent());
                }
              },
              null);
        });
  }

  /** Removes an attempt's node, whoever's it is. */
  CompletionStage<Reply.Ended> end(LockName name, AttemptId attempt) {
    String path = store.layout().lock(name);
    return this.<Reply.Ended>ask(
        (client, answer) ->
            Roll.read(
                client,
                path,
                roll -> {
                  Integer index = roll == null ? null : roll.index().get(attempt);
                  if (roll == null) {
                    answer.completeExceptionally(silent());
                  } else if (index == null) {
                    answer.complete(new Reply.Ended(attempt, Was.ABSENT, How.UNKNOWN, false));
                  } else {
                    Was was = index < roll.line().holding() ? Was.HELD : Was.WAITING;
                    remove(
                        client, path + "/" + roll.line().place(index).node(), attempt, was, answer);
                  }
                }));
  }

  private void remove(
      ZooKeeper client,
      String node,
      AttemptId attempt,
      Was was,
      CompletableFuture<Reply.Ended> answer) {
    Reply.Ended absent = new Reply.Ended(attempt, Was.ABSENT, How.UNKNOWN, false);
    client.getData(
        node,
        false,
        (rc, path, context, data, stat) -> {
          NodeData.Entry entry = NodeData.attempt(data);
          if (rc == 0 && entry != null && entry.attempt().equals(attempt)) {
            // Of that very version: its session may give the node to the next attempt.
            client.delete(
                node,
                stat.getVersion(),
                (code, given, ignored) -> {
                  if (code == 0) {
                    answer.complete(new Reply.Ended(attempt, was, How.RELEASED, false));
                  } else if (code == Code.NONODE.intValue()) {
                    answer.complete(absent);
                  } else {
                    answer.completeExceptionally(silent());
                  }
                },
                null);
          } else if (rc == 0 || rc == Code.NONODE.intValue()) {
            answer.complete(absent);
          } else {
            answer.completeExceptionally(silent());
          }
        },
        null);
  }

  // ---- Inspecting ----

  CompletionStage<LockPage> inspect(LockQuery query) {
    LockName only = query.name();
    return this.<LockPage>ask(
        (client, answer) -> {
          Page page = new Page(client, query, answer);
          client.sync(store.layout().root(), (rc, path, context) -> {}, null);
          if (only != null) {
            page.names.add(NodeNames.encode(only));
            page.next();
          } else {
            client.getChildren(
                store.layout().locks(),
                false,
                (rc, path, context, children) -> {
                  if (rc == 0) {
                    page.names.addAll(children);
                  }
                  if (rc == 0 || rc == Code.NONODE.intValue()) {
                    page.next();
                  } else {
                    answer.completeExceptionally(silent());
                  }
                },
                null);
          }
        });
  }

  /** One page in the making: one lock after the other. */
  private final class Page {
    private final ZooKeeper client;
    private final LockQuery query;
    private final CompletableFuture<LockPage> answer;
    private final TreeSet<String> names = new TreeSet<>();
    private final List<LockView> views = new ArrayList<>();
    private final Map<SessionId, NodeData.Member> processes = new TreeMap<>();

    Page(ZooKeeper client, LockQuery query, CompletableFuture<LockPage> answer) {
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
        answer.complete(new LockPage(views, null));
      } else if (views.size() == query.limit()) {
        answer.complete(new LockPage(views, name));
      } else {
        lock(name);
      }
    }

    private void lock(String node) {
      LockName name;
      try {
        name = NodeNames.decode(node);
      } catch (IllegalArgumentException e) {
        // Somebody else's.
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
      Line line = Line.of(children, io.mortise.spi.Mode.SHARERS);
      List<String> paths = new ArrayList<>();
      paths.add(path);
      // Of those who wait only the first are told; whether they wait is known when the capacity is.
      for (int i = 0; i < line.size(); i++) {
        paths.add(path + "/" + line.place(i).node());
      }
      Reads.nodes(
          client,
          paths.subList(0, Math.min(paths.size(), 1 + 2 * MOST_WAITERS)),
          nodes -> {
            if (nodes == null) {
              answer.completeExceptionally(silent());
            } else {
              sessions(name, children, nodes);
            }
          });
    }

    private void sessions(LockName name, List<String> children, List<Node> nodes) {
      TreeSet<SessionId> missing = new TreeSet<>();
      for (Node node : nodes.subList(1, nodes.size())) {
        NodeData.Entry entry = NodeData.attempt(node.data());
        if (entry != null && !processes.containsKey(entry.attempt().session())) {
          missing.add(entry.attempt().session());
        }
      }
      List<SessionId> ids = List.copyOf(missing);
      List<String> paths = new ArrayList<>(ids.stream().map(store.layout()::session).toList());
      paths.add(store.layout().epoch());
      Reads.nodes(
          client,
          paths,
          found -> {
            if (found == null) {
              answer.completeExceptionally(silent());
              return;
            }
            for (int i = 0; i < ids.size(); i++) {
              NodeData.Member process = NodeData.member(found.get(i).data());
              if (process != null) {
                processes.put(ids.get(i), process);
              }
            }
            Stat epoch = found.get(ids.size()).stat();
            view(name, children, nodes, epoch == null ? 0 : TokenEpoch.base(epoch));
            next();
          });
    }

    private void view(LockName name, List<String> children, List<Node> nodes, long base) {
      int capacity = Math.max(1, NodeData.capacity(nodes.get(0).data()));
      Line line = Line.of(children, capacity);
      List<LockView.Party> holders = new ArrayList<>();
      List<LockView.Party> waiters = new ArrayList<>();
      long last = 0;
      for (int i = 0; i + 1 < nodes.size(); i++) {
        Node node = nodes.get(i + 1);
        Stat stat = node.stat();
        NodeData.Entry entry = NodeData.attempt(node.data());
        if (stat != null && entry != null) {
          boolean holds = i < line.holding();
          long token = holds ? (base + stat.getCzxid()) << 16 : 0;
          last = Math.max(last, token);
          LockView.Party party = party(entry, line.place(i).weight(), token, stat);
          if (holds) {
            holders.add(party);
          } else if (waiters.size() < MOST_WAITERS) {
            waiters.add(party);
          }
        }
      }
      if (query.idle() || !holders.isEmpty() || !waiters.isEmpty()) {
        views.add(new LockView(name, capacity, last, Duration.ZERO, holders, waiters));
      }
    }

    /**
     * How long it has stood is told by our own clock against the servers', which is near enough.
     */
    private LockView.Party party(NodeData.Entry entry, int weight, long token, Stat stat) {
      AttemptId attempt = entry.attempt();
      NodeData.Member process = processes.get(attempt.session());
      long since = Math.max(0, System.currentTimeMillis() - stat.getMtime());
      return new LockView.Party(
          attempt,
          process == null ? null : process.client(),
          entry.label(),
          weight,
          token,
          Duration.ofMillis(since),
          process == null ? Duration.ZERO : process.ttl(),
          null);
    }
  }
}
