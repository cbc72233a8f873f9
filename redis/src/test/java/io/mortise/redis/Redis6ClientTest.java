package io.mortise.redis;

import io.mortise.testkit.ContractFor;
import io.mortise.testkit.LockClientContract;

/** What users may take for granted, on the oldest server that is supported and over Lettuce. */
@ContractFor({"redis", "rediss"})
class Redis6ClientTest extends LockClientContract {
  Redis6ClientTest() {
    super(new RedisUnderTest(Servers.REDIS_6, "lettuce"));
  }
}
