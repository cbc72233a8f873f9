package io.mortise.simulation.toy;

import io.mortise.testkit.contract.ContractCoverage;
import java.util.Set;
import org.junit.jupiter.api.Test;

class ToyStoreCoverageTest {
  @Test
  void givenToyStore_thenItRunsEveryContract() {
    ContractCoverage.verify(Set.of("toy", "toy-clockless"), getClass());
  }
}
