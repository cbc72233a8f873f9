package io.mortise.redis;

import io.mortise.LockName;
import io.mortise.StoreUnavailableException;
import io.mortise.StoreUnfitException;
import io.mortise.admin.LockInfo;
import io.mortise.admin.LockQuery;
import io.mortise.admin.Page;
import io.mortise.admin.SessionInfo;
import io.mortise.internal.runtime.FailureText;
import io.mortise.redis.cluster.ClusterNodes;
import io.mortise.redis.cluster.ClusterNodes.ConnectionRole;
import io.mortise.redis.cluster.HashSlots;
import io.mortise.redis.cluster.SlotTransport;
import io.mortise.redis.codec.KeySpace;
import io.mortise.redis.transport.Endpoint;
import io.mortise.redis.transport.ErrorReplyException;
import io.mortise.redis.transport.RedisTransport;
import io.mortise.spi.Capability;
import io.mortise.spi.LockStore;
import io.mortise.spi.StoreProfile;
import io.mortise.spi.StoreReport;
import io.mortise.spi.StoreUrl;
import io.mortise.spi.time.Ticker;
import io.mortise.support.partition.PartitionRouter;
import java.io.IOException;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.ScheduledThreadPoolExecutor;
import java.util.concurrent.TimeUnit;
import org.jspecify.annotations.Nullable;

/**
 * Locks in a Redis Cluster. Names are spread over buckets by their checksum. All keys of a bucket
 * share a hash tag and with it a slot, so that every script finds all of its keys on one node. A
 * bucket is a store of its own, with its own sessions; buckets share the connections to the node
 * that serves them.
 *
 * <p>The number of buckets is stored in the cluster: two clients that disagreed about it would not
 * exclude each other.
 *
 * <p>Every script is called with one more key, which never exists. While a slot migrates, a server
 * refuses a call if it lacks some of the keys. So no script runs on a bucket that is split over two
 * nodes.
 */
final class RedisClusterStore implements PartitionRouter {
  private static final int DEFAULT_BUCKETS = 64;
  private static final int MOST_BUCKETS = 1024;
  private static final String EXAMPLE = "redis-cluster://user:password@host1:6379,host2:6379";

  private final List<RedisLockStore> buckets;
  private final RedisSurvey survey;
  private final Runnable closing;

  private RedisClusterStore(List<RedisLockStore> buckets, ClusterNodes nodes, Runnable closing) {
    this.buckets = List.copyOf(buckets);
    this.survey =
        new RedisSurvey(
            this.buckets,
            bucket ->
                String.valueOf(
                    nodes.owner(HashSlots.of(this.buckets.get(bucket).keys().prefix()))));
    this.closing = closing;
  }

  static RedisClusterStore connect(StoreUrl url, Ticker ticker) {
    boolean tls = url.scheme().startsWith("rediss");
    RedisTarget.allowOnly(url, RedisTarget.PARAMETERS, "buckets");
    UrlAuthority urlAuthority = UrlAuthority.parse(url, RedisTarget.DEFAULT_PORT, EXAMPLE);
    if (!urlAuthority.path().isEmpty()) {
      throw UrlAuthority.wrong(url, EXAMPLE);
    }
    if (!url.parameter("wire", "direct").equals("direct")) {
      throw new IllegalArgumentException(
          "Store URL '"
              + url
              + "' asks for another wire; only 'direct' finds its way in a cluster.");
    }
    Integer wanted = buckets(url);
    RedisOptions options = RedisTarget.options(url);
    Replication replication = Replication.of(url, options.timeout());
    Path trusted = RedisTarget.trusted(url);
    List<Endpoint> seeds =
        urlAuthority.hosts().stream()
            .map(
                host ->
                    new Endpoint(
                        host.name(),
                        host.port(),
                        0,
                        urlAuthority.user(),
                        urlAuthority.password(),
                        tls,
                        trusted,
                        RedisTarget.connectTimeout(options)))
            .toList();
    return new ClusterStoreBuilder(
            options, replication, url.scheme() + ":" + urlAuthority.shown(), ticker)
        .open(seeds, wanted);
  }

  private static @Nullable Integer buckets(StoreUrl url) {
    String text = url.parameter("buckets");
    if (text == null) {
      return null;
    }
    int count = text.matches("\\d{1,4}") ? Integer.parseInt(text) : 0;
    if (count < 1 || count > MOST_BUCKETS) {
      throw new IllegalArgumentException(
          "Parameter 'buckets' of store URL '%s' is '%s'. Expected 1 to %s."
              .formatted(url, text, MOST_BUCKETS));
    }
    return count;
  }

  /** Asks one node for all: in a well-kept cluster their settings are the same. */
  @Override
  public CompletionStage<StoreReport> examine() {
    return partition(0)
        .examine()
        .thenApply(
            one -> {
              StoreReport.Builder report = StoreReport.about("redis-cluster");
              report.note(
                  "nodes",
                  "one of them",
                  "Settings are those of one node; the others should have the same.",
                  "");
              one.findings().forEach(report::add);
              if (!profile().can(Capability.SKIPS_DISCONNECTED)) {
                report.note(
                    "sharded pub/sub",
                    "no",
                    "A waiter that was killed at the head of a queue is handed the lock all the same, and delays the next until its session ends.",
                    "Use Redis 7.0 or later.",
                    "client-crash");
              }
              return report.build();
            });
  }

  /** Builds a store, step by step. */
  private record ClusterStoreBuilder(
      RedisOptions options, Replication replication, String display, Ticker ticker) {
    RedisClusterStore open(List<Endpoint> seeds, @Nullable Integer wanted) {
      ScheduledThreadPoolExecutor timer = RedisConnections.timer();
      ReconnectListeners reconnectListeners = new ReconnectListeners();
      ClusterNodes nodes;
      try {
        nodes =
            new ClusterNodes(
                seeds, timer, ticker, options.timeout(), reconnectListeners::reconnected);
      } catch (IOException | ErrorReplyException e) {
        timer.shutdownNow();
        throw isNoCluster(e)
            ? new StoreUnfitException(
                "The server is no cluster (store=%s). Write redis:// for a server alone."
                    .formatted(display))
            : ServerPreflight.cannotConnect(e, display);
      }
      Runnable closing =
          () -> {
            nodes.close();
            timer.shutdownNow();
          };
      try {
        int count = count(nodes, wanted);
        List<RedisLockStore> buckets = new ArrayList<>();
        Map<String, NodeInfo> nodeInfo = new HashMap<>();
        for (int i = 0; i < count; i++) {
          buckets.add(bucket(nodes, reconnectListeners, i, nodeInfo));
        }
        return new RedisClusterStore(buckets, nodes, closing);
      } catch (RuntimeException e) {
        closing.run();
        throw e;
      }
    }

    private static boolean isNoCluster(Throwable failure) {
      return failure instanceof ErrorReplyException
          && String.valueOf(failure.getMessage()).contains("cluster support disabled");
    }

    /** Facts learnt about a node. */
    private record NodeInfo(StoreClock clock, int version) {}

    private RedisLockStore bucket(
        ClusterNodes nodes,
        ReconnectListeners reconnectListeners,
        int number,
        Map<String, NodeInfo> nodeInfo) {
      String prefix = String.format(Locale.ROOT, "m:%s:{b%02d}:", options.namespace(), number);
      int slot = HashSlots.of(prefix);
      SlotTransport operations = nodes.transport(slot, ConnectionRole.OPERATIONS);
      SlotTransport renewals = nodes.transport(slot, ConnectionRole.RENEWALS);
      Endpoint owner = nodes.owner(slot);
      NodeInfo known = nodeInfo.get(String.valueOf(owner));
      if (known == null) {
        awaitOpen(renewals);
        awaitOpen(operations);
        ServerPreflight check =
            new ServerPreflight(renewals, options, prefix, "cluster", display, ticker);
        known = new NodeInfo(check.run(), check.majorVersion());
        nodeInfo.put(String.valueOf(owner), known);
      }
      // No node knows the number of subscribers of a channel that all nodes share.
      boolean shardChannels = known.version() >= 7;
      if (shardChannels) {
        operations.useShardChannels();
      }
      return new RedisLockStore(
          new RedisConnections(operations, renewals, reconnectListeners, () -> {}, false),
          options,
          display,
          replication,
          new KeySpace(prefix, List.of(prefix + "-")),
          known.clock(),
          ticker,
          shardChannels);
    }

    private void awaitOpen(RedisTransport transport) {
      long end = ticker.nanos() + RedisTarget.connectTimeout(options).toNanos();
      while (!transport.isOpen()) {
        if (ticker.nanos() - end > 0) {
          throw new StoreUnavailableException(
              "A part of the cluster has no node that can be reached (store=%s). Check that all slots are served."
                  .formatted(display));
        }
        try {
          TimeUnit.MILLISECONDS.sleep(5);
        } catch (InterruptedException e) {
          Thread.currentThread().interrupt();
          throw new StoreUnavailableException(
              "Interrupted while connecting (store=%s).".formatted(display), e);
        }
      }
    }

    /** Agrees on the number of buckets with all earlier clients. */
    private int count(ClusterNodes nodes, @Nullable Integer wanted) {
      String key = "m:%s:{buckets}".formatted(options.namespace());
      SlotTransport transport = nodes.transport(HashSlots.of(key), ConnectionRole.RENEWALS);
      awaitOpen(transport);
      int proposed = wanted == null ? DEFAULT_BUCKETS : wanted;
      ServerPreflight asking =
          new ServerPreflight(transport, options, key, "cluster", display, ticker);
      asking.answer("SET of the number of buckets", "SET", key, Integer.toString(proposed), "NX");
      String stored = String.valueOf(asking.answer("GET", "GET", key));
      transport.close();
      int count = stored.matches("\\d{1,4}") ? Integer.parseInt(stored) : 0;
      if (count < 1 || count > MOST_BUCKETS || (wanted != null && wanted != count)) {
        throw new StoreUnfitException(
            "Locks are kept in %s buckets here, as key '%s' says, not in %s (store=%s). Leave 'buckets' out, or choose another namespace."
                .formatted(FailureText.quoted(stored), key, proposed, display));
      }
      return count;
    }
  }

  /** Lists node by node, as a walk over one bucket scans all keys of its node. */
  @Override
  public CompletionStage<Page<LockInfo>> inspect(LockQuery query) {
    return query.isSummary() ? survey.locks(query) : PartitionRouter.super.inspect(query);
  }

  @Override
  public CompletionStage<Page<SessionInfo>> sessions(@Nullable String cursor, int limit) {
    return survey.sessions(cursor, limit);
  }

  @Override
  public StoreProfile profile() {
    return buckets.get(0).profile();
  }

  @Override
  public int partitions() {
    return buckets.size();
  }

  @Override
  public int partitionOf(LockName name) {
    return HashSlots.crc16(name.utf8()) % buckets.size();
  }

  @Override
  public LockStore partition(int number) {
    return buckets.get(number);
  }

  @Override
  public void close() {
    buckets.forEach(RedisLockStore::close);
    closing.run();
  }

  @Override
  public String toString() {
    return profile().display();
  }
}
