package io.mortise.curator;

import io.mortise.testkit.contract.ContractFor;
import io.mortise.testkit.contract.store.LockStoreContract;
import org.junit.jupiter.api.Tag;

@ContractFor("zk+curator")
@Tag("extended")
class CuratorContractTest extends LockStoreContract {
  CuratorContractTest() {
    super(new CuratorUnderTest(Recipe.MUTEX));
  }
}
