package io.mortise.etcd;

import io.mortise.testkit.contract.ContractFor;
import io.mortise.testkit.contract.differential.DifferentialContract;
import io.mortise.testkit.contract.document.ClocklessStoreUnderTest;
import org.junit.jupiter.api.Tag;

/** Etcd 3.5, whose gateway words some answers otherwise, answers as the reference does. */
@ContractFor("etcd")
@Tag("product")
class Etcd35DifferentialTest extends DifferentialContract {
  Etcd35DifferentialTest() {
    super(() -> new ClocklessStoreUnderTest(EtcdServers::later), 1);
  }
}
