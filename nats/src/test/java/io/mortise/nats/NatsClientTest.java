package io.mortise.nats;

import io.mortise.testkit.contract.ContractFor;
import io.mortise.testkit.contract.client.LockClientContract;

@ContractFor("nats")
class NatsClientTest extends LockClientContract {
  NatsClientTest() {
    super(new NatsUnderTest());
  }
}
