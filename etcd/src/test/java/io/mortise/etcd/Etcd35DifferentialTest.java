package io.mortise.etcd;

import io.mortise.testkit.contract.ContractFor;
import io.mortise.testkit.contract.differential.DifferentialContract;
import org.junit.jupiter.api.Tag;

/** Etcd 3.5, whose gateway words some answers otherwise, answers as the reference does. */
@ContractFor("etcd")
@Tag("extended")
class Etcd35DifferentialTest extends DifferentialContract {
  Etcd35DifferentialTest() {
    super(() -> new EtcdUnderTest(EtcdServers::later), 1);
  }
}
