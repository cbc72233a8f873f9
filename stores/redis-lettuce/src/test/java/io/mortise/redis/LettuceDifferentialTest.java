package io.mortise.redis;

import io.mortise.testkit.contract.ContractFor;
import io.mortise.testkit.contract.differential.DifferentialContract;

/** Over Lettuce, too, the store answers as the reference does. */
@ContractFor({"redis", "rediss"})
class LettuceDifferentialTest extends DifferentialContract {
  LettuceDifferentialTest() {
    super(() -> new RedisUnderTest(RedisServers.REDIS_7, "wire=lettuce"), 2);
  }
}
