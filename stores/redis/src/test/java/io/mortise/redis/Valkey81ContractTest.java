package io.mortise.redis;

import io.mortise.testkit.contract.ContractFor;
import io.mortise.testkit.contract.store.LockStoreContract;
import org.junit.jupiter.api.Tag;

/** Valkey 8.1 keeps the contract. */
@ContractFor({"redis", "rediss"})
@Tag("product")
class Valkey81ContractTest extends LockStoreContract {
  Valkey81ContractTest() {
    super(new RedisUnderTest(RedisServers.VALKEY_8_1));
  }
}
