package io.mortise.redis;

import io.mortise.testkit.ContractFor;
import io.mortise.testkit.LockClientContract;

/** What users may take for granted over Lettuce, and where no server's clock ends a session. */
@ContractFor({"redis", "rediss"})
class LettuceStrictClientTest extends LockClientContract {
  LettuceStrictClientTest() {
    super(new RedisUnderTest(RedisServers.REDIS_6, "wire=lettuce&strict-expiry=true"));
  }
}
