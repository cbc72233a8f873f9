package io.mortise.redis;

import io.mortise.spi.Capability;
import io.mortise.spi.LockStore;
import io.mortise.spi.PartitionedStore;
import io.mortise.spi.SessionId;
import io.mortise.testkit.StoreUnderTest;
import io.mortise.testserver.RedisCluster;
import io.mortise.testserver.RedisSecurity;
import io.mortise.testserver.RedisServer;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.EnumMap;
import java.util.EnumSet;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;

/**
 * One cluster of each version serves all tests of the JVM; each has a namespace of its own. That of
 * the oldest servers speaks TLS, and asks for a password.
 */
final class ClusterUnderTest implements StoreUnderTest {
  private static final AtomicInteger NAMESPACES = new AtomicInteger();

  /** The bucket that is tested, if only one is. */
  private static final int PART = 5;

  private static final Map<RedisServers, Shared> SHARED = new EnumMap<>(RedisServers.class);

  private String namespace = "";
  private final RedisServers version;
  private final boolean onePart;
  private final InboxSubscriptionProbe inboxSubscriptionProbe = new InboxSubscriptionProbe();
  private @Nullable LockStore whole;

  /**
   * @param onePart whether a single bucket, which is what keeps sessions, is tested
   */
  ClusterUnderTest(boolean onePart) {
    this(RedisServers.REDIS_7, onePart);
  }

  ClusterUnderTest(RedisServers version, boolean onePart) {
    this.version = version;
    this.onePart = onePart;
  }

  /** A cluster and its credentials. */
  private record Shared(RedisCluster cluster, @Nullable RedisSecurity access) {
    static Shared start(RedisServers version) {
      RedisSecurity access = version == RedisServers.REDIS_6 ? secure() : null;
      return new Shared(
          RedisCluster.start(version.binary(), 3, false, Duration.ofSeconds(10), access), access);
    }

    private static RedisSecurity secure() {
      try {
        Path folder = Files.createTempDirectory("mortise-cluster");
        // Files are deleted in reverse order of registration.
        folder.toFile().deleteOnExit();
        RedisSecurity access = RedisSecurity.make(folder, "of the cluster", "");
        try (Stream<Path> files = Files.list(folder)) {
          files.forEach(file -> file.toFile().deleteOnExit());
        }
        return access;
      } catch (IOException e) {
        throw new UncheckedIOException(e);
      }
    }

    String url() {
      return access == null
          ? cluster.url() + "?"
          : cluster.url().replace("://", "://:of%20the%20cluster@") + "?" + access.trusted() + "&";
    }
  }

  private static Shared shared(RedisServers version) {
    synchronized (SHARED) {
      return SHARED.computeIfAbsent(version, Shared::start);
    }
  }

  @Override
  public LockStore open() {
    namespace = "contract" + NAMESPACES.incrementAndGet();
    LockStore opened = connect();
    whole = opened;
    return onePart
        ? inboxSubscriptionProbe.of(((PartitionedStore) opened).partition(PART))
        : opened;
  }

  private LockStore connect() {
    return RedisStore.open(shared(version).url() + "buckets=16&namespace=" + namespace);
  }

  @Override
  public LockStore another() {
    return inboxSubscriptionProbe.of(new OwningPartitionStore((PartitionedStore) connect(), PART));
  }

  @Override
  public void awaitConnection(SessionId session, boolean there) {
    RedisCluster cluster = shared(version).cluster();
    String inbox = "m:%s:{b%02d}:i:%s".formatted(namespace, PART, session.value());
    inboxSubscriptionProbe.awaitInShard(cluster.masterOf(cluster.slotOf(inbox)), inbox, there);
  }

  @Override
  public Set<Capability> capabilities() {
    return version == RedisServers.REDIS_6
        ? EnumSet.complementOf(EnumSet.of(Capability.SKIPS_DISCONNECTED))
        : EnumSet.allOf(Capability.class);
  }

  @Override
  public Duration shortTtl() {
    return Duration.ofMillis(400);
  }

  /** As if the replicas of all masters were gone. */
  @Override
  public Optional<Runnable> forbidWrites() {
    if (shared(version).access() != null) {
      return Optional.empty();
    }
    setLeastReplicas("9");
    return Optional.of(() -> setLeastReplicas("0"));
  }

  private void setLeastReplicas(String number) {
    for (RedisServer node : shared(version).cluster().nodes()) {
      node.ask("CONFIG", "SET", "min-replicas-to-write", number);
    }
  }

  @Override
  public void close() {
    if (whole != null) {
      whole.close();
    }
  }
}
