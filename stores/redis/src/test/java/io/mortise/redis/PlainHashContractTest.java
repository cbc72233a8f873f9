package io.mortise.redis;

import io.mortise.testkit.contract.ContractFor;
import io.mortise.testkit.contract.store.LockStoreContract;
import org.junit.jupiter.api.Tag;

/** The re-entrant hash. */
@ContractFor({"redis-plain", "rediss-plain"})
@Tag("product")
class PlainHashContractTest extends LockStoreContract {
  PlainHashContractTest() {
    super(new PlainUnderTest(RedisServers.REDIS_7, "layout=hash"));
  }
}
