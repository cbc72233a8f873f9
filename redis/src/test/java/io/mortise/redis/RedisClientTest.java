package io.mortise.redis;

import io.mortise.testkit.ContractFor;
import io.mortise.testkit.LockClientContract;

@ContractFor({"redis", "rediss"})
class RedisClientTest extends LockClientContract {
  RedisClientTest() {
    super(new RedisUnderTest(Servers.REDIS_7));
  }
}
