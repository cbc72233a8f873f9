package io.mortise.quorum;

import io.mortise.spi.Ticker;
import java.util.concurrent.TimeUnit;
import java.util.function.Consumer;

/**
 * Warns when nothing is granted for longer than a moment because members are kept out for their
 * quarantine, and tells when that is over: a caller that waits learns nothing before its time ends.
 */
final class MissingVotes {
  /** A shorter time without votes is not worth a line. */
  private static final long PATIENCE = TimeUnit.SECONDS.toNanos(1);

  private final String store;
  private final Ticker ticker;
  private final Consumer<String> warn;

  /** Read without the monitor, as every grant looks here. */
  private volatile boolean missing;

  private long since;
  private boolean warned;

  MissingVotes(String store, Ticker ticker, Consumer<String> warn) {
    this.store = store;
    this.ticker = ticker;
    this.warn = warn;
  }

  boolean areMissing() {
    return missing;
  }

  /** A lock was not granted, for this reason. */
  synchronized void missed(String why) {
    long now = ticker.nanos();
    if (!missing) {
      missing = true;
      since = now;
    } else if (!warned && now - since >= PATIENCE) {
      warned = true;
      warn.accept("No lock is granted for now, callers wait: " + why + " (store=" + store + ")");
    }
  }

  /** A lock was granted. */
  void granted() {
    if (missing) {
      over();
    }
  }

  private synchronized void over() {
    if (warned) {
      long seconds = TimeUnit.NANOSECONDS.toSeconds(ticker.nanos() - since);
      warn.accept("Locks are granted again after " + seconds + " s (store=" + store + ").");
    }
    missing = false;
    warned = false;
  }
}
