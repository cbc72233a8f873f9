package io.mortise.jdbc;

import io.mortise.spi.Request;
import java.util.Objects;
import org.jspecify.annotations.Nullable;

/** What is asked of one lock at a time. */
final class Turn {
  Work work;

  /** A release of the same lock that goes before it, in the same step if possible. */
  @Nullable Work given;

  final boolean hasFastPath;
  boolean answered;

  /** Something of the same lock waits behind it already: what comes next must not overtake. */
  boolean isFollowed;

  Turn(Work work) {
    this.work = work;
    this.hasFastPath = work.hasFastPath();
  }

  /** Takes in what comes after it; false if the two cannot go together. */
  boolean takesIn(Work next) {
    if (given == null
        && !isFollowed
        && hasFastPath
        && work.request() instanceof Request.Abandon
        && next.request() instanceof Request.Acquire
        && next.hasFastPath()) {
      given = work;
      work = next;
      return true;
    }
    return false;
  }

  boolean isRelease() {
    return work.request() instanceof Request.Abandon;
  }

  Rows.Ask ask() {
    return new Rows.Ask(
        Objects.requireNonNull(work.request()),
        given == null ? null : Objects.requireNonNull(given.request()).attempt(),
        given == null && work.isNew());
  }
}
