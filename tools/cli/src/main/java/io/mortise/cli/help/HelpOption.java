package io.mortise.cli.help;

import picocli.CommandLine.Option;

/** The option that each command has. */
public class HelpOption {
  @Option(
      names = {"-h", "--help"},
      usageHelp = true,
      description = "Show this help.")
  boolean help; // read by the parser

  /** Made by the parser, and by commands that mix it in. */
  public HelpOption() {}
}
