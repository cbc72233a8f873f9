package io.mortise.cli.child;

import java.time.Duration;

/** The command that runs under the lock, with all processes that it started. */
public interface ChildProcess {
  /** Sends a signal, by its name without SIG. */
  void signal(String name);

  /** Stops the command, then this process; returns at once, before either has happened. */
  void suspend();

  /**
   * Has it end before this time is over, even if this process is paused then. To be called again to
   * extend the time. Returns at once.
   */
  void endUnlessToldWithin(Duration time);

  /** Asks it to end, and forces it when the time is over. Returns at once. */
  void end(Duration within);

  /** Whether all processes to be ended by {@link #end} are gone. */
  boolean isGone();

  /** Kills it at once, from this process. */
  void force();

  /** To be called when the command has ended by itself. */
  void ended();
}
