package io.mortise.redis;

import io.mortise.testkit.contract.ContractFor;
import io.mortise.testkit.contract.client.LockClientContract;
import org.junit.jupiter.api.Tag;

/** The client contract on the oldest supported server, with strict expiry. */
@ContractFor({"redis", "rediss"})
@Tag("extended")
class Redis6StrictClientTest extends LockClientContract {
  Redis6StrictClientTest() {
    super(new RedisUnderTest(RedisServers.REDIS_6, "strict-expiry=true"));
  }
}
