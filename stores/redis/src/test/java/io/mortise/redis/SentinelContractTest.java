package io.mortise.redis;

import io.mortise.testkit.contract.ContractFor;
import io.mortise.testkit.contract.store.LockStoreContract;
import org.junit.jupiter.api.Tag;

/** The master that Sentinels name keeps the contract. */
@ContractFor({"redis-sentinel", "rediss-sentinel"})
@Tag("product")
class SentinelContractTest extends LockStoreContract {
  SentinelContractTest() {
    super(new SentinelUnderTest());
  }
}
