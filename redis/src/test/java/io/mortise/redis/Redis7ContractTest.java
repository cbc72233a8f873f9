package io.mortise.redis;

import io.mortise.testkit.ContractFor;
import io.mortise.testkit.LockStoreContract;

/** A later server keeps the contract just as well. */
@ContractFor({"redis", "rediss"})
class Redis7ContractTest extends LockStoreContract {
  Redis7ContractTest() {
    super(new RedisUnderTest(Servers.REDIS_7));
  }
}
