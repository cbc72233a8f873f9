package io.mortise.jdbc.batch;

import io.mortise.jdbc.table.LockRepository;
import io.mortise.spi.Request;
import java.util.Objects;
import org.jspecify.annotations.Nullable;

/** What is asked of one lock at a time. */
final class BatchEntry {
  StoreTask task;

  /** A release of the same lock that goes before it, in the same step if possible. */
  @Nullable StoreTask precedingRelease;

  final boolean hasFastPath;
  boolean answered;

  /** Something of the same lock waits behind it already: what comes next must not overtake. */
  boolean isFollowed;

  BatchEntry(StoreTask task) {
    this.task = task;
    this.hasFastPath = task.hasFastPath();
  }

  /** Takes in what comes after it; false if the two cannot go together. */
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
