package io.mortise.cli;

import io.mortise.cli.help.HelpOption;
import picocli.CommandLine.Option;

/** Options of commands, with or without a store. */
class CommonOptions extends HelpOption {
  @Option(
      names = {"-q", "--quiet"},
      description = "Say nothing but errors.")
  boolean quiet;

  @Option(
      names = {"-v", "--verbose"},
      description = "Log what happens, and show where an error comes from.")
  boolean verbose;
}
