package io.mortise.redis;

import io.mortise.testkit.contract.ContractFor;
import io.mortise.testkit.contract.store.LockStoreContract;
import org.junit.jupiter.api.Tag;

/** Over Lettuce, too, the store keeps the contract. */
@ContractFor({"redis", "rediss"})
@Tag("extended")
class LettuceContractTest extends LockStoreContract {
  LettuceContractTest() {
    super(new RedisUnderTest(RedisServers.REDIS_7, "wire=lettuce"));
  }
}
