package io.mortise.internal.runtime;

/** Runs tasks later. Injected, so that the simulation decides the order of events. */
public interface EngineScheduler {
  /**
   * Runs the task once, after the delay, unless it is cancelled before.
   *
   * @param delayNanos 0 or less means as soon as possible, but never within this call
   */
  ScheduledTimer schedule(long delayNanos, Runnable task);

  /** A scheduled task. */
  interface ScheduledTimer {
    /** Keeps the task from running if it has not begun. */
    void cancel();
  }
}
