package io.mortise.redis;

import io.mortise.testkit.contract.ContractFor;
import io.mortise.testkit.contract.client.LockClientContract;

/** The client contract, on a later server. */
@ContractFor({"redis", "rediss"})
class Redis7ClientTest extends LockClientContract {
  Redis7ClientTest() {
    super(new RedisUnderTest(RedisServers.REDIS_7));
  }
}
