package io.mortise.testkit.contract.differential;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.catchThrowableOfType;

import io.mortise.spi.Capability;
import io.mortise.support.table.TableRules;
import io.mortise.testkit.MemStoreUnderTest;
import io.mortise.testkit.Seed;
import io.mortise.testkit.TableRuleMutants;
import io.mortise.testkit.contract.ContractFor;
import java.util.EnumSet;
import java.util.stream.Stream;
import org.junit.jupiter.api.DynamicTest;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.TestFactory;

/**
 * The store in memory answers like the lock table. A removed rule makes a difference, which shows
 * that the comparison is effective.
 */
@ContractFor("mem")
class MemDifferentialTest extends DifferentialContract {
  MemDifferentialTest() {
    super(MemStoreUnderTest::new);
  }

  @TestFactory
  Stream<DynamicTest> givenRuleTakenAway_thenTheDifferenceIsFoundAndShortened() {
    return TableRuleMutants.ANSWERING.entrySet().stream()
        .map(
            mutant ->
                DynamicTest.dynamicTest(
                    mutant.getKey(),
                    () -> {
                      AssertionError found = null;
                      for (int seed = 1; seed <= 20 && found == null; seed++) {
                        Mutated mutated = new Mutated(mutant.getValue());
                        Seed fixed = new Seed(seed);
                        found =
                            catchThrowableOfType(
                                AssertionError.class, () -> mutated.check(fixed, 400));
                      }
                      assertThat(found).isNotNull();
                      assertThat(found).hasMessageContaining("-Dmortise.seed=");
                      assertThat(found.getMessage().lines().filter(l -> l.matches(" +\\d+  .*")))
                          .as(found.getMessage())
                          .hasSizeLessThan(20);
                    }));
  }

  @Test
  void givenStoresThatLackSomething_thenTheyAnswerAlikeToo() {
    // Except stores without sessions, whose answers differ by nature.
    for (Capability lacking : EnumSet.complementOf(EnumSet.of(Capability.SESSION))) {
      DifferentialContract contract =
          new DifferentialContract(() -> MemStoreUnderTest.without(lacking)) {};
      contract.check(Seed.draw(), 200);
    }
    new DifferentialContract(
        () -> new MemStoreUnderTest(EnumSet.of(Capability.SESSION), TableRules.ALL)) {}.check(
        Seed.draw(), 200);
  }

  private static final class Mutated extends DifferentialContract {
    Mutated(TableRules rules) {
      super(() -> new MemStoreUnderTest(EnumSet.allOf(Capability.class), rules));
    }
  }
}
