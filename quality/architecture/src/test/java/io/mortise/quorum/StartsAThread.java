package io.mortise.quorum;

/** Breaks a rule, for {@code RulesTest}. */
public final class StartsAThread {
  /** Inherits the caller's inheritable thread locals. */
  public Thread started(Runnable task) {
    return new Thread(task, "mortise-example");
  }
}
