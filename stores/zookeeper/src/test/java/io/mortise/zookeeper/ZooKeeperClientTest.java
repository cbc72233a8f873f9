package io.mortise.zookeeper;

import io.mortise.testkit.contract.ContractFor;
import io.mortise.testkit.contract.client.LockClientContract;
import org.junit.jupiter.api.Tag;

@ContractFor("zk")
@Tag("extended")
class ZooKeeperClientTest extends LockClientContract {
  ZooKeeperClientTest() {
    super(new ZooKeeperUnderTest());
  }
}
