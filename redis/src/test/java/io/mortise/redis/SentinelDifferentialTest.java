package io.mortise.redis;

import io.mortise.spi.Capability;
import io.mortise.spi.LockStore;
import io.mortise.testkit.ContractFor;
import io.mortise.testkit.DifferentialContract;
import io.mortise.testkit.StoreUnderTest;
import io.mortise.testkit.server.RedisSentinels;
import java.time.Duration;
import java.util.EnumSet;
import java.util.Set;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;

/** The master that Sentinels name answers as the reference does. */
@ContractFor({"redis-sentinel", "rediss-sentinel"})
class SentinelDifferentialTest extends DifferentialContract {
  private static final AtomicInteger NAMESPACES = new AtomicInteger();
  private static RedisSentinels set;

  SentinelDifferentialTest() {
    super(UnderTest::new, 1);
  }

  @BeforeAll
  static void start() {
    set = RedisSentinels.start(Servers.REDIS_7.binary(), Duration.ofSeconds(20));
  }

  @AfterAll
  static void stop() {
    if (set != null) {
      set.close();
    }
  }

  private static final class UnderTest implements StoreUnderTest {
    @Override
    public LockStore open() {
      return RedisStore.open(set.url() + "?namespace=d" + NAMESPACES.incrementAndGet());
    }

    @Override
    public Set<Capability> capabilities() {
      return EnumSet.allOf(Capability.class);
    }
  }
}
