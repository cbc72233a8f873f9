package io.mortise.redis;

import io.mortise.testkit.contract.ContractFor;
import io.mortise.testkit.contract.store.LockStoreContract;
import org.junit.jupiter.api.Tag;

/** Valkey keeps the contract. */
@ContractFor({"redis", "rediss"})
@Tag("product")
class Valkey8ContractTest extends LockStoreContract {
  Valkey8ContractTest() {
    super(new RedisUnderTest(RedisServers.VALKEY_8));
  }
}
