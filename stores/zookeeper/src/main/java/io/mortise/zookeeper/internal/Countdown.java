package io.mortise.zookeeper.internal;

/** Runs an action once, when the last of several steps has ended. Guarded by its session. */
public final class Countdown {
  private final Runnable then;
  private int open;

  /** Runs it at once if there are no steps. */
  public Countdown(int steps, Runnable then) {
    this.open = steps;
    this.then = then;
    if (steps == 0) {
      then.run();
    }
  }

  /** Whether it was run. */
  public boolean isOver() {
    return open == 0;
  }

  /** A step has ended. */
  public void less() {
    if (open > 0) {
      open--;
      if (open == 0) {
        then.run();
      }
    }
  }

  /** Stops waiting for the remaining steps. */
  public void giveUp() {
    if (open > 0) {
      open = 0;
      then.run();
    }
  }
}
