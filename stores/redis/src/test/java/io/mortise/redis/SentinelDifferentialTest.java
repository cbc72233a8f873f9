package io.mortise.redis;

import io.mortise.testkit.contract.ContractFor;
import io.mortise.testkit.contract.differential.DifferentialContract;
import org.junit.jupiter.api.Tag;

/** The master that Sentinels name answers as the reference does. */
@ContractFor({"redis-sentinel", "rediss-sentinel"})
@Tag("extended")
class SentinelDifferentialTest extends DifferentialContract {
  SentinelDifferentialTest() {
    super(SentinelUnderTest::new, 1);
  }
}
