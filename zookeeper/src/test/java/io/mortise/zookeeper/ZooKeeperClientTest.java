package io.mortise.zookeeper;

import io.mortise.testkit.contract.ContractFor;
import io.mortise.testkit.contract.client.LockClientContract;

@ContractFor("zk")
class ZooKeeperClientTest extends LockClientContract {
  ZooKeeperClientTest() {
    super(new ZooKeeperUnderTest());
  }
}
