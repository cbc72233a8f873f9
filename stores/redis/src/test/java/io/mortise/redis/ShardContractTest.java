package io.mortise.redis;

import io.mortise.testkit.contract.ContractFor;
import io.mortise.testkit.contract.store.LockStoreContract;
import org.junit.jupiter.api.Tag;

/** One server of several keeps the contract of a single one. */
@ContractFor({"redis-sharded", "rediss-sharded"})
@Tag("extended")
class ShardContractTest extends LockStoreContract {
  ShardContractTest() {
    super(new ShardedUnderTest());
  }
}
