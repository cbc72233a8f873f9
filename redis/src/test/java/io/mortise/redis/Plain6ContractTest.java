package io.mortise.redis;

import io.mortise.testkit.contract.ContractFor;
import io.mortise.testkit.contract.store.LockStoreContract;

/** The published layout, on the oldest server. */
@ContractFor({"redis-plain", "rediss-plain"})
class Plain6ContractTest extends LockStoreContract {
  Plain6ContractTest() {
    super(new PlainUnderTest(RedisServers.REDIS_6, "layout=string"));
  }
}
