package io.mortise.simulation;

import io.mortise.simulation.Simulation.Outcome;
import io.mortise.testkit.history.Violation;
import java.util.List;
import java.util.stream.Collectors;

/**
 * The report of a run that broke a property: a minimal set of faults, the trace, and the command to
 * repeat it.
 */
final class SimulationReport {
  private static final int LINES = 120;

  private SimulationReport() {}

  static String of(Outcome outcome) {
    Outcome small = Simulation.run(shrunk(outcome).withTrace());
    Violation violation = small.violations().get(0);
    List<String> trace = small.trace();
    String left =
        outcome.scenario().faults().stream()
            .filter(simFault -> !small.scenario().has(simFault))
            .map(Enum::name)
            .collect(Collectors.joining(","));
    return String.format(
        "Seed %d breaks '%s' on lock '%s': %s%nFaults that it needs: %s%nThe end of its trace:%n%s%nRepeat with:%n"
            + "  ./mvnw -pl quality/simulation -am test -Dtest=%s -Dsurefire.failIfNoSpecifiedTests=false"
            + " -Dmortise.sim.seed=%d%s%n",
        outcome.scenario().seed(),
        violation.rule(),
        violation.lock(),
        violation.message(),
        small.scenario().faults(),
        trace.stream().skip(Math.max(0, trace.size() - LINES)).collect(Collectors.joining("\n")),
        small.scenario().store() == Scenario.StoreKind.TABLE
            ? "SimulationTest"
            : "DocumentSimulationTest",
        outcome.scenario().seed(),
        left.isEmpty() ? "" : " -Dmortise.sim.without=" + left);
  }

  /** Removes faults one by one while the same property stays broken. */
  private static Scenario shrunk(Outcome outcome) {
    String rule = outcome.violations().get(0).rule();
    Scenario smallest = outcome.scenario();
    for (SimFault simFault : SimFault.values()) {
      if (smallest.has(simFault)) {
        Scenario fewer = smallest.without(simFault);
        List<Violation> violations = Simulation.run(fewer).violations();
        if (!violations.isEmpty() && violations.get(0).rule().equals(rule)) {
          smallest = fewer;
        }
      }
    }
    return smallest;
  }
}
