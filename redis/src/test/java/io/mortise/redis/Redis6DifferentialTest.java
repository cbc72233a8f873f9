package io.mortise.redis;

import io.mortise.testkit.ContractFor;
import io.mortise.testkit.DifferentialContract;

/** The oldest server that is supported answers as the reference does. */
@ContractFor({"redis", "rediss"})
class Redis6DifferentialTest extends DifferentialContract {
  Redis6DifferentialTest() {
    super(() -> new RedisUnderTest(RedisServers.REDIS_6), 2);
  }
}
