package io.mortise.etcd;

import io.mortise.testkit.contract.ContractFor;
import io.mortise.testkit.contract.document.ClocklessStoreUnderTest;
import io.mortise.testkit.contract.store.LockStoreContract;

@ContractFor("etcd")
class EtcdContractTest extends LockStoreContract {
  EtcdContractTest() {
    super(new ClocklessStoreUnderTest(EtcdServers::shared));
  }
}
