package io.mortise.etcd;

import io.mortise.testkit.contract.ContractFor;
import io.mortise.testkit.contract.differential.DifferentialContract;

@ContractFor("etcd")
class EtcdDifferentialTest extends DifferentialContract {
  EtcdDifferentialTest() {
    super(EtcdUnderTest::new);
  }
}
