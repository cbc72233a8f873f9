package io.mortise.redis;

import io.mortise.testkit.contract.ContractFor;
import io.mortise.testkit.contract.differential.DifferentialContract;
import org.junit.jupiter.api.Tag;

/** The oldest server that is supported answers as the reference does. */
@ContractFor({"redis", "rediss"})
@Tag("product")
class Redis6DifferentialTest extends DifferentialContract {
  Redis6DifferentialTest() {
    super(() -> new RedisUnderTest(RedisServers.REDIS_6), 2);
  }
}
