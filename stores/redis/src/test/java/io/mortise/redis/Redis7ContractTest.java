package io.mortise.redis;

import io.mortise.testkit.contract.ContractFor;
import io.mortise.testkit.contract.store.LockStoreContract;

/** A later server keeps the contract just as well; behind Sentinel it is the same one. */
@ContractFor({
  "redis",
  "rediss",
  "redis-sentinel",
  "rediss-sentinel",
  "redis-sharded",
  "rediss-sharded"
})
class Redis7ContractTest extends LockStoreContract {
  Redis7ContractTest() {
    super(new RedisUnderTest(RedisServers.REDIS_7));
  }
}
