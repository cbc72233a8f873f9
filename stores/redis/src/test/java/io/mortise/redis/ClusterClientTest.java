package io.mortise.redis;

import io.mortise.testkit.contract.ContractFor;
import io.mortise.testkit.contract.client.LockClientContract;
import org.junit.jupiter.api.Tag;

/** The client contract, on a cluster. */
@ContractFor({"redis-cluster", "rediss-cluster"})
@Tag("product")
class ClusterClientTest extends LockClientContract {
  ClusterClientTest() {
    super(new ClusterUnderTest(false));
  }
}
