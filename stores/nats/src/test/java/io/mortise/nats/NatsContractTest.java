package io.mortise.nats;

import io.mortise.testkit.contract.ContractFor;
import io.mortise.testkit.contract.document.ClocklessStoreUnderTest;
import io.mortise.testkit.contract.store.LockStoreContract;
import org.junit.jupiter.api.Tag;

@ContractFor("nats")
@Tag("extended")
class NatsContractTest extends LockStoreContract {
  NatsContractTest() {
    super(new ClocklessStoreUnderTest(NatsServers::shared));
  }
}
