package io.mortise.quorum;

import java.util.concurrent.CompletableFuture;
import java.util.concurrent.Executor;
import java.util.concurrent.TimeUnit;

/** Breaks a rule, for {@code RulesTest}. */
public final class UsesTheCommonPool {
  /** Returns an executor that uses the common pool. */
  public Executor later() {
    return CompletableFuture.delayedExecutor(1, TimeUnit.SECONDS);
  }
}
