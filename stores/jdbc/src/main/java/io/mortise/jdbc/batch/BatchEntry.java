package io.mortise.jdbc.batch;

import io.mortise.jdbc.table.LockRepository;
import io.mortise.spi.Request;
import java.util.Objects;
import org.jspecify.annotations.Nullable;

/** The requests on one lock that one statement may serve. */
final class BatchEntry {
  StoreTask task;

  /** A release of the same lock that goes before it, in the same step if possible. */
  @Nullable StoreTask precedingRelease;

  final boolean hasFastPath;
  boolean answered;

  /**
   * Whether another request on the same lock waits behind this entry; later ones must not overtake
   * it.
   */
  boolean isFollowed;

  BatchEntry(StoreTask task) {
    this.task = task;
    this.hasFastPath = task.hasFastPath();
  }

  /** Adds the next request on the lock; false if one statement cannot serve both. */
  boolean takesIn(StoreTask next) {
    if (precedingRelease == null
        && !isFollowed
        && hasFastPath
        && task.request() instanceof Request.Abandon
        && next.request() instanceof Request.Acquire
        && next.hasFastPath()) {
      precedingRelease = task;
      task = next;
      return true;
    }
    return false;
  }

  boolean isRelease() {
    return task.request() instanceof Request.Abandon;
  }

  LockRepository.BatchedRequest ask() {
    return new LockRepository.BatchedRequest(
        Objects.requireNonNull(task.request()),
        precedingRelease == null
            ? null
            : Objects.requireNonNull(precedingRelease.request()).attempt(),
        precedingRelease == null && task.isNew());
  }
}
