package io.mortise.etcd;

import io.mortise.testkit.contract.ContractFor;
import io.mortise.testkit.contract.differential.DifferentialContract;
import io.mortise.testkit.contract.document.ClocklessStoreUnderTest;
import org.junit.jupiter.api.Tag;

@ContractFor("etcd")
@Tag("extended")
class EtcdDifferentialTest extends DifferentialContract {
  EtcdDifferentialTest() {
    super(() -> new ClocklessStoreUnderTest(EtcdServers::shared));
  }
}
