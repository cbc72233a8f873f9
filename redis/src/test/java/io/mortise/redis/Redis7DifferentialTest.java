package io.mortise.redis;

import io.mortise.testkit.ContractFor;
import io.mortise.testkit.DifferentialContract;

/** A later server answers as the reference does. */
@ContractFor({"redis", "rediss"})
class Redis7DifferentialTest extends DifferentialContract {
  Redis7DifferentialTest() {
    super(() -> new RedisUnderTest(Servers.REDIS_7));
  }
}
