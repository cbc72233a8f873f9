package io.mortise.zookeeper;

import io.mortise.testkit.ContractFor;
import io.mortise.testkit.LockStoreContract;

@ContractFor("zk")
class ZooKeeperContractTest extends LockStoreContract {
  ZooKeeperContractTest() {
    super(new ZooKeeperUnderTest());
  }
}
