package io.mortise.cli;

import io.mortise.cli.help.HelpOption;
import io.mortise.cli.output.EventListing;
import io.mortise.cli.output.Pager;
import io.mortise.cli.output.Terminal;
import io.mortise.cli.view.FlightEvents;
import io.mortise.cli.view.FlightEvents.FlightEntry;
import io.mortise.console.view.JsonWriter;
import java.nio.file.Path;
import java.time.ZoneId;
import java.util.Comparator;
import java.util.List;
import java.util.Map;
import java.util.concurrent.Callable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.ParameterException;
import picocli.CommandLine.Parameters;
import picocli.CommandLine.Spec;

/** {@code mortise events}: lock events of a recording of the Java Flight Recorder. */
@Command(
    name = "events",
    description = "Show what a flight recording of an application tells of its locks.",
    footer = {
      "",
      "To make a recording:  java -XX:StartFlightRecording:filename=app.jfr -jar app.jar",
      "It has acquires and holds of 10 ms and more, and each loss, slow renewal and change of a session."
    })
final class EventsCommand implements Callable<Integer> {
  private final CliEnvironment cliEnvironment;

  @Mixin HelpOption help = new HelpOption(); // read by the parser

  @Spec private CommandSpec spec;

  @Parameters(paramLabel = "FILE", description = "The recording.")
  private Path file;

  @Option(
      names = "--lock",
      paramLabel = "PREFIX",
      description = "Only events of locks whose names begin so.")
  private String prefix = "";

  @Option(names = "--longest", description = "The longest first, not in order of time.")
  private boolean longest;

  @Option(names = "--limit", paramLabel = "N", description = "At most so many events.")
  private int limit = Integer.MAX_VALUE;

  @Option(names = "--json", description = "Write a JSON object.")
  private boolean json;

  EventsCommand(CliEnvironment cliEnvironment) {
    this.cliEnvironment = cliEnvironment;
  }

  @Override
  public Integer call() {
    if (limit < 1) {
      throw new ParameterException(spec.commandLine(), "--limit is at least 1, not " + limit + ".");
    }
    List<FlightEntry> found;
    try {
      found = FlightEvents.read(file);
    } catch (IllegalArgumentException e) {
      throw new ParameterException(spec.commandLine(), e.getMessage(), e);
    }
    List<FlightEntry> shown =
        found.stream()
            .filter(event -> event.lock().startsWith(prefix))
            .sorted(
                longest
                    ? Comparator.comparing(FlightEntry::took).reversed()
                    : Comparator.comparing(FlightEntry::start))
            .limit(limit)
            .toList();
    if (json) {
      cliEnvironment
          .out()
          .println(
              JsonWriter.write(Map.of("events", shown.stream().map(FlightEntry::json).toList())));
    } else if (shown.isEmpty()) {
      cliEnvironment.err().println("mortise: the recording has no such event of a lock.");
    } else {
      Pager.print(
          cliEnvironment.out(),
          cliEnvironment.variables(),
          EventListing.lines(shown, ZoneId.systemDefault(), Terminal.STDOUT.size().columns()));
    }
    return ExitStatus.OK;
  }
}
