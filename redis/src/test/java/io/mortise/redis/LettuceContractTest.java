package io.mortise.redis;

import io.mortise.testkit.ContractFor;
import io.mortise.testkit.LockStoreContract;

/** The contract is kept over Lettuce just as well. */
@ContractFor({"redis", "rediss"})
class LettuceContractTest extends LockStoreContract {
  LettuceContractTest() {
    super(new RedisUnderTest(Servers.REDIS_7, "lettuce"));
  }
}
