package io.mortise.redis;

import io.mortise.testkit.contract.ContractFor;
import io.mortise.testkit.contract.client.LockClientContract;
import org.junit.jupiter.api.Tag;

/** The client contract, on the master that Sentinels name. */
@ContractFor({"redis-sentinel", "rediss-sentinel"})
@Tag("product")
class SentinelClientTest extends LockClientContract {
  SentinelClientTest() {
    super(new SentinelUnderTest());
  }
}
