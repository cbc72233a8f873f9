package io.mortise.redis;

import io.mortise.testkit.contract.ContractFor;
import io.mortise.testkit.contract.store.LockStoreContract;

/** A server of several keeps the contract of one. */
@ContractFor({"redis-sharded", "rediss-sharded"})
class ShardContractTest extends LockStoreContract {
  ShardContractTest() {
    super(new ShardedUnderTest());
  }
}
