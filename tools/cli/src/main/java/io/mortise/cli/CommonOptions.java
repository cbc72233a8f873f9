package io.mortise.cli;

import io.mortise.cli.help.HelpOption;
import picocli.CommandLine.Option;

/** The options of commands that do something, whether they have a store or not. */
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
