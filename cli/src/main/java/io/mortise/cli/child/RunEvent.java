package io.mortise.cli.child;

/** What {@code mortise run} waits for. */
public sealed interface RunEvent {
  /** The attempt to acquire is over: granted or failed. */
  record AcquireCompleted() implements RunEvent {}

  /** The command has ended. */
  record ChildExited(int status) implements RunEvent {}

  /** The lease is lost. */
  record LeaseLost() implements RunEvent {}

  /** A signal came. */
  record SignalReceived(String name, int number) implements RunEvent {}
}
