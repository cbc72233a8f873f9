package io.mortise.redis;

import io.mortise.testkit.ContractFor;
import io.mortise.testkit.LockClientContract;

/** What users may take for granted, on a later server. */
@ContractFor({"redis", "rediss"})
class Redis7ClientTest extends LockClientContract {
  Redis7ClientTest() {
    super(new RedisUnderTest(Servers.REDIS_7));
  }
}
