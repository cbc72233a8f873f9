package io.mortise.support.document;

import java.util.concurrent.CompletableFuture;
import java.util.concurrent.Executor;
import java.util.concurrent.ThreadLocalRandom;
import java.util.concurrent.TimeUnit;

/**
 * The safety rules of a store of documents, one method each, so that the simulation can remove them
 * one at a time and prove that it would notice. Production code knows only {@link #ALL}.
 */
class DocumentRules {
  /** Every rule in force. */
  static final DocumentRules ALL = new DocumentRules();

  /**
   * Whether a step that writes nothing reads the server's document. Nothing would compare the
   * version of a document from memory.
   */
  boolean readsWhereNothingIsWritten() {
    return true;
  }

  /** Whether a request of a lock waits until the previous one was answered. */
  boolean keepsOrderOfRequests() {
    return true;
  }

  /** Whether an observer counts executed renewals, not beats: a retry has the same beat. */
  boolean countsRenewals() {
    return true;
  }

  /**
   * Whether the count of renewals begins at the version instead of 0. Otherwise a session that is
   * created again looks like one without renewals.
   */
  boolean countsFromVersion() {
    return true;
  }

  /** Whether an at-least time that is started again is counted again. */
  boolean countsFromLastStart() {
    return true;
  }

  /**
   * Whether an at-least time is counted from when this process saw it first. Otherwise the writer's
   * time of day decides.
   */
  boolean countsFromFirstSight() {
    return true;
  }

  /** The most waiters that stay in a lock's document when a long queue is split. */
  int mostInFront() {
    return 32;
  }

  /**
   * If a lock's document has at most this many waiters, the next step moves others up. Polls look
   * at the sessions of the first eight waiters, so as many must stay there.
   */
  int fewInFront() {
    return 8;
  }

  /** Whether a newcomer joins the rear only in the split that its step has met. */
  boolean comparesSplits() {
    return true;
  }

  /** Whether the end of an attempt that the lock's document does not know also writes the rear. */
  boolean endsInWholeQueue() {
    return true;
  }

  /** Whether a step that takes the last waiter of the lock's document brings the rear forward. */
  boolean bringsRearForward() {
    return true;
  }

  /**
   * The pause of a step after repeated failures, before it reads again.
   *
   * @param longestMillis the pause is random, up to this
   */
  Executor afterPause(int longestMillis) {
    long micros =
        ThreadLocalRandom.current().nextLong(TimeUnit.MILLISECONDS.toMicros(longestMillis));
    // Not on the common pool: all its threads may wait for locks. A step only begins I/O.
    return CompletableFuture.delayedExecutor(micros, TimeUnit.MICROSECONDS, Runnable::run);
  }
}
