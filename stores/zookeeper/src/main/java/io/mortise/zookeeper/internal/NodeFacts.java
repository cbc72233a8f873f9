package io.mortise.zookeeper.internal;

import io.mortise.LockName;
import io.mortise.StoreUnavailableException;
import io.mortise.spi.Fact;
import io.mortise.spi.time.Ticker;
import io.mortise.zookeeper.internal.node.NodeLayout;
import io.mortise.zookeeper.internal.node.NodeNames;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.TimeUnit;
import java.util.function.Consumer;
import java.util.function.LongConsumer;
import java.util.zip.CRC32;
import org.apache.zookeeper.CreateMode;
import org.apache.zookeeper.KeeperException.Code;
import org.apache.zookeeper.Op;
import org.apache.zookeeper.ZooKeeper;
import org.apache.zookeeper.data.ACL;
import org.apache.zookeeper.data.Stat;
import org.jspecify.annotations.Nullable;

/**
 * The facts of a store: a persistent node for each, with {@code VERSION EXPIRES CONTENT}, times in
 * microseconds. Thread-safe.
 *
 * <p><b>Buckets.</b> ZooKeeper lists all children of a node in one packet, which has a limit. So
 * the facts are spread by name over 256 nodes, which are permanent.
 *
 * <p><b>Versions.</b> A node that was removed and made again counts its versions from zero, so a
 * stale writer could mistake the new one for the old one. So each removal also writes the bucket,
 * and each replacement is a transaction that checks that the bucket is unchanged since it was read.
 *
 * <p><b>Clock.</b> ZooKeeper reveals its time only in the stat of a written node. So each process
 * that uses facts writes a node once a minute; in between it adds its own ticker. It lags behind
 * the leader's clock by a round trip at most.
 */
public final class NodeFacts {
  private static final long CLOCK_NANOS = TimeUnit.MINUTES.toNanos(1);

  /** Less than the minute between two claims of a process, so that each minute has a sweep. */
  private static final long SWEEP_MICROS = TimeUnit.SECONDS.toMicros(50);

  /** A removal of another fact makes a replacement read again. */
  private static final int MOST_TRIES = 10;

  /** Buckets that are listed at one time. */
  private static final int LISTS = 16;

  /** Nodes read for each expired fact that is looked for. */
  private static final int READS_EACH = 4;

  private static final byte[] NOTHING = new byte[0];

  private final StoreResources resources;
  private final Ticker ticker;
  private final List<ACL> acl;
  private final String clock;
  private final String parent;

  private volatile @Nullable ServerTime serverTime;

  /**
   * Facts below one node. It is made when it is needed, as are the clock node and the ancestors.
   *
   * @param acl of the nodes that are made
   * @param clock the node that is written to learn the leader's time
   * @param parent the parent of the buckets
   */
  public NodeFacts(StoreResources resources, List<ACL> acl, String clock, String parent) {
    this.resources = resources;
    this.ticker = resources.ticker();
    this.acl = acl;
    this.clock = clock;
    this.parent = parent;
  }

  /** A reading of the leader's clock, and when it arrived. */
  private record ServerTime(long micros, long heardNanos) {
    long at(long nanos) {
      return micros + TimeUnit.NANOSECONDS.toMicros(nanos - heardNanos);
    }
  }

  /** A node that was read. */
  private record FactNode(Fact fact, long expiresMicros, int nodeVersion) {
    private static @Nullable FactNode decode(byte[] data, Stat stat) {
      String[] words = new String(data, StandardCharsets.US_ASCII).split(" ", 3);
      try {
        return words.length < 3
            ? null
            : new FactNode(
                new Fact(Long.parseLong(words[0]), words[2]),
                Long.parseLong(words[1]),
                stat.getVersion());
      } catch (NumberFormatException e) {
        return null;
      }
    }

    private static byte[] encode(Fact fact, long expiresMicros) {
      return (fact.version() + " " + expiresMicros + " " + fact.content())
          .getBytes(StandardCharsets.US_ASCII);
    }
  }

  /** The result of a read. */
  private record FactLook(int bucketVersion, @Nullable FactNode node) {
    Fact at(long nowMicros) {
      return node == null || node.expiresMicros() <= nowMicros ? Fact.NONE : node.fact();
    }
  }

  private String path(LockName name) {
    CRC32 hash = new CRC32();
    hash.update(name.utf8());
    return "%s/%02x/%s".formatted(parent, hash.getValue() & 0xff, NodeNames.encode(name));
  }

  private static StoreUnavailableException unanswered(Code code) {
    return new StoreUnavailableException(
        "ZooKeeper has not executed a request for a fact, or not told: " + code + ".");
  }

  // ---- The leader's clock ----

  private void withNow(ZooKeeper client, CompletableFuture<?> answer, LongConsumer then) {
    ServerTime known = serverTime;
    long nanos = ticker.nanos();
    if (known != null && nanos - known.heardNanos() < CLOCK_NANOS) {
      then.accept(known.at(nanos));
    } else {
      askClock(client, answer, then);
    }
  }

  private void askClock(ZooKeeper client, CompletableFuture<?> answer, LongConsumer then) {
    client.setData(
        clock,
        NOTHING,
        -1,
        (rc, path, context, stat) -> {
          if (rc == 0) {
            ServerTime heard =
                new ServerTime(TimeUnit.MILLISECONDS.toMicros(stat.getMtime()), ticker.nanos());
            serverTime = heard;
            then.accept(heard.micros());
          } else if (rc == Code.NONODE.intValue()) {
            make(
                client, clock, CreateMode.PERSISTENT, answer, () -> askClock(client, answer, then));
          } else {
            answer.completeExceptionally(unanswered(Code.get(rc)));
          }
        },
        null);
  }

  /** Makes a node; the server removes its created ancestors when they are empty. */
  private void make(
      ZooKeeper client, String path, CreateMode mode, CompletableFuture<?> answer, Runnable then) {
    client.create(
        path,
        NOTHING,
        acl,
        mode,
        (rc, given, context, name) -> {
          String above = NodeLayout.parent(path);
          if (rc == 0 || rc == Code.NODEEXISTS.intValue()) {
            then.run();
          } else if (rc == Code.NONODE.intValue() && !above.isEmpty()) {
            make(
                client,
                above,
                CreateMode.CONTAINER,
                answer,
                () -> make(client, path, mode, answer, then));
          } else {
            answer.completeExceptionally(unanswered(Code.get(rc)));
          }
        },
        (Object) null);
  }

  // ---- Reading and replacing ----

  /** Reads the bucket and then the fact, as the leader knows them. */
  private void look(
      ZooKeeper client, String node, CompletableFuture<?> answer, Consumer<FactLook> then) {
    String bucket = NodeLayout.parent(node);
    client.sync(bucket, (rc, path, context) -> {}, null);
    Stat above = new Stat();
    above.setVersion(-1);
    client.exists(
        bucket,
        false,
        (rc, path, context, stat) -> {
          if (rc == 0) {
            above.setVersion(stat.getVersion());
          }
        },
        null);
    client.getData(
        node,
        false,
        (rc, path, context, data, stat) -> {
          if (rc == 0 || rc == Code.NONODE.intValue()) {
            FactNode found = rc == 0 ? FactNode.decode(data == null ? NOTHING : data, stat) : null;
            if (rc == 0 && found == null) {
              answer.completeExceptionally(
                  new StoreUnavailableException(
                      "Node '%s' is no fact. Another program wrote it: remove it."
                          .formatted(node)));
            } else {
              then.accept(new FactLook(above.getVersion(), found));
            }
          } else {
            answer.completeExceptionally(unanswered(Code.get(rc)));
          }
        },
        null);
  }

  /** See {@link io.mortise.spi.LockStore#readFact}. */
  public CompletionStage<Fact> read(LockName name) {
    return resources.ask(
        (client, answer) ->
            look(
                client,
                path(name),
                answer,
                found -> {
                  if (found.node() == null) {
                    answer.complete(Fact.NONE);
                  } else {
                    withNow(client, answer, now -> answer.complete(found.at(now)));
                  }
                }));
  }

  /** See {@link io.mortise.spi.LockStore#replaceFact}. */
  public CompletionStage<Long> replace(LockName name, long version, String content, Duration keep) {
    return resources.ask(
        (client, answer) -> new Replacement(client, answer, name, version, content, keep).look());
  }

  /** One replacement, which reads again while removals of other facts interfere. */
  private final class Replacement {
    private final ZooKeeper client;
    private final CompletableFuture<Long> answer;
    private final String node;
    private final long version;
    private final String content;
    private final long keepMicros;
    private int tries;

    Replacement(
        ZooKeeper client,
        CompletableFuture<Long> answer,
        LockName name,
        long version,
        String content,
        Duration keep) {
      this.client = client;
      this.answer = answer;
      this.node = path(name);
      this.version = version;
      this.content = content;
      this.keepMicros = TimeUnit.MILLISECONDS.toMicros(keep.toMillis());
    }

    void look() {
      NodeFacts.this.look(
          client, node, answer, found -> withNow(client, answer, now -> replace(found, now)));
    }

    private void replace(FactLook found, long now) {
      if (found.at(now).version() != version) {
        answer.complete(0L);
      } else if (found.bucketVersion() < 0) {
        String bucket = NodeLayout.parent(node);
        make(
            client,
            parent,
            CreateMode.PERSISTENT,
            answer,
            () -> make(client, bucket, CreateMode.PERSISTENT, answer, this::again));
      } else {
        FactNode before = found.node();
        long next = Math.max(before == null ? 0 : before.fact().version() + 1, now);
        byte[] data = FactNode.encode(new Fact(next, content), now + keepMicros);
        Op write =
            before == null
                ? Op.create(node, data, acl, CreateMode.PERSISTENT)
                : Op.setData(node, data, before.nodeVersion());
        client.multi(
            List.of(Op.check(NodeLayout.parent(node), found.bucketVersion()), write),
            (rc, path, context, results) -> written(Code.get(rc), next),
            null);
      }
    }

    private void written(Code code, long next) {
      switch (code) {
        case OK -> answer.complete(next);
        case BADVERSION, NODEEXISTS, NONODE -> again();
        default -> answer.completeExceptionally(unanswered(code));
      }
    }

    /** A write or a removal interfered: the next read tells which. */
    private void again() {
      if (++tries < MOST_TRIES) {
        look();
      } else {
        answer.completeExceptionally(unanswered(Code.BADVERSION));
      }
    }
  }

  // ---- Sweeping ----

  /** Lets one process a minute sweep. */
  public CompletionStage<Boolean> claimSweep() {
    return resources.ask(
        (client, answer) ->
            client.exists(
                parent,
                false,
                (rc, path, context, stat) -> {
                  if (rc == 0) {
                    withNow(client, answer, now -> claim(client, answer, stat, now));
                  } else if (rc == Code.NONODE.intValue()) {
                    answer.complete(false);
                  } else {
                    answer.completeExceptionally(unanswered(Code.get(rc)));
                  }
                },
                null));
  }

  private void claim(ZooKeeper client, CompletableFuture<Boolean> answer, Stat stat, long now) {
    if (now - TimeUnit.MILLISECONDS.toMicros(stat.getMtime()) < SWEEP_MICROS) {
      answer.complete(false);
      return;
    }
    client.setData(
        parent,
        NOTHING,
        stat.getVersion(),
        (rc, path, context, written) -> answer.complete(rc == 0),
        null);
  }

  /** Removes some expired facts, from a random choice of all. */
  public CompletionStage<Integer> sweep(int budget) {
    return resources.ask(
        (client, answer) ->
            client.getChildren(
                parent,
                false,
                (rc, path, context, children) -> {
                  if (rc == Code.NONODE.intValue()) {
                    answer.complete(0);
                    return;
                  } else if (rc != 0) {
                    answer.completeExceptionally(unanswered(Code.get(rc)));
                    return;
                  }
                  List<String> buckets = new ArrayList<>(children);
                  Collections.shuffle(buckets);
                  withNow(
                      client,
                      answer,
                      now -> new FactSweep(client, answer, budget, now).list(buckets));
                },
                null));
  }

  /** One sweep; its answers come on the client's one event thread. */
  private final class FactSweep {
    private final ZooKeeper client;
    private final CompletableFuture<Integer> answer;
    private final int budget;
    private final long now;
    private final List<String> found = new ArrayList<>();
    private int unanswered;
    private int asked;
    private int removed;

    FactSweep(ZooKeeper client, CompletableFuture<Integer> answer, int budget, long now) {
      this.client = client;
      this.answer = answer;
      this.budget = budget;
      this.now = now;
    }

    /** Lists some buckets at a time, until there are enough nodes to read. */
    void list(List<String> buckets) {
      int most = READS_EACH * budget;
      if (buckets.isEmpty() || found.size() >= most) {
        Collections.shuffle(found);
        readAll(found.subList(0, Math.min(found.size(), most)));
        return;
      }
      List<String> some = buckets.subList(0, Math.min(LISTS, buckets.size()));
      unanswered = some.size();
      for (String bucket : some) {
        client.getChildren(
            parent + "/" + bucket,
            false,
            (rc, path, context, children) -> {
              if (rc == 0) {
                children.forEach(node -> found.add(path + "/" + node));
              }
              if (--unanswered == 0) {
                list(buckets.subList(some.size(), buckets.size()));
              }
            },
            null);
      }
    }

    private void readAll(List<String> nodes) {
      if (nodes.isEmpty()) {
        answer.complete(0);
      }
      unanswered = nodes.size();
      for (String node : nodes) {
        client.getData(
            node,
            false,
            (rc, path, context, data, stat) -> {
              FactNode found = rc == 0 && data != null ? FactNode.decode(data, stat) : null;
              if (found != null && found.expiresMicros() <= now && asked < budget) {
                asked++;
                remove(path, found.nodeVersion());
              } else {
                answered();
              }
            },
            null);
      }
    }

    private void remove(String path, int version) {
      client.multi(
          List.of(Op.setData(NodeLayout.parent(path), NOTHING, -1), Op.delete(path, version)),
          (rc, given, context, results) -> {
            if (rc == 0) {
              removed++;
            }
            answered();
          },
          null);
    }

    private void answered() {
      if (--unanswered == 0) {
        answer.complete(removed);
      }
    }
  }
}
