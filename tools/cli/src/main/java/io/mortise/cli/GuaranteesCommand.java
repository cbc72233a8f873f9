package io.mortise.cli;

import io.mortise.cli.help.HelpOption;
import io.mortise.cli.output.GuaranteePage;
import io.mortise.cli.output.Pager;
import io.mortise.console.view.GuaranteeFormatter;
import io.mortise.console.view.JsonWriter;
import io.mortise.guarantee.GuaranteeTable;
import io.mortise.guarantee.StoreMode;
import java.io.PrintStream;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.Callable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.ParameterException;
import picocli.CommandLine.Parameters;
import picocli.CommandLine.Spec;

/** {@code mortise guarantees}: the guarantee table. */
@Command(
    name = "guarantees",
    description = "Print what becomes of locks when something goes wrong, store by store.",
    footer = {
      "",
      "It is said of exclusive locks. 'Detected by token' helps only where the resource compares tokens; shared holds"
          + " and permits have none that could be compared. 'mortise doctor' says which of these modes your store is in."
    })
final class GuaranteesCommand implements Callable<Integer> {
  private final CliEnvironment cliEnvironment;

  @Spec private CommandSpec spec;

  @Parameters(
      arity = "0..1",
      paramLabel = "STORE",
      description = "One kind of store, or one of its modes: redis, redis/everysec. Says why, too.")
  private String wanted = "";

  @Option(names = "--json", description = "Write a JSON array of modes with their cells.")
  private boolean json;

  @Option(
      names = "--markdown",
      description =
          "Write the page docs/reference/guarantees.md; with STORE, the page with that store's reasons.")
  private boolean markdown;

  @Mixin HelpOption help = new HelpOption(); // read by the parser

  GuaranteesCommand(CliEnvironment cliEnvironment) {
    this.cliEnvironment = cliEnvironment;
  }

  @Override
  public Integer call() {
    GuaranteeTable table = GuaranteeTable.load();
    PrintStream out = cliEnvironment.out();
    List<StoreMode> modes =
        table.modes().stream()
            .filter(
                mode -> wanted.isEmpty() || mode.id().equals(wanted) || mode.store().equals(wanted))
            .toList();
    if (modes.isEmpty() && wanted.indexOf(':') >= 0) {
      throw new ParameterException(
          spec.commandLine(),
          "This takes a kind of store, like redis or redis/everysec. For the store of a URL say:"
              + " mortise doctor --store URL");
    }
    if (modes.isEmpty()) {
      throw new ParameterException(
          spec.commandLine(),
          "There is no store '"
              + wanted
              + "' in the table. Known: "
              + String.join(", ", table.modes().stream().map(StoreMode::id).toList())
              + ".");
    }
    if (markdown) {
      GuaranteePage page = new GuaranteePage(table);
      (wanted.isEmpty() ? page.lines() : page.lines(modes.get(0).store())).forEach(out::println);
      return ExitStatus.OK;
    }
    if (json) {
      out.println(
          JsonWriter.write(
              modes.stream().map(mode -> GuaranteeFormatter.json(table, mode)).toList()));
      return ExitStatus.OK;
    }
    List<String> lines = new ArrayList<>();
    for (StoreMode mode : modes) {
      lines.add(mode.id() + ": " + GuaranteeFormatter.plain(mode.title()));
      (wanted.isEmpty()
              ? GuaranteeFormatter.summary(table.row(mode.id()))
              : GuaranteeFormatter.details(table.row(mode.id())))
          .forEach(line -> lines.add("  " + line));
      lines.add("");
    }
    Pager.print(out, cliEnvironment.variables(), lines);
    return ExitStatus.OK;
  }
}
