package io.mortise.redis;

import io.mortise.testkit.contract.ContractFor;
import io.mortise.testkit.contract.client.LockClientContract;
import org.junit.jupiter.api.Tag;

/**
 * What users may take for granted on the oldest server that is supported, and where no server's
 * clock ends a session.
 */
@ContractFor({"redis", "rediss"})
@Tag("extended")
class Redis6StrictClientTest extends LockClientContract {
  Redis6StrictClientTest() {
    super(new RedisUnderTest(RedisServers.REDIS_6, "strict-expiry=true"));
  }
}
