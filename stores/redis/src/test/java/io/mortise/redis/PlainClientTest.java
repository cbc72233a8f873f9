package io.mortise.redis;

import io.mortise.testkit.contract.ContractFor;
import io.mortise.testkit.contract.client.LockClientContract;
import org.junit.jupiter.api.Tag;

/** What users may take for granted on a key with an expiry. */
@ContractFor({"redis-plain", "rediss-plain"})
@Tag("extended")
class PlainClientTest extends LockClientContract {
  PlainClientTest() {
    super(new PlainUnderTest(RedisServers.REDIS_7, "layout=string"));
  }
}
