package io.mortise.redis;

import io.mortise.testkit.contract.ContractFor;
import io.mortise.testkit.contract.store.LockStoreContract;
import io.mortise.testserver.RedisSentinels;
import java.time.Duration;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Tag;

/** The master that Sentinels name keeps the contract. */
@ContractFor({"redis-sentinel", "rediss-sentinel"})
@Tag("product")
class SentinelContractTest extends LockStoreContract {
  private static RedisSentinels set;

  SentinelContractTest() {
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
