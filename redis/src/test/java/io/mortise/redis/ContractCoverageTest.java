package io.mortise.redis;

import io.mortise.testkit.ContractCoverage;
import io.mortise.testkit.LockClientContract;
import io.mortise.testkit.LockStoreContract;
import java.util.List;
import java.util.Set;
import org.junit.jupiter.api.Test;

class ContractCoverageTest {
  /** Each part of a sharded store is a store of one server. */
  @Test
  void givenEverySchemeOfTheModule_thenItRunsEveryContract() {
    ContractCoverage.verify(Set.of("redis", "rediss"), getClass());
    ContractCoverage.verify(
        new RedisStoreProvider().schemes(),
        List.of(LockStoreContract.class, LockClientContract.class),
        getClass());
  }
}
