package io.mortise.cli.child;

import java.time.Duration;

/** The command that runs under the lock, with all that it started. */
public interface ChildProcess {
  /** Sends a signal, by its name without SIG. */
  void signal(String name);

  /** Stops the command, then this process; returns at once, before either has happened. */
  void suspend();

  /**
   * Has it ended before this time is over, even if this process stands still then; to be called
   * again whenever the time is longer. Returns at once.
   */
  void endUnlessToldWithin(Duration time);

  /** Asks it to end, and forces it when the time is over. Returns at once. */
  void end(Duration within);

  /** Whether all that {@link #end} had to end is gone. */
  boolean isGone();

  /** Kills it at once, from this process. */
  void force();

  /** To be called when the command has ended by itself. */
  void ended();
}
