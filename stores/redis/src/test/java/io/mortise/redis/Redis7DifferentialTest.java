package io.mortise.redis;

import io.mortise.testkit.contract.ContractFor;
import io.mortise.testkit.contract.differential.DifferentialContract;

/** A later server answers as the reference does; behind Sentinel it is the same one. */
@ContractFor({
  "redis",
  "rediss",
  "redis-sentinel",
  "rediss-sentinel",
  "redis-sharded",
  "rediss-sharded"
})
class Redis7DifferentialTest extends DifferentialContract {
  Redis7DifferentialTest() {
    super(() -> new RedisUnderTest(RedisServers.REDIS_7));
  }
}
