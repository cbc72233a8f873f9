package io.mortise.curator;

import io.mortise.testkit.ContractFor;
import io.mortise.testkit.LockStoreContract;

@ContractFor("zk+curator")
class CuratorContractTest extends LockStoreContract {
  CuratorContractTest() {
    super(new CuratorUnderTest(Recipe.MUTEX));
  }
}
