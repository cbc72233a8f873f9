package io.mortise.cli;

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
import picocli.AutoComplete;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Parameters;
import picocli.CommandLine.Spec;

/**
 * {@code mortise completion}: shell completion. bash and zsh get picocli's script; fish calls this
 * command for each line that it completes.
 */
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
  private final CliEnvironment cliEnvironment;
  private final List<String> line;

  /** The supported shells. */
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

  /**
   * Creates the command with the words to complete, the one under the cursor last; without words it
   * prints a script.
   */
  CompletionCommand(CliEnvironment cliEnvironment, List<String> line) {
    this.cliEnvironment = cliEnvironment;
    this.line = line;
  }

  @Override
  public Integer call() {
    if (!line.isEmpty()) {
      complete();
      return ExitStatus.OK;
    }
    if (shell != Shell.FISH) {
      cliEnvironment.out().print(AutoComplete.bash("mortise", spec.root().commandLine()));
    }
    cliEnvironment
        .out()
        .print(resource(shell == Shell.FISH ? "completion.fish" : "completion.bash"));
    return ExitStatus.OK;
  }

  private void complete() {
    String word = line.get(line.size() - 1);
    List<CharSequence> endings = new ArrayList<>();
    AutoComplete.complete(
        spec.root(),
        line.toArray(String[]::new),
        line.size() - 1,
        word.length(),
        word.length(),
        endings);
    endings.forEach(ending -> cliEnvironment.out().println(word + ending));
  }

  private static String resource(String name) {
    try (InputStream in = CompletionCommand.class.getResourceAsStream(name)) {
      return new String(Objects.requireNonNull(in, name).readAllBytes(), StandardCharsets.UTF_8);
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }
}
