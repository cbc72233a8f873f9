package io.mortise.cli;

/**
 * Exit statuses of the tool, those of {@code sysexits.h} where possible. {@code mortise run}
 * otherwise returns its command's.
 */
final class ExitStatus {
  static final int OK = 0;

  /** Any failure other than the ones below. */
  static final int FAILED = 1;

  /** The command line is wrong: {@code EX_USAGE}. */
  static final int USAGE = 64;

  /** The store cannot be reached, or must not be used as it is: {@code EX_UNAVAILABLE}. */
  static final int STORE = 69;

  /** A defect in the tool itself: {@code EX_SOFTWARE}. */
  static final int DEFECT = 70;

  /** The lock was not acquired in time: {@code EX_TEMPFAIL}, a later retry may help. */
  static final int NOT_HAD = 75;

  /** The lock was lost while the command ran. */
  static final int LOST = 76;

  /** As in shells: the command exists but cannot be executed. */
  static final int NOT_EXECUTABLE = 126;

  /** As in shells: the command was not found. */
  static final int NOT_FOUND = 127;

  private ExitStatus() {}

  /** As in shells: the command was ended by this signal. */
  static int bySignal(int number) {
    return 128 + number;
  }
}
