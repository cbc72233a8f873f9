package io.mortise.console.internal.http;

import io.mortise.spi.time.Ticker;
import java.time.Duration;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;

/**
 * Remembers a failure for five seconds. Requests that have queued behind a slow attempt then fail
 * at once, and do not repeat the attempt one after the other. Each request gets its own exception:
 * one object thrown by several threads would mix their stack traces and suppressed exceptions. Not
 * thread-safe.
 */
public final class RecentFailure {
  private static final long KEPT = Duration.ofSeconds(5).toNanos();

  private final Ticker ticker;
  private @Nullable Supplier<? extends RuntimeException> failure;
  private long failedAt;

  /** Starts without a failure. */
  public RecentFailure(Ticker ticker) {
    this.ticker = ticker;
  }

  /** Throws a new exception if an attempt failed less than five seconds ago. */
  public void check() {
    Supplier<? extends RuntimeException> recent = failure;
    if (recent != null && ticker.nanos() - failedAt < KEPT) {
      throw recent.get();
    }
  }

  /**
   * Records a failed attempt.
   *
   * @param thrown creates the exception of each later request; called by its thread
   */
  public void remember(Supplier<? extends RuntimeException> thrown) {
    failure = thrown;
    failedAt = ticker.nanos();
  }

  /** Records a successful attempt. */
  public void forget() {
    failure = null;
  }
}
