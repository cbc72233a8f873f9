package io.mortise.cli;

/** What {@code mortise run} waits for. */
sealed interface Event {
  /** The attempt to acquire is over: granted or failed. */
  record Answered() implements Event {}

  /** The command has ended. */
  record Exited(int status) implements Event {}

  /** The lease is lost. */
  record Lost() implements Event {}

  /** A signal came. */
  record Signalled(String name, int number) implements Event {}
}
