package io.mortise.cli;

import io.mortise.cli.help.HelpLayout;
import io.mortise.cli.help.HelpOption;
import java.io.IOException;
import java.io.InputStream;
import java.io.UncheckedIOException;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.Objects;
import java.util.concurrent.Callable;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import java.util.stream.StreamSupport;
import picocli.CommandLine;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Model.OptionSpec;
import picocli.CommandLine.Parameters;
import picocli.CommandLine.Spec;

/** {@code mortise completion}: what a shell needs to complete command lines of the tool. */
@Command(
    name = "completion",
    description = "Print what a shell needs to complete commands, options and names of locks.",
    footer = {
      "",
      "bash   source <(mortise completion bash), in ~/.bashrc",
      "zsh    source <(mortise completion zsh), in ~/.zshrc behind compinit",
      "fish   mortise completion fish > ~/.config/fish/completions/mortise.fish"
    })
final class CompletionCommand implements Callable<Integer> {
  /** Commands whose parameter is the name of a lock. */
  private static final List<String> NAMED = List.of("run", "ls", "show", "evict");

  private final CliEnvironment cliEnvironment;

  /** The shells that are known. */
  enum Shell {
    BASH,
    ZSH,
    FISH;

    @Override
    public String toString() {
      return name().toLowerCase(Locale.ROOT);
    }
  }

  @Spec private CommandSpec spec;
  @Mixin HelpOption help = new HelpOption(); // read by the parser

  @Parameters(paramLabel = "SHELL", description = "One of ${COMPLETION-CANDIDATES}.")
  private Shell shell = Shell.BASH;

  CompletionCommand(CliEnvironment cliEnvironment) {
    this.cliEnvironment = cliEnvironment;
  }

  @Override
  public Integer call() {
    List<CommandLine> commands = commands();
    template()
        .lines()
        .flatMap(line -> filled(line, commands))
        .forEach(cliEnvironment.out()::println);
    return ExitStatus.OK;
  }

  private List<CommandLine> commands() {
    return spec.root().subcommands().values().stream()
        .filter(command -> !command.getCommandSpec().usageMessage().hidden())
        .toList();
  }

  private String template() {
    String name = "completion." + shell;
    try (InputStream in = CompletionCommand.class.getResourceAsStream(name)) {
      return new String(Objects.requireNonNull(in, name).readAllBytes(), StandardCharsets.UTF_8);
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }

  private Stream<String> filled(String line, List<CommandLine> commands) {
    return switch (line.strip()) {
      case "@CASES@" -> commands.stream().flatMap(command -> cases(command).stream());
      case "@VALUES@" -> commands.stream().flatMap(command -> values(command).stream());
      case "@LINES@" -> commands.stream().flatMap(command -> fish(command).stream());
      default ->
          Stream.of(
              line.replace("@COMMANDS@", names(commands))
                  .replace("*:@NAMED@)", "*:" + String.join(" | *:", NAMED) + ")"));
    };
  }

  private static String names(List<CommandLine> commands) {
    return commands.stream().map(CommandLine::getCommandName).collect(Collectors.joining(" "));
  }

  /** The words that a command itself takes, other than names of locks. */
  private String words(CommandLine command, List<CommandLine> commands) {
    if (command.getCommandName().matches("help|man")) {
      return names(commands);
    }
    return Stream.concat(
            command.getSubcommands().keySet().stream(),
            command.getCommandSpec().positionalParameters().stream()
                .filter(parameter -> parameter.completionCandidates() != null)
                .flatMap(parameter -> stream(parameter.completionCandidates())))
        .collect(Collectors.joining(" "));
  }

  private List<String> cases(CommandLine command) {
    String options =
        options(command)
            .flatMap(option -> Stream.of(option.names()))
            .collect(Collectors.joining(" "));
    String words = words(command, commands());
    boolean bash = shell == Shell.BASH;
    List<String> lines = new ArrayList<>();
    lines.add("    " + command.getCommandName() + ")");
    lines.add("      options=" + (bash ? "'" + options + "'" : "(" + options + ")"));
    if (!words.isEmpty()) {
      lines.add("      candidates=" + (bash ? "'" + words + "'" : "(" + words + ")"));
    }
    lines.add("      ;;");
    return lines;
  }

  private List<String> values(CommandLine command) {
    return options(command)
        .filter(option -> option.completionCandidates() != null)
        .map(
            option -> {
              String words = stream(option.completionCandidates()).collect(Collectors.joining(" "));
              return "    "
                  + command.getCommandName()
                  + option.longestName()
                  + ") candidates="
                  + (shell == Shell.BASH ? "'" + words + "'" : "(" + words + ")")
                  + " ;;";
            })
        .toList();
  }

  private List<String> fish(CommandLine command) {
    String name = command.getCommandName();
    String seen =
        "complete -c mortise -n '__fish_seen_subcommand_from "
            + name
            + "; and not __mortise_wraps'";
    List<String> lines = new ArrayList<>();
    lines.add(
        "complete -c mortise -n __fish_use_subcommand -a "
            + name
            + " -d "
            + quoted(HelpLayout.brief(command.getCommandSpec())));
    for (OptionSpec option : options(command).toList()) {
      StringBuilder line = new StringBuilder(seen);
      for (String optionName : option.names()) {
        line.append(optionName.startsWith("--") ? " -l " : " -s ")
            .append(optionName.replaceFirst("^-+", ""));
      }
      if (option.arity().min() > 0) {
        line.append(" -x");
      }
      if (option.completionCandidates() != null) {
        line.append(" -a ")
            .append(quoted(stream(option.completionCandidates()).collect(Collectors.joining(" "))));
      }
      lines.add(line.append(" -d ").append(quoted(firstSentence(option))).toString());
    }
    String words = words(command, commands());
    if (!words.isEmpty()) {
      lines.add(seen + " -a " + quoted(words));
    }
    if (NAMED.contains(name)) {
      lines.add(seen + " -a '(__mortise_names)'");
    }
    return lines;
  }

  private static Stream<OptionSpec> options(CommandLine command) {
    return command.getCommandSpec().options().stream().filter(option -> !option.hidden());
  }

  private static String firstSentence(OptionSpec option) {
    String text = String.join(" ", option.description());
    int end = text.indexOf(". ");
    return end < 0 ? text : text.substring(0, end + 1);
  }

  private static String quoted(String text) {
    return "'" + text.replace("\\", "\\\\").replace("'", "\\'") + "'";
  }

  private static Stream<String> stream(Iterable<String> texts) {
    return StreamSupport.stream(texts.spliterator(), false);
  }
}
