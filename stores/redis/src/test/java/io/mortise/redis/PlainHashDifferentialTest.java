package io.mortise.redis;

import io.mortise.testkit.contract.ContractFor;
import io.mortise.testkit.contract.differential.DifferentialContract;
import org.junit.jupiter.api.Tag;

/** The re-entrant hash answers as a table of keys does. */
@ContractFor({"redis-plain", "rediss-plain"})
@Tag("extended")
class PlainHashDifferentialTest extends DifferentialContract {
  PlainHashDifferentialTest() {
    super(() -> new PlainUnderTest(RedisServers.REDIS_6, "layout=hash"), 2);
  }
}
