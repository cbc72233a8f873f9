package io.mortise.redis;

import io.mortise.testkit.ContractFor;
import io.mortise.testkit.LockStoreContract;

/** A server of several keeps the contract of one. */
@ContractFor({"redis-sharded", "rediss-sharded"})
class ShardContractTest extends LockStoreContract {
  ShardContractTest() {
    super(new ShardedUnderTest());
  }
}
