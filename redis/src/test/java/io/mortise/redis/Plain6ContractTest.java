package io.mortise.redis;

import io.mortise.testkit.ContractFor;
import io.mortise.testkit.LockStoreContract;

/** The published layout, on the oldest server. */
@ContractFor({"redis-plain", "rediss-plain"})
class Plain6ContractTest extends LockStoreContract {
  Plain6ContractTest() {
    super(new PlainUnderTest(RedisServers.REDIS_6, "layout=string"));
  }
}
