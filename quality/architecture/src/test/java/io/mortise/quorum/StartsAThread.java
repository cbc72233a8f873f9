package io.mortise.quorum;

/** Breaks a rule, for {@code RulesTest}. */
public final class StartsAThread {
  /** Has what the caller has left for its own threads. */
  public Thread started(Runnable task) {
    return new Thread(task, "mortise-example");
  }
}
