package io.mortise.memcached;

import io.mortise.testkit.contract.ContractFor;
import io.mortise.testkit.contract.client.LockClientContract;

@ContractFor("memcached")
class MemcachedClientTest extends LockClientContract {
  MemcachedClientTest() {
    super(new MemcachedUnderTest());
  }
}
