package io.mortise.redis;

import io.mortise.testkit.contract.ContractFor;
import io.mortise.testkit.contract.differential.DifferentialContract;

/** The published layout answers as a table of keys does. */
@ContractFor({"redis-plain", "rediss-plain"})
class PlainDifferentialTest extends DifferentialContract {
  PlainDifferentialTest() {
    super(() -> new PlainUnderTest(RedisServers.REDIS_7, "layout=string"));
  }
}
