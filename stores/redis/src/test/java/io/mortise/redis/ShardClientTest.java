package io.mortise.redis;

import io.mortise.testkit.contract.ContractFor;
import io.mortise.testkit.contract.client.LockClientContract;
import org.junit.jupiter.api.Tag;

/** The client contract, on one server of several. */
@ContractFor({"redis-sharded", "rediss-sharded"})
@Tag("product")
class ShardClientTest extends LockClientContract {
  ShardClientTest() {
    super(new ShardedUnderTest());
  }
}
