package io.mortise.redis;

import io.mortise.testkit.contract.ContractFor;
import io.mortise.testkit.contract.client.LockClientContract;

/** What users may take for granted, on a server of several. */
@ContractFor({"redis-sharded", "rediss-sharded"})
class ShardClientTest extends LockClientContract {
  ShardClientTest() {
    super(new ShardedUnderTest());
  }
}
