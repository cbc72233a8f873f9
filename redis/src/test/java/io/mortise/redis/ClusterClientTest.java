package io.mortise.redis;

import io.mortise.testkit.ContractFor;
import io.mortise.testkit.LockClientContract;

/** What users may take for granted, on a cluster. */
@ContractFor({"redis-cluster", "rediss-cluster"})
class ClusterClientTest extends LockClientContract {
  ClusterClientTest() {
    super(new ClusterUnderTest(false));
  }
}
