package io.mortise.redis;

import io.mortise.testkit.contract.ContractFor;
import io.mortise.testkit.contract.client.LockClientContract;
import org.junit.jupiter.api.Tag;

/** The client contract over Lettuce, with strict expiry. */
@ContractFor({"redis", "rediss"})
@Tag("product")
class LettuceStrictClientTest extends LockClientContract {
  LettuceStrictClientTest() {
    super(new RedisUnderTest(RedisServers.REDIS_6, "wire=lettuce&strict-expiry=true"));
  }
}
