package io.mortise.testkit;

import static org.assertj.core.api.Assertions.assertThat;
import static org.junit.platform.engine.discovery.DiscoverySelectors.selectClass;

import io.mortise.spi.Capability;
import io.mortise.support.table.TableRules;
import io.mortise.testkit.contract.store.LockStoreContract;
import java.util.EnumSet;
import java.util.Map;
import java.util.stream.Stream;
import org.junit.jupiter.api.DynamicTest;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.TestFactory;
import org.junit.platform.launcher.LauncherDiscoveryRequest;
import org.junit.platform.launcher.core.LauncherDiscoveryRequestBuilder;
import org.junit.platform.launcher.core.LauncherFactory;
import org.junit.platform.launcher.listeners.SummaryGeneratingListener;
import org.junit.platform.launcher.listeners.TestExecutionSummary;

/** The contract fails for a store that breaks any of the rules: so its tests are effective. */
@Tag("extended")
class TableRuleMutantsTest {
  private static final ThreadLocal<TableRules> RULES =
      ThreadLocal.withInitial(() -> TableRules.ALL);

  static final class Mutated extends LockStoreContract {
    Mutated() {
      super(new MemStoreUnderTest(EnumSet.allOf(Capability.class), RULES.get()));
    }
  }

  @TestFactory
  Stream<DynamicTest> givenRuleTakenAway_thenTheContractFails() {
    return Stream.of(TableRuleMutants.ANSWERING, TableRuleMutants.PATIENT)
        .flatMap(mutants -> mutants.entrySet().stream())
        .map(
            (Map.Entry<String, TableRules> mutant) ->
                DynamicTest.dynamicTest(
                    mutant.getKey(),
                    () -> assertThat(run(mutant.getValue()).getTestsFailedCount()).isPositive()));
  }

  @Test
  void givenEveryRule_thenTheContractHolds() {
    TestExecutionSummary summary = run(TableRules.ALL);
    assertThat(summary.getTestsFailedCount()).isZero();
    assertThat(summary.getTestsSucceededCount()).isGreaterThan(100);
  }

  private static TestExecutionSummary run(TableRules rules) {
    RULES.set(rules);
    // In memory an answer is there at once or never.
    System.setProperty(BoundedWait.FACTOR, "0.01");
    try {
      SummaryGeneratingListener listener = new SummaryGeneratingListener();
      LauncherDiscoveryRequest request =
          LauncherDiscoveryRequestBuilder.request().selectors(selectClass(Mutated.class)).build();
      LauncherFactory.create().execute(request, listener);
      listener
          .getSummary()
          .getFailures()
          .forEach(
              failure ->
                  System.out.println(
                      "  caught by " + failure.getTestIdentifier().getDisplayName()));
      return listener.getSummary();
    } finally {
      System.clearProperty(BoundedWait.FACTOR);
      RULES.remove();
    }
  }
}
