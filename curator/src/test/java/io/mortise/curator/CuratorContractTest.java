package io.mortise.curator;

import io.mortise.testkit.contract.ContractFor;
import io.mortise.testkit.contract.store.LockStoreContract;

@ContractFor("zk+curator")
class CuratorContractTest extends LockStoreContract {
  CuratorContractTest() {
    super(new CuratorUnderTest(Recipe.MUTEX));
  }
}
