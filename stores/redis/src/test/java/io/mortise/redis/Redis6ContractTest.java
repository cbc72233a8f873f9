package io.mortise.redis;

import io.mortise.testkit.contract.ContractFor;
import io.mortise.testkit.contract.store.LockStoreContract;
import org.junit.jupiter.api.Tag;

/** The oldest server that is supported keeps the contract. */
@ContractFor({"redis", "rediss"})
@Tag("product")
class Redis6ContractTest extends LockStoreContract {
  Redis6ContractTest() {
    super(new RedisUnderTest(RedisServers.REDIS_6));
  }
}
