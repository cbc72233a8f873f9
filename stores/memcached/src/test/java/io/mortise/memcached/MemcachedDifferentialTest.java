package io.mortise.memcached;

import io.mortise.testkit.contract.ContractFor;
import io.mortise.testkit.contract.differential.DifferentialContract;

@ContractFor("memcached")
class MemcachedDifferentialTest extends DifferentialContract {
  MemcachedDifferentialTest() {
    super(MemcachedUnderTest::new, 2);
  }
}
