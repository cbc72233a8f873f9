package io.mortise.cli;

import io.mortise.cli.output.Pager;
import io.mortise.cli.view.StoreDiagnostics;
import io.mortise.console.view.DoctorReport;
import io.mortise.console.view.GuaranteeFormatter;
import io.mortise.console.view.JsonWriter;
import io.mortise.console.view.OutputSanitizer;
import io.mortise.guarantee.GuaranteeTable;
import io.mortise.guarantee.StoreMode;
import io.mortise.spi.LockStore;
import io.mortise.spi.StoreReport;
import io.mortise.spi.StoreReport.Finding;
import io.mortise.spi.StoreReport.Grade;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.Callable;
import java.util.stream.Collectors;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Option;

/** {@code mortise doctor}: the guarantees of a user's own servers. */
@Command(
    name = "doctor",
    description = "Look at the settings of the store's server, and say what locks on it guarantee.",
    footer = {
      "",
      "It makes what a server lacks to be opened, such as tables, but no file. It takes one lock, mortise-doctor, and"
          + " gives it back; it changes nothing else. Exit status: 0 if nothing takes away a guarantee that"
          + " this store can give; 1 if something does, or could not be found out; 69 if the store cannot be reached or"
          + " must not be used as it is."
    })
final class DoctorCommand implements Callable<Integer> {
  private final CliEnvironment cliEnvironment;
  private final GuaranteeTable table = GuaranteeTable.load();

  @Mixin private StoreOptions store;

  @Option(names = "--json", description = "Write a JSON object.")
  private boolean json;

  DoctorCommand(CliEnvironment cliEnvironment) {
    this.cliEnvironment = cliEnvironment;
    this.store = new StoreOptions(cliEnvironment);
  }

  @Override
  public Integer call() {
    StoreReport report;
    String display;
    try (LockStore opened = store.open()) {
      display = opened.profile().display();
      report = new StoreDiagnostics(opened).run();
    }
    if (json) {
      cliEnvironment.out().println(JsonWriter.write(DoctorReport.json(display, report, table)));
    } else {
      print(display, report, DoctorReport.mode(report, table));
    }
    return DoctorReport.isHealthy(report) ? ExitStatus.OK : ExitStatus.FAILED;
  }

  private void print(String display, StoreReport report, Optional<StoreMode> mode) {
    List<String> out = new ArrayList<>();
    out.add("Store " + shown(display));
    out.add("");
    report.findings().forEach(finding -> print(out, finding));
    out.add("");
    if (mode.isEmpty()) {
      out.add("The guarantee table has no row for this kind of store yet.");
      Pager.print(cliEnvironment.out(), cliEnvironment.variables(), out);
      return;
    }
    out.add(
        "It is in mode "
            + mode.get().id()
            + ": "
            + GuaranteeFormatter.plain(mode.get().title())
            + ".");
    out.add("What becomes of exclusive locks when something goes wrong:");
    GuaranteeFormatter.summary(table.row(mode.get().id())).forEach(line -> out.add("  " + line));
    out.add("");
    out.add("Why, and which test shows it: mortise guarantees " + mode.get().id());
    Pager.print(cliEnvironment.out(), cliEnvironment.variables(), out);
  }

  private void print(List<String> out, Finding finding) {
    String head = finding.id() + (finding.value().isEmpty() ? "" : ": " + finding.value());
    out.add(sign(finding.grade()) + shown(head));
    if (finding.grade() == Grade.FINE && !store.verbose) {
      return;
    }
    String concerns =
        finding.faults().stream()
            .sorted()
            .map(fault -> table.fault(fault).title())
            .collect(Collectors.joining(", "));
    String text = finding.meaning() + (concerns.isEmpty() ? "" : " Decides: " + concerns + ".");
    GuaranteeFormatter.wrap(shown(text), 90).forEach(line -> out.add("        " + line));
    if (!finding.remedy().isEmpty()) {
      GuaranteeFormatter.wrap("For more: " + shown(finding.remedy()), 90)
          .forEach(line -> out.add("        " + line));
    }
  }

  private static String sign(Grade grade) {
    return switch (grade) {
      case FINE -> "  ok    ";
      case NOTE -> "  note  ";
      case WEAK -> "  WEAK  ";
      case UNKNOWN -> "  ?     ";
    };
  }

  /** Sanitizes values from a server: removes control characters and secrets. */
  private static String shown(String text) {
    return OutputSanitizer.text(OutputSanitizer.hide(text));
  }
}
