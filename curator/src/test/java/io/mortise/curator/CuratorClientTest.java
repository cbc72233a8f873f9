package io.mortise.curator;

import io.mortise.testkit.contract.ContractFor;
import io.mortise.testkit.contract.client.LockClientContract;

@ContractFor("zk+curator")
class CuratorClientTest extends LockClientContract {
  CuratorClientTest() {
    super(new CuratorUnderTest(Recipe.READ_WRITE));
  }
}
