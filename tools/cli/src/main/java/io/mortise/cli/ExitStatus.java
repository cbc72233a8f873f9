package io.mortise.cli;

/**
 * What the tool's exit status says. Numbers of {@code sysexits.h} where it has one; {@code mortise
 * run} otherwise ends as its command did.
 */
final class ExitStatus {
  static final int OK = 0;

  /** Something went wrong that is none of the cases below. */
  static final int FAILED = 1;

  /** The command line is wrong: {@code EX_USAGE}. */
  static final int USAGE = 64;

  /** The store cannot be reached, or must not be used as it is: {@code EX_UNAVAILABLE}. */
  static final int STORE = 69;

  /** A defect in the tool itself: {@code EX_SOFTWARE}. */
  static final int DEFECT = 70;

  /** The lock could not be had in time: {@code EX_TEMPFAIL}, trying later helps. */
  static final int NOT_HAD = 75;

  /** The lock was lost while the command ran. */
  static final int LOST = 76;

  /** As shells have it: the command is there but cannot be executed. */
  static final int NOT_EXECUTABLE = 126;

  /** As shells have it. */
  static final int NOT_FOUND = 127;

  private ExitStatus() {}

  /** As shells have it: ended by that signal. */
  static int bySignal(int number) {
    return 128 + number;
  }
}
