package io.mortise.redis;

import io.mortise.testkit.contract.ContractFor;
import io.mortise.testkit.contract.differential.DifferentialContract;
import org.junit.jupiter.api.Tag;

/** Valkey answers as the reference does. */
@ContractFor({"redis", "rediss"})
@Tag("extended")
class Valkey8DifferentialTest extends DifferentialContract {
  Valkey8DifferentialTest() {
    super(() -> new RedisUnderTest(RedisServers.VALKEY_8), 2);
  }
}
