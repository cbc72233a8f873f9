package io.mortise.cli.child;

import java.util.List;

/** What {@code mortise run} waits for. */
public sealed interface RunEvent {
  /** The attempt to acquire is over: granted or failed. */
  record AcquireCompleted() implements RunEvent {}

  /** The command has ended. */
  record ChildExited(int status) implements RunEvent {}

  /** The lease is lost. */
  record LeaseLost() implements RunEvent {}

  /** A signal came. */
  record SignalReceived(String name, int number) implements RunEvent {
    /** Those that ask for the end of the tool. */
    public static final List<String> ENDING = List.of("INT", "TERM", "HUP");

    /** Whether it asks for the end of the tool. */
    public boolean endsTool() {
      return ENDING.contains(name);
    }
  }
}
