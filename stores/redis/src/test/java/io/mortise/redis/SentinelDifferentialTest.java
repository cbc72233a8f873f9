package io.mortise.redis;

import io.mortise.testkit.contract.ContractFor;
import io.mortise.testkit.contract.differential.DifferentialContract;
import io.mortise.testserver.RedisSentinels;
import java.time.Duration;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Tag;

/** The master that Sentinels name answers as the reference does. */
@ContractFor({"redis-sentinel", "rediss-sentinel"})
@Tag("extended")
class SentinelDifferentialTest extends DifferentialContract {
  private static RedisSentinels set;

  SentinelDifferentialTest() {
    super(() -> new SentinelUnderTest(() -> set), 1);
  }

  @BeforeAll
  static void start() {
    set = RedisSentinels.start(RedisServers.REDIS_7.binary(), Duration.ofSeconds(20));
  }

  @AfterAll
  static void stop() {
    if (set != null) {
      set.close();
    }
  }
}
