package io.mortise.redis;

import io.mortise.testkit.contract.ContractFor;
import io.mortise.testkit.contract.store.LockStoreContract;

/** Over Lettuce, too, the store keeps the contract. */
@ContractFor({"redis", "rediss"})
class LettuceContractTest extends LockStoreContract {
  LettuceContractTest() {
    super(new RedisUnderTest(RedisServers.REDIS_7, "wire=lettuce"));
  }
}
