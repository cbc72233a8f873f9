package io.mortise.memcached;

import io.mortise.testkit.contract.ContractFor;
import io.mortise.testkit.contract.client.LockClientContract;
import org.junit.jupiter.api.Tag;

@ContractFor("memcached")
@Tag("extended")
class MemcachedClientTest extends LockClientContract {
  MemcachedClientTest() {
    super(new MemcachedUnderTest());
  }
}
