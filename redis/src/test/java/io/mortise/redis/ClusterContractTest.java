package io.mortise.redis;

import io.mortise.testkit.contract.ContractFor;
import io.mortise.testkit.contract.store.LockStoreContract;

/** A bucket of a cluster keeps the contract. */
@ContractFor({"redis-cluster", "rediss-cluster"})
class ClusterContractTest extends LockStoreContract {
  ClusterContractTest() {
    super(new ClusterUnderTest(true));
  }
}
