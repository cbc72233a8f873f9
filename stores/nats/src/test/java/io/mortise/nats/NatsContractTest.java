package io.mortise.nats;

import io.mortise.testkit.contract.ContractFor;
import io.mortise.testkit.contract.document.ClocklessStoreUnderTest;
import io.mortise.testkit.contract.store.LockStoreContract;

@ContractFor("nats")
class NatsContractTest extends LockStoreContract {
  NatsContractTest() {
    super(new ClocklessStoreUnderTest(NatsServers::shared));
  }
}
