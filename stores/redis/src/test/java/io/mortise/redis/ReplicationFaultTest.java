package io.mortise.redis;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.awaitility.Awaitility.await;

import io.mortise.Lease;
import io.mortise.LeaseLostException;
import io.mortise.LockClient;
import io.mortise.LockException;
import io.mortise.testkit.server.FaultInjectionProxy;
import io.mortise.testkit.server.FaultInjectionProxy.NetworkCondition;
import io.mortise.testserver.RedisCluster;
import io.mortise.testserver.RedisSentinels;
import io.mortise.testserver.RedisServer;
import java.nio.file.Path;
import java.time.Duration;
import java.util.EnumMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.MethodOrderer;
import org.junit.jupiter.api.Order;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.TestMethodOrder;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/** Faults of a master and of the network between it and its replicas, with Sentinel and Cluster. */
@Timeout(600)
@TestMethodOrder(MethodOrderer.OrderAnnotation.class)
@Tag("extended")
class ReplicationFaultTest {
  private static final Duration LONG = Duration.ofSeconds(90);

  /** Longer than any wait of a test, so that no loss is reported because a TTL has passed. */
  private static final Duration TTL = Duration.ofMinutes(3);

  private static final String LOCK = "invoice/42";
  private static final Map<Kind, ReplicatedServers> RUNNING = new EnumMap<>(Kind.class);

  /** Servers with automatic failover; shared by all tests of their kind. */
  private interface ReplicatedServers extends AutoCloseable {
    /** URL as seen from beside the master. */
    String near();

    /** URL as seen from beside the others. */
    String far();

    /** The master that keeps {@link #LOCK}. */
    RedisServer master();

    /** Sets whether the near side still hears what the others say of the master. */
    void hears(boolean others);

    void pauseOthers();

    void resumeOthers();

    /** Waits until a replica is promoted that keeps {@link #LOCK}. */
    void awaitPromotion();

    /** Waits until all servers follow one master that keeps {@link #LOCK}. */
    void awaitWhole();

    @Override
    void close();
  }

  private enum Kind {
    SENTINEL {
      @Override
      ReplicatedServers start(Path program) {
        return new SentinelServers(RedisSentinels.start(program, Duration.ofSeconds(5)));
      }
    },
    CLUSTER {
      @Override
      ReplicatedServers start(Path program) {
        return new ClusterServers(RedisCluster.start(program, 3, true, Duration.ofSeconds(5)));
      }
    };

    abstract ReplicatedServers start(Path program);

    ReplicatedServers servers() {
      return RUNNING.computeIfAbsent(this, missing -> start(RedisServers.REDIS_7.binary()));
    }
  }

  private static final class SentinelServers implements ReplicatedServers {
    private final RedisSentinels set;
    private final List<FaultInjectionProxy> lines;
    private RedisServer master;
    private List<RedisServer> replicas;

    SentinelServers(RedisSentinels set) {
      this.set = set;
      this.lines = set.entries().stream().map(FaultInjectionProxy::to).toList();
      this.master = set.master();
      this.replicas = set.replicas();
    }

    @Override
    public String near() {
      return set.url(lines.stream().map(FaultInjectionProxy::port).toList());
    }

    @Override
    public String far() {
      return set.url();
    }

    @Override
    public RedisServer master() {
      return master;
    }

    @Override
    public void hears(boolean others) {
      lines.forEach(
          line -> line.condition(others ? NetworkCondition.FAIR : NetworkCondition.FROZEN));
    }

    @Override
    public void pauseOthers() {
      // Not the Sentinels: after a pause they do nothing for half a minute.
      replicas.forEach(RedisServer::pause);
    }

    @Override
    public void resumeOthers() {
      replicas.forEach(RedisServer::resume);
    }

    @Override
    public void awaitPromotion() {
      await()
          .atMost(LONG)
          .until(
              () ->
                  set.isAgreed() && set.master() != master && set.master().says("role", "master"));
    }

    @Override
    public void awaitWhole() {
      await().atMost(LONG).until(set::isWhole);
      master = set.master();
      replicas = set.replicas();
    }

    @Override
    public void close() {
      lines.forEach(FaultInjectionProxy::close);
      set.close();
    }
  }

  private static final class ClusterServers implements ReplicatedServers {
    private final RedisCluster cluster;
    private RedisServer master;
    private RedisServer replica;

    ClusterServers(RedisCluster cluster) {
      this.cluster = cluster;
      // "{b25}", the bucket of LOCK, of 64.
      int slot = cluster.slotOf("m::{b%02d}:".formatted(cluster.slotOf(LOCK) % 64));
      this.master = cluster.masterOf(slot);
      this.replica = cluster.nodes().get(cluster.nodes().indexOf(master) + 3);
    }

    @Override
    public String near() {
      return cluster.url();
    }

    @Override
    public String far() {
      return cluster.url();
    }

    @Override
    public RedisServer master() {
      return master;
    }

    @Override
    public void hears(boolean others) {
      // The nodes are the others.
    }

    private List<RedisServer> others() {
      return cluster.nodes().stream().filter(node -> node != master).toList();
    }

    @Override
    public void pauseOthers() {
      others().forEach(RedisServer::pause);
    }

    @Override
    public void resumeOthers() {
      others().forEach(RedisServer::resume);
    }

    @Override
    public void awaitPromotion() {
      await().atMost(LONG).until(() -> replica.says("role", "master"));
    }

    @Override
    public void awaitWhole() {
      if (replica.says("role", "master")) {
        RedisServer promoted = replica;
        replica = master;
        master = promoted;
      }
      await().atMost(LONG).until(() -> replica.follows(master));
      cluster.awaitWhole();
    }

    @Override
    public void close() {
      cluster.close();
    }
  }

  @AfterAll
  static void stop() {
    RUNNING.values().forEach(ReplicatedServers::close);
    RUNNING.clear();
  }

  private static LockClient client(String url) {
    return LockClient.builder().url(url).ttl(TTL).build();
  }

  /** Back this soon, the master is not failed over, and its replicas copy its empty state. */
  @Order(1)
  @ParameterizedTest
  @EnumSource
  void givenMasterWithoutADisk_whenItIsBackBeforeItIsMissed_thenItHasForgotten_andHoldersAreTold(
      Kind kind) throws Exception {
    ReplicatedServers servers = kind.servers();
    try (LockClient holder = client(servers.near());
        LockClient other = client(servers.far())) {
      Lease lease = holder.lock(LOCK).acquireWithin(LONG);
      long token = lease.token();
      assertThat(servers.master().ask("WAIT", "1", "10000")).isNotEqualTo(List.of("0"));

      servers.master().restart();

      try (Lease next = acquire(other)) {
        assertThat(next.token()).isGreaterThan(token);
        await().atMost(LONG).until(() -> lease.state() == Lease.State.LOST);
      }
      assertThatThrownBy(lease::close).isInstanceOf(LeaseLostException.class);
    }
    servers.awaitWhole();
  }

  /**
   * The two sides of the partition run one after the other: neither hears of the other meanwhile.
   * Runs last, as it leaves a master that would not be one again after a restart.
   */
  @Order(2)
  @ParameterizedTest
  @EnumSource
  void givenMasterThatIsCutOff_whenItGrants_andAReplicaIsPromoted_thenTheNextTokenIsGreater(
      Kind kind) throws Exception {
    ReplicatedServers servers = kind.servers();
    RedisServer master = servers.master();
    try (LockClient holder = client(servers.near())) {
      holder.lock("warm").acquireWithin(LONG).close();

      servers.pauseOthers();
      servers.hears(false);
      master.ask("CLIENT", "KILL", "TYPE", "replica");
      Lease lease = holder.lock(LOCK).acquireWithin(LONG);
      long token = lease.token();
      master.pause();

      servers.resumeOthers();
      servers.awaitPromotion();
      try (LockClient other = client(servers.far());
          Lease next = acquire(other)) {
        assertThat(next.token()).isGreaterThan(token);
        if (kind == Kind.SENTINEL) {
          assertThat(lease.isValid()).as("who hears of nothing believes on").isTrue();
        }

        master.resume();
        servers.hears(true);
        await().atMost(LONG).until(() -> lease.state() == Lease.State.LOST);
        next.ensureValid();
      }
      assertThatThrownBy(lease::close).isInstanceOf(LeaseLostException.class);
    }
    servers.awaitWhole();
  }

  /** Acquires from a server that may not be ready yet. */
  private static Lease acquire(LockClient client) {
    return await()
        .atMost(LONG)
        .ignoreExceptionsInstanceOf(LockException.class)
        .until(() -> client.lock(LOCK).tryAcquire(), Optional::isPresent)
        .orElseThrow();
  }
}
