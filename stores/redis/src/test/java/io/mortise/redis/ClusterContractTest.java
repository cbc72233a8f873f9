package io.mortise.redis;

import io.mortise.testkit.contract.ContractFor;
import io.mortise.testkit.contract.store.LockStoreContract;
import org.junit.jupiter.api.Tag;

/** A bucket of a cluster keeps the contract. */
@ContractFor({"redis-cluster", "rediss-cluster"})
@Tag("extended")
class ClusterContractTest extends LockStoreContract {
  ClusterContractTest() {
    super(new ClusterUnderTest(true));
  }
}
