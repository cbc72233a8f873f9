package io.mortise.memcached;

import io.mortise.testkit.contract.ContractFor;
import io.mortise.testkit.contract.store.LockStoreContract;

@ContractFor("memcached")
class MemcachedContractTest extends LockStoreContract {
  MemcachedContractTest() {
    super(new MemcachedUnderTest());
  }
}
