package io.mortise.redis;

import io.mortise.spi.Capability;
import io.mortise.spi.LockStore;
import io.mortise.spi.PartitionedStore;
import io.mortise.testkit.StoreUnderTest;
import io.mortise.testkit.server.RedisCluster;
import java.time.Duration;
import java.util.EnumMap;
import java.util.EnumSet;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.atomic.AtomicInteger;
import org.jspecify.annotations.Nullable;

/** One cluster of each version serves all tests of the JVM; each has a namespace of its own. */
final class ClusterUnderTest implements StoreUnderTest {
  private static final AtomicInteger NAMESPACES = new AtomicInteger();
  private static final Map<Servers, RedisCluster> CLUSTERS = new EnumMap<>(Servers.class);

  private String namespace = "";
  private final Servers version;
  private final boolean onePart;
  private @Nullable LockStore whole;

  /**
   * @param onePart whether what is tested is a bucket, which is what keeps sessions
   */
  ClusterUnderTest(boolean onePart) {
    this(Servers.REDIS_7, onePart);
  }

  ClusterUnderTest(Servers version, boolean onePart) {
    this.version = version;
    this.onePart = onePart;
  }

  private static RedisCluster cluster(Servers version) {
    synchronized (CLUSTERS) {
      return CLUSTERS.computeIfAbsent(
          version,
          missing -> RedisCluster.start(missing.binary(), 3, false, Duration.ofSeconds(10)));
    }
  }

  @Override
  public LockStore open() {
    namespace = "contract" + NAMESPACES.incrementAndGet();
    LockStore opened =
        RedisStore.open(cluster(version).url() + "?buckets=16&namespace=" + namespace);
    whole = opened;
    return onePart ? ((PartitionedStore) opened).partition(5) : opened;
  }

  @Override
  public Set<Capability> capabilities() {
    return EnumSet.allOf(Capability.class);
  }

  @Override
  public Duration shortTtl() {
    return Duration.ofMillis(400);
  }

  @Override
  public void close() {
    if (whole != null) {
      whole.close();
    }
  }
}
