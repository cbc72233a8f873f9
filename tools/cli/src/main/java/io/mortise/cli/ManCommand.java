package io.mortise.cli;

import io.mortise.cli.help.HelpLayout;
import io.mortise.cli.help.HelpOption;
import io.mortise.console.view.OutputSanitizer;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.concurrent.Callable;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine;
import picocli.CommandLine.Command;
import picocli.CommandLine.Help;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.ParameterException;
import picocli.CommandLine.Parameters;
import picocli.CommandLine.Spec;

/** {@code mortise man}: manual pages, generated from the help. */
@Command(
    name = "man",
    description = "Print the manual page of a command, or write all of them.",
    footer = {"", "To read one:  mortise man run | man -l -"})
final class ManCommand implements Callable<Integer> {
  /** Columns of the text: man(1) indents it by seven on a terminal of eighty. */
  private static final int WIDTH = 72;

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

  /** The sections of the help, in the language of man(7). */
  private static List<String> page(CommandSpec command) {
    command.usageMessage().width(WIDTH);
    Help help = new Help(command, Help.defaultColorScheme(Help.Ansi.OFF));
    String title = command.qualifiedName("-");
    List<String> lines = new ArrayList<>();
    lines.add(
        ".TH "
            + text(title.toUpperCase(Locale.ROOT))
            + " 1 \"\" \""
            + text(command.root().version()[0])
            + "\" \"Mortise\"");
    lines.add(".SH NAME");
    lines.add(text(title) + " \\- " + text(HelpLayout.brief(command).replaceFirst("\\.$", "")));
    section(lines, "SYNOPSIS", help.synopsis(0));
    section(lines, "PARAMETERS", help.parameterList());
    section(lines, "OPTIONS", HelpLayout.options(help));
    section(lines, "COMMANDS", HelpLayout.commands(help));
    section(lines, "NOTES", help.footer());
    lines.add(".SH SEE ALSO");
    lines.add(text(command.parent() == null ? "mortise-run(1), mortise-ls(1)" : "mortise(1)"));
    return lines;
  }

  /**
   * Adds the help below a heading. In a list of options or commands, an unindented line is a
   * heading.
   */
  private static void section(List<String> lines, String heading, String help) {
    if (help.isBlank()) {
      return;
    }
    lines.add(".SH " + heading);
    lines.add(".nf");
    boolean grouped = heading.equals("OPTIONS") || heading.equals("COMMANDS");
    help.lines()
        .filter(line -> !line.isBlank())
        .map(line -> grouped && !line.startsWith(" ") ? ".SS " + text(line) + "\n.nf" : text(line))
        .forEach(lines::add);
    lines.add(".fi");
  }

  /** Escapes text: neither a backslash nor a leading dot or quote has a meaning. */
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
