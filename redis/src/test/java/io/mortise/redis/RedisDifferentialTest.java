package io.mortise.redis;

import io.mortise.testkit.ContractFor;
import io.mortise.testkit.DifferentialContract;

@ContractFor({"redis", "rediss"})
class RedisDifferentialTest extends DifferentialContract {
  RedisDifferentialTest() {
    super(() -> new RedisUnderTest(Servers.REDIS_7));
  }
}
