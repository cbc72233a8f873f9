package io.mortise.redis;

import io.mortise.testkit.contract.ContractFor;
import io.mortise.testkit.contract.differential.DifferentialContract;
import org.junit.jupiter.api.Tag;

/** A bucket of a cluster of the oldest servers answers as the reference does. */
@ContractFor({"redis-cluster", "rediss-cluster"})
@Tag("product")
class ClusterDifferentialTest extends DifferentialContract {
  ClusterDifferentialTest() {
    super(() -> new ClusterUnderTest(RedisServers.REDIS_6, true), 3);
  }
}
