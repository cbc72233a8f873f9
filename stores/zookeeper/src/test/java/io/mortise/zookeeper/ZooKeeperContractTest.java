package io.mortise.zookeeper;

import io.mortise.testkit.contract.ContractFor;
import io.mortise.testkit.contract.store.LockStoreContract;

@ContractFor("zk")
class ZooKeeperContractTest extends LockStoreContract {
  ZooKeeperContractTest() {
    super(new ZooKeeperUnderTest());
  }
}
