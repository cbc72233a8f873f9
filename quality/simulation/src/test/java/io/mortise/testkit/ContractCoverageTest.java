package io.mortise.testkit;

import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.mortise.testkit.contract.ContractCoverage;
import java.util.Set;
import org.junit.jupiter.api.Test;

class ContractCoverageTest {
  @Test
  void givenTheStoreInMemory_thenItRunsEveryContract() {
    ContractCoverage.verify(Set.of("mem"), getClass());
  }

  @Test
  void givenStoreWithoutTests_thenEachMissingContractIsListed() {
    assertThatThrownBy(() -> ContractCoverage.verify(Set.of("mem", "nosuch"), getClass()))
        .isInstanceOf(AssertionError.class)
        .hasMessageContaining("@ContractFor(\"nosuch\") extends LockStoreContract")
        .hasMessageNotContaining("\"mem\"");
  }
}
