package io.mortise.curator;

import io.mortise.testkit.ContractFor;
import io.mortise.testkit.LockClientContract;

@ContractFor("zk+curator")
class CuratorClientTest extends LockClientContract {
  CuratorClientTest() {
    super(new CuratorUnderTest(Recipe.READ_WRITE));
  }
}
