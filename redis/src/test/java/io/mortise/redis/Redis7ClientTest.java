package io.mortise.redis;

import io.mortise.testkit.contract.ContractFor;
import io.mortise.testkit.contract.client.LockClientContract;

/** What users may take for granted, on a later server; behind Sentinel it is the same one. */
@ContractFor({
  "redis",
  "rediss",
  "redis-sentinel",
  "rediss-sentinel",
  "redis-sharded",
  "rediss-sharded"
})
class Redis7ClientTest extends LockClientContract {
  Redis7ClientTest() {
    super(new RedisUnderTest(RedisServers.REDIS_7));
  }
}
