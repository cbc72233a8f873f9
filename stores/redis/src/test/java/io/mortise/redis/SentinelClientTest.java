package io.mortise.redis;

import io.mortise.testkit.contract.ContractFor;
import io.mortise.testkit.contract.client.LockClientContract;
import io.mortise.testserver.RedisSentinels;
import java.time.Duration;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Tag;

/** The client contract, on the master that Sentinels name. */
@ContractFor({"redis-sentinel", "rediss-sentinel"})
@Tag("product")
class SentinelClientTest extends LockClientContract {
  private static RedisSentinels set;

  SentinelClientTest() {
    super(new SentinelUnderTest(() -> set));
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
