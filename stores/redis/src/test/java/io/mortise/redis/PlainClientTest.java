package io.mortise.redis;

import io.mortise.testkit.contract.ContractFor;
import io.mortise.testkit.contract.client.LockClientContract;
import org.junit.jupiter.api.Tag;

/** The client contract, on a key with an expiry. */
@ContractFor({"redis-plain", "rediss-plain"})
@Tag("extended")
class PlainClientTest extends LockClientContract {
  PlainClientTest() {
    super(new PlainUnderTest(RedisServers.REDIS_7, "layout=string"));
  }
}
