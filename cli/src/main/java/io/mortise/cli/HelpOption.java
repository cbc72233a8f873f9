package io.mortise.cli;

import picocli.CommandLine.Option;

/** The option that each command has. */
class HelpOption {
  @Option(
      names = {"-h", "--help"},
      usageHelp = true,
      description = "Show this help.")
  boolean help; // read by the parser
}
