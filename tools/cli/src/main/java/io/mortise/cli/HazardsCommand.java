package io.mortise.cli;

import io.mortise.cli.help.HelpOption;
import io.mortise.console.view.HazardStory;
import io.mortise.guarantee.GuaranteeTable;
import io.mortise.torture.hazards.Hazard;
import io.mortise.torture.hazards.HazardCatalog;
import io.mortise.torture.hazards.HazardContext;
import io.mortise.torture.hazards.MissingProgramException;
import io.mortise.torture.hazards.UnexpectedOutcomeException;
import java.io.PrintStream;
import java.util.Locale;
import java.util.concurrent.Callable;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.ParameterException;
import picocli.CommandLine.Parameters;
import picocli.CommandLine.Spec;

/** {@code mortise hazards}: hazards of locks, as stories to run. */
@Command(
    name = "hazards",
    description = "Show on real servers how locks break, and what Mortise does then.",
    synopsisSubcommandLabel = "COMMAND",
    footer = {
      "",
      "Each story is played first with the lock that everybody writes first, which breaks, then with Mortise. Servers are"
          + " started from the PATH, on free ports of this host, and are gone afterwards."
    })
final class HazardsCommand implements Callable<Integer> {
  private final CliEnvironment cliEnvironment;

  @Spec private CommandSpec spec;

  @Mixin HelpOption help = new HelpOption(); // read by the parser

  HazardsCommand(CliEnvironment cliEnvironment) {
    this.cliEnvironment = cliEnvironment;
  }

  @Override
  public Integer call() {
    throw new ParameterException(spec.commandLine(), "Say list, show NAME or run NAME.");
  }

  /** Lists the names of the stories. */
  @Command(name = "list", description = "List the stories.")
  int list(@Mixin HelpOption help) {
    int width = HazardStory.all().stream().mapToInt(each -> each.name().length()).max().orElse(1);
    String line = "%-" + width + "s  %s";
    for (HazardStory story : HazardStory.all()) {
      cliEnvironment.out().println(String.format(Locale.ROOT, line, story.name(), story.title()));
    }
    return ExitStatus.OK;
  }

  /** Prints a story. */
  @Command(
      name = "show",
      description = "Tell a story without playing it. Starts nothing.",
      footer = {"", "The console tells the same stories: those that concern its store come first."})
  int show(
      @Parameters(paramLabel = "NAME", description = "As 'mortise hazards list' says.") String name,
      @Mixin HelpOption help) {
    HazardStory story = HazardStory.find(name).orElseThrow(() -> unknown(name));
    story.text(GuaranteeTable.load()).forEach(cliEnvironment.out()::println);
    return ExitStatus.OK;
  }

  private ParameterException unknown(String name) {
    return new ParameterException(
        spec.commandLine(), "There is no story '" + name + "'. See: mortise hazards list");
  }

  /** Runs a story. */
  @Command(
      name = "run",
      description = "Play a story. Takes less than a minute, one of etcd less than two.",
      footer = {
        "",
        "Exit status: 0 if it happened as told, 1 if not, 69 if a server is not installed or cannot be reached."
      })
  int run(
      @Parameters(paramLabel = "NAME", description = "As 'mortise hazards list' says.") String name,
      @Option(
              names = "--store",
              paramLabel = "URL",
              description = "Play Mortise's half on this store; not every story can.")
          @Nullable String store,
      @Mixin HelpOption help) {
    Hazard hazard = HazardCatalog.find(name).orElseThrow(() -> unknown(name));
    if (store != null && !hazard.takesStore()) {
      throw new ParameterException(
          spec.commandLine(),
          "Story '" + name + "' ends servers, so it starts its own. Leave --store out.");
    }
    // The log would repeat the story. SLF4J reads this with its first logger, which is created
    // later.
    System.setProperty("org.slf4j.simpleLogger.defaultLogLevel", "off");
    PrintStream out = cliEnvironment.out();
    out.println(hazard.name() + ": " + hazard.story().title());
    out.println("Told by: " + hazard.story().source());
    try (HazardContext hazardContext = new HazardContext(out, store)) {
      hazard.scenario().play(hazardContext);
      return ExitStatus.OK;
    } catch (UnexpectedOutcomeException e) {
      throw new CliException(ExitStatus.FAILED, String.valueOf(e.getMessage()), e);
    } catch (MissingProgramException e) {
      throw new CliException(ExitStatus.STORE, String.valueOf(e.getMessage()), e);
    } catch (RuntimeException e) {
      throw e;
    } catch (Exception e) {
      throw new IllegalStateException(e);
    }
  }
}
