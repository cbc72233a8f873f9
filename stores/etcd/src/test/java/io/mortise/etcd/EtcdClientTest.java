package io.mortise.etcd;

import io.mortise.testkit.contract.ContractFor;
import io.mortise.testkit.contract.client.LockClientContract;
import io.mortise.testkit.contract.document.ClocklessStoreUnderTest;
import org.junit.jupiter.api.Tag;

@ContractFor("etcd")
@Tag("extended")
class EtcdClientTest extends LockClientContract {
  EtcdClientTest() {
    super(new ClocklessStoreUnderTest(EtcdServers::shared).switchedBy(EtcdServers::forbidWrites));
  }
}
