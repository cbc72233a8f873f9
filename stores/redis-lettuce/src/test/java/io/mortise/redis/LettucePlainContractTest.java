package io.mortise.redis;

import io.mortise.testkit.contract.ContractFor;
import io.mortise.testkit.contract.store.LockStoreContract;
import org.junit.jupiter.api.Tag;

/** The published layout, over Lettuce. */
@ContractFor({"redis-plain", "rediss-plain"})
@Tag("product")
class LettucePlainContractTest extends LockStoreContract {
  LettucePlainContractTest() {
    super(new PlainUnderTest(RedisServers.REDIS_6, "layout=string&wire=lettuce"));
  }
}
