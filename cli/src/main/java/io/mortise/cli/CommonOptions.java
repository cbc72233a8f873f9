package io.mortise.cli;

import picocli.CommandLine.Option;

/** The options that all commands share, whether they have a store or not. */
class CommonOptions {
  @Option(
      names = {"-q", "--quiet"},
      description = "Say nothing but errors.")
  boolean quiet;

  @Option(
      names = {"-v", "--verbose"},
      description = "Log what happens, and show where an error comes from.")
  boolean verbose;

  @Option(
      names = {"-h", "--help"},
      usageHelp = true,
      description = "Show this help.")
  boolean help; // read by the parser
}
