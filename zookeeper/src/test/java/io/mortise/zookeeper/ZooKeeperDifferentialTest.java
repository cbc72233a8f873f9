package io.mortise.zookeeper;

import io.mortise.testkit.ContractFor;
import io.mortise.testkit.DifferentialContract;

@ContractFor("zk")
class ZooKeeperDifferentialTest extends DifferentialContract {
  ZooKeeperDifferentialTest() {
    super(ZooKeeperUnderTest::new);
  }
}
