package io.mortise.support.document;

import java.util.concurrent.CompletableFuture;
import java.util.concurrent.Executor;
import java.util.concurrent.ThreadLocalRandom;
import java.util.concurrent.TimeUnit;

/**
 * The rules that make a store of documents safe, one method each, so that the simulation can take
 * them away one at a time and prove that it would notice. Production code knows only {@link #ALL}.
 */
class DocumentRules {
  /** Every rule in force. */
  static final DocumentRules ALL = new DocumentRules();

  /**
   * Whether a step that writes nothing is taken with the document that the server has. A document
   * from memory would be compared by nobody.
   */
  boolean readsWhereNothingIsWritten() {
    return true;
  }

  /** Whether a request of a lock waits until the one before it was answered. */
  boolean keepsOrderOfRequests() {
    return true;
  }

  /**
   * Whether an observer counts the renewals that were executed, and not their beats: one that is
   * sent again has the same beat.
   */
  boolean countsRenewals() {
    return true;
  }

  /**
   * Whether the count of renewals begins at the version, and not at 0. Otherwise a session that is
   * made anew looks like one that stood still.
   */
  boolean countsFromVersion() {
    return true;
  }

  /**
   * How a step that has failed often waits before it reads again.
   *
   * @param longestMillis the wait is random, up to this
   */
  Executor afterPause(int longestMillis) {
    long micros =
        ThreadLocalRandom.current().nextLong(TimeUnit.MILLISECONDS.toMicros(longestMillis));
    // Not on the common pool, whose threads may all wait for locks. A step begins I/O only.
    return CompletableFuture.delayedExecutor(micros, TimeUnit.MICROSECONDS, Runnable::run);
  }
}
