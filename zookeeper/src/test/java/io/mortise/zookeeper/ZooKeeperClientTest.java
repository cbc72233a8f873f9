package io.mortise.zookeeper;

import io.mortise.testkit.ContractFor;
import io.mortise.testkit.LockClientContract;

@ContractFor("zk")
class ZooKeeperClientTest extends LockClientContract {
  ZooKeeperClientTest() {
    super(new ZooKeeperUnderTest());
  }
}
