package io.mortise.redis;

import io.mortise.testkit.contract.ContractFor;
import io.mortise.testkit.contract.store.LockStoreContract;
import org.junit.jupiter.api.Tag;

/** Redis 8 keeps the contract. */
@ContractFor({"redis", "rediss"})
@Tag("product")
class Redis8ContractTest extends LockStoreContract {
  Redis8ContractTest() {
    super(new RedisUnderTest(RedisServers.REDIS_8));
  }
}
