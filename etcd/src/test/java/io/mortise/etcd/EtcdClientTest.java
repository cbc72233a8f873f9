package io.mortise.etcd;

import io.mortise.testkit.contract.ContractFor;
import io.mortise.testkit.contract.client.LockClientContract;

@ContractFor("etcd")
class EtcdClientTest extends LockClientContract {
  EtcdClientTest() {
    super(new EtcdUnderTest());
  }
}
