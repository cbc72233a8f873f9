package io.mortise.redis;

import io.mortise.testkit.contract.ContractFor;
import io.mortise.testkit.contract.store.LockStoreContract;
import org.junit.jupiter.api.Tag;

/** The published layout, on the oldest server. */
@ContractFor({"redis-plain", "rediss-plain"})
@Tag("extended")
class Plain6ContractTest extends LockStoreContract {
  Plain6ContractTest() {
    super(new PlainUnderTest(RedisServers.REDIS_6, "layout=string"));
  }
}
