package io.mortise.cli;

import io.mortise.cli.help.HelpLayout;
import io.mortise.cli.help.HelpOption;
import io.mortise.console.internal.view.OutputSanitizer;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.Locale;
import java.util.concurrent.Callable;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Model.OptionSpec;
import picocli.CommandLine.Model.PositionalParamSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.ParameterException;
import picocli.CommandLine.Parameters;
import picocli.CommandLine.Spec;

/** {@code mortise man}: manual pages, made of the same text as the help. */
@Command(
    name = "man",
    description = "Print the manual page of a command, or write all of them.",
    footer = {"", "To read one:  mortise man run | man -l -"})
final class ManCommand implements Callable<Integer> {
  private final CliEnvironment cliEnvironment;

  @Spec private CommandSpec spec;
  @Mixin HelpOption help = new HelpOption(); // read by the parser

  @Option(
      names = "--all-to",
      paramLabel = "FOLDER",
      description =
          "Write mortise.1 and a page of each command there. The folder is made if it is missing.")
  private @Nullable Path folder;

  @Parameters(
      paramLabel = "COMMAND",
      arity = "0..1",
      defaultValue = "",
      description = "A command of mortise. Default: mortise itself.")
  private String name = "";

  ManCommand(CliEnvironment cliEnvironment) {
    this.cliEnvironment = cliEnvironment;
  }

  @Override
  public Integer call() {
    CommandLine root = spec.root().commandLine();
    if (folder != null) {
      write(root, folder);
      return ExitStatus.OK;
    }
    CommandLine command = name.isEmpty() ? root : root.getSubcommands().get(name);
    if (command == null) {
      throw new ParameterException(
          spec.commandLine(), "There is no command '" + name + "'. See: mortise --help");
    }
    page(command.getCommandSpec()).forEach(cliEnvironment.out()::println);
    return ExitStatus.OK;
  }

  private static void write(CommandLine root, Path folder) {
    try {
      Files.createDirectories(folder);
      Files.write(folder.resolve("mortise.1"), page(root.getCommandSpec()));
      for (CommandLine command : root.getSubcommands().values()) {
        if (!command.getCommandSpec().usageMessage().hidden()) {
          Files.write(
              folder.resolve("mortise-" + command.getCommandName() + ".1"),
              page(command.getCommandSpec()));
        }
      }
    } catch (IOException e) {
      throw new CliException(
          ExitStatus.FAILED, "Cannot write manual pages to '" + folder + "': " + e + ".", e);
    }
  }

  /** In the language of man(7). */
  private static List<String> page(CommandSpec command) {
    String title = command.qualifiedName("-");
    List<String> lines = new ArrayList<>();
    lines.add(
        ".TH "
            + title.toUpperCase(Locale.ROOT).replace("-", "\\-")
            + " 1 \"\" \""
            + text(command.root().version()[0])
            + "\" \"Mortise\"");
    lines.add(".SH NAME");
    lines.add(text(title) + " \\- " + text(HelpLayout.brief(command).replaceFirst("\\.$", "")));
    lines.add(".SH SYNOPSIS");
    String[] custom = command.usageMessage().customSynopsis();
    lines.add(
        text(
            custom.length > 0
                ? custom[0]
                : command.commandLine().getHelp().synopsis(0).replaceAll("\\s+", " ").strip()));
    if (!command.positionalParameters().isEmpty()) {
      lines.add(".SH PARAMETERS");
      for (PositionalParamSpec parameter : command.positionalParameters()) {
        entry(lines, parameter.paramLabel(), parameter.description());
      }
    }
    String heading = "";
    for (OptionSpec option :
        command.options().stream()
            .filter(option -> !option.hidden())
            .sorted(
                Comparator.comparingInt(
                    option -> HelpLayout.placeOf(HelpLayout.headingOfOption(option))))
            .toList()) {
      String own = HelpLayout.headingOfOption(option);
      if (!own.equals(heading)) {
        lines.add((heading.isEmpty() ? ".SH OPTIONS\n" : "") + ".SS " + text(own));
        heading = own;
      }
      String label = option.arity().max() == 0 ? "" : " " + option.paramLabel();
      entry(lines, String.join(", ", option.names()) + label, option.description());
    }
    if (!command.subcommands().isEmpty()) {
      lines.add(".SH COMMANDS");
      for (CommandLine below : command.subcommands().values()) {
        CommandSpec spec = below.getCommandSpec();
        if (!spec.usageMessage().hidden()) {
          entry(lines, spec.name(), HelpLayout.brief(spec));
        }
      }
    }
    if (command.usageMessage().footer().length > 0) {
      lines.add(".SH NOTES");
      for (String line : command.usageMessage().footer()) {
        // A line that is set apart by blanks is one of a list.
        lines.add(
            line.isEmpty()
                ? ".PP"
                : line.matches(" {2,}\\S.*|\\S+ {2,}.*")
                    ? ".br\n" + text(line.strip())
                    : text(line));
      }
    }
    lines.add(".SH SEE ALSO");
    lines.add(text(command.parent() == null ? "mortise-run(1), mortise-ls(1)" : "mortise(1)"));
    return lines;
  }

  private static void entry(List<String> lines, String head, String... description) {
    lines.add(".TP");
    lines.add(".B " + text(head));
    lines.add(text(String.join(" ", description)));
  }

  /**
   * Text that is no request: neither a backslash nor a dot or quote at its beginning has a meaning.
   */
  private static String text(String text) {
    StringBuilder escaped = new StringBuilder();
    OutputSanitizer.text(text.replace("%n", " "))
        .codePoints()
        .forEach(
            c -> {
              switch (c) {
                case '\\' -> escaped.append("\\e");
                case '-' -> escaped.append("\\-");
                default -> {
                  if (c < 0x7F) {
                    escaped.appendCodePoint(c);
                  } else {
                    escaped.append(String.format(Locale.ROOT, "\\[u%04X]", c));
                  }
                }
              }
            });
    boolean isRequest = escaped.indexOf(".") == 0 || escaped.indexOf("'") == 0;
    return (isRequest ? "\\&" : "") + escaped;
  }
}
