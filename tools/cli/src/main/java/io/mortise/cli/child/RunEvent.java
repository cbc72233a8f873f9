package io.mortise.cli.child;

import java.util.List;

/** Events of {@code mortise run}. */
public sealed interface RunEvent {
  /** The attempt to acquire is over: granted or failed. */
  record AcquireCompleted() implements RunEvent {}

  /** The command has ended. */
  record ChildExited(int status) implements RunEvent {}

  /** The lease is lost. */
  record LeaseLost() implements RunEvent {}

  /** A signal has arrived. */
  record SignalReceived(String name, int number) implements RunEvent {
    /** Signals that ask for the end of the tool. */
    public static final List<String> ENDING = List.of("INT", "TERM", "HUP");

    /** Whether it asks for the end of the tool. */
    public boolean endsTool() {
      return ENDING.contains(name);
    }
  }
}
