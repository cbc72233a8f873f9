package io.mortise.zookeeper;

import io.mortise.testkit.contract.ContractFor;
import io.mortise.testkit.contract.differential.DifferentialContract;

@ContractFor("zk")
class ZooKeeperDifferentialTest extends DifferentialContract {
  ZooKeeperDifferentialTest() {
    super(ZooKeeperUnderTest::new);
  }
}
