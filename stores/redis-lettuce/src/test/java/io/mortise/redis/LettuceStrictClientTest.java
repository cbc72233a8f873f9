package io.mortise.redis;

import io.mortise.testkit.contract.ContractFor;
import io.mortise.testkit.contract.client.LockClientContract;
import org.junit.jupiter.api.Tag;

/** What users may take for granted over Lettuce, and where no server's clock ends a session. */
@ContractFor({"redis", "rediss"})
@Tag("product")
class LettuceStrictClientTest extends LockClientContract {
  LettuceStrictClientTest() {
    super(new RedisUnderTest(RedisServers.REDIS_6, "wire=lettuce&strict-expiry=true"));
  }
}
