package io.mortise.cli;

import io.mortise.LockException;
import io.mortise.LockTimeoutException;
import io.mortise.UnsupportedByStoreException;
import io.mortise.cli.help.CommandGuess;
import io.mortise.cli.help.HelpLayout;
import io.mortise.cli.view.LockSelection;
import io.mortise.console.ConsoleAction;
import io.mortise.console.view.OutputSanitizer;
import io.mortise.spi.time.DurationText;
import java.io.PrintStream;
import java.io.PrintWriter;
import java.nio.charset.Charset;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Collections;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.function.Supplier;
import picocli.CommandLine;
import picocli.CommandLine.Command;
import picocli.CommandLine.IVersionProvider;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.ParameterException;
import picocli.CommandLine.Spec;
import picocli.CommandLine.TypeConversionException;
import picocli.CommandLine.UnmatchedArgumentException;

/** Entry point of the {@code mortise} tool. */
@Command(
    name = "mortise",
    description = "Distributed locks on the command line.",
    mixinStandardHelpOptions = true,
    versionProvider = Main.Version.class,
    synopsisSubcommandLabel = "COMMAND")
public final class Main implements Runnable {

  private static final Set<String> COMMON =
      Set.of("--store", "-q", "--quiet", "-v", "--verbose", "--json");

  /** Commands that list the others. */
  private static final Set<String> NEEDS_ALL = Set.of("help", "completion", "man");

  @Spec private CommandSpec spec;

  private Main() {}

  /**
   * Runs one command and ends the process with its exit status.
   *
   * @param args the command line
   */
  public static void main(String[] args) {
    int status = execute(CliEnvironment.ofProcess(new StoreConnector(System.getenv())), args);
    System.out.flush();
    System.exit(status);
  }

  /** Runs one command. The parser does not see arguments behind the first {@code --}. */
  static int execute(CliEnvironment cliEnvironment, String... args) {
    int split = Arrays.asList(args).indexOf("--");
    String[] own = commandFirst(split < 0 ? args : Arrays.copyOf(args, split));
    List<String> command =
        split < 0 ? List.of() : Arrays.asList(args).subList(split + 1, args.length);
    PrintStream err = cliEnvironment.err();
    CommandLine line = new CommandLine(new Main());
    Map<String, Supplier<Object>> commands = commands(cliEnvironment, command);
    String word = own.length == 0 ? "" : own[0];
    // Reading the annotations of all commands would take a third of the time of 'ls'.
    if (commands.containsKey(word) && !NEEDS_ALL.contains(word)) {
      line.addSubcommand(commands.get(word).get());
    } else {
      commands.values().forEach(each -> line.addSubcommand(each.get()));
    }
    line.setExpandAtFiles(false)
        .setOut(new PrintWriter(cliEnvironment.out(), true, Charset.defaultCharset()))
        .setErr(new PrintWriter(err, true, Charset.defaultCharset()))
        .setUsageHelpAutoWidth(false)
        .setUsageHelpWidth(100)
        .setParameterExceptionHandler((wrong, words) -> usage(err, wrong))
        .setExecutionExceptionHandler((trouble, where, parsed) -> trouble(err, where, trouble));
    line.registerConverter(Duration.class, Main::duration);
    registerChoice(line, LockSelection.StateFilter.class);
    registerChoice(line, LockSelection.SortOrder.class);
    registerChoice(line, ConsoleAction.class);
    registerChoice(line, CompletionCommand.Shell.class);
    HelpLayout.applyTo(line);
    return line.execute(own);
  }

  private static Map<String, Supplier<Object>> commands(
      CliEnvironment cliEnvironment, List<String> command) {
    Map<String, Supplier<Object>> commands = new LinkedHashMap<>();
    commands.put("run", () -> new RunCommand(cliEnvironment, command));
    commands.put("ls", () -> new ListCommand(cliEnvironment));
    commands.put("show", () -> new ShowCommand(cliEnvironment));
    commands.put("waits", () -> new WaitsCommand(cliEnvironment));
    commands.put("top", () -> new TopCommand(cliEnvironment));
    commands.put("console", () -> new ConsoleCommand(cliEnvironment));
    commands.put("events", () -> new EventsCommand(cliEnvironment));
    commands.put("evict", () -> new EvictCommand(cliEnvironment));
    commands.put("doctor", () -> new DoctorCommand(cliEnvironment));
    commands.put("guarantees", () -> new GuaranteesCommand(cliEnvironment));
    commands.put("hazards", () -> new HazardsCommand(cliEnvironment));
    commands.put("torture", () -> new TortureCommand(cliEnvironment));
    commands.put("help", CommandLine.HelpCommand::new);
    commands.put("completion", () -> new CompletionCommand(cliEnvironment, command));
    commands.put("man", () -> new ManCommand(cliEnvironment));
    return commands;
  }

  /** Moves the command before a store or flag that precedes it, as other tools allow. */
  private static String[] commandFirst(String[] words) {
    int first = 0;
    while (first < words.length && COMMON.contains(words[first].replaceFirst("=.*", ""))) {
      first += words[first].equals("--store") ? 2 : 1;
    }
    if (first >= words.length) {
      return words;
    }
    List<String> ordered = new ArrayList<>(Arrays.asList(words));
    Collections.rotate(ordered, -first);
    return ordered.toArray(String[]::new);
  }

  @Override
  public void run() {
    throw new ParameterException(spec.commandLine(), "No command given.");
  }

  private static Duration duration(String text) {
    try {
      return DurationText.parse(text);
    } catch (IllegalArgumentException e) {
      throw new TypeConversionException(e.getMessage());
    }
  }

  /** Registers an enum, with the names of its values as written. */
  private static <T extends Enum<T>> void registerChoice(CommandLine line, Class<T> type) {
    List<T> values = List.of(type.getEnumConstants());
    line.registerConverter(
        type,
        text ->
            values.stream()
                .filter(value -> value.toString().equals(text))
                .findFirst()
                .orElseThrow(
                    () ->
                        new TypeConversionException(
                            "expected one of " + values + " but was '" + text + "'")));
  }

  private static int usage(PrintStream err, ParameterException wrong) {
    say(err, message(wrong));
    if (!(wrong instanceof UnmatchedArgumentException unmatched) || unmatched.isUnknownOption()) {
      UnmatchedArgumentException.printSuggestions(wrong, wrong.getCommandLine().getErr());
    }
    err.println("Try '" + wrong.getCommandLine().getCommandSpec().qualifiedName() + " --help'.");
    return ExitStatus.USAGE;
  }

  private static String message(ParameterException wrong) {
    if (!(wrong instanceof UnmatchedArgumentException unmatched) || unmatched.isUnknownOption()) {
      return String.valueOf(wrong.getMessage());
    }
    CommandLine line = wrong.getCommandLine();
    String word = unmatched.getUnmatched().get(0);
    if (line.getParent() == null) {
      return "There is no command '"
          + word
          + "'."
          + CommandGuess.of(word, line.getSubcommands().keySet())
              .map(guess -> " Did you mean: mortise " + guess)
              .orElse("");
    }
    return "'"
        + word
        + "' is one word too many."
        + (line.getCommandName().equals("run")
            ? " The command stands behind --, like: mortise run NAME -- COMMAND"
            : "");
  }

  /** Prints one line that says what to do; the stack trace only on demand. */
  private static int trouble(PrintStream err, CommandLine where, Exception trouble) {
    int status = status(trouble);
    String message = String.valueOf(trouble.getMessage());
    if (status == ExitStatus.DEFECT) {
      message = "This is a defect in mortise; --verbose shows where: " + trouble;
    }
    if (!message.isEmpty()) {
      say(err, message);
    }
    if (where.getParseResult() != null && where.getParseResult().hasMatchedOption("--verbose")) {
      trouble.printStackTrace(err);
    }
    return status;
  }

  private static int status(Exception trouble) {
    if (trouble instanceof CliException cliException) {
      return cliException.status();
    }
    if (trouble instanceof LockTimeoutException) {
      return ExitStatus.NOT_HAD;
    }
    if (trouble instanceof IllegalArgumentException
        || trouble instanceof UnsupportedByStoreException) {
      return ExitStatus.USAGE;
    }
    return trouble instanceof LockException ? ExitStatus.STORE : ExitStatus.DEFECT;
  }

  private static void say(PrintStream err, String message) {
    err.println("mortise: " + OutputSanitizer.text(message));
  }

  /** The version that the build wrote into the manifest. */
  static final class Version implements IVersionProvider {
    @Override
    public String[] getVersion() {
      String version = Main.class.getPackage().getImplementationVersion();
      return new String[] {"mortise " + (version == null ? "(not packaged)" : version)};
    }
  }
}
