package io.mortise.redis;

import io.mortise.testkit.contract.ContractFor;
import io.mortise.testkit.contract.client.LockClientContract;

/** What users may take for granted, on a cluster. */
@ContractFor({"redis-cluster", "rediss-cluster"})
class ClusterClientTest extends LockClientContract {
  ClusterClientTest() {
    super(new ClusterUnderTest(false));
  }
}
