package io.mortise.nats;

import io.mortise.testkit.contract.ContractFor;
import io.mortise.testkit.contract.client.LockClientContract;
import io.mortise.testkit.contract.document.ClocklessStoreUnderTest;
import org.junit.jupiter.api.Tag;

@ContractFor("nats")
@Tag("product")
class NatsClientTest extends LockClientContract {
  NatsClientTest() {
    super(new ClocklessStoreUnderTest(NatsServers::shared).switchedBy(NatsServers::forbidWrites));
  }
}
