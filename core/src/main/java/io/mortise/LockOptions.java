package io.mortise;

import java.time.Duration;
import java.util.Objects;
import org.jspecify.annotations.Nullable;

/** How to acquire. Immutable and thread-safe; start from {@link #DEFAULTS}. */
public final class LockOptions {
  /** Not fair, close waits for the answer, no times, no label. */
  public static final LockOptions DEFAULTS = new LockOptions(false, false, Terms.NONE);

  private final boolean fair;
  private final boolean releaseAsync;
  private final Terms terms;

  private LockOptions(boolean fair, boolean releaseAsync, Terms terms) {
    this.fair = fair;
    this.releaseAsync = releaseAsync;
    this.terms = terms;
  }

  /**
   * Strictly first come, first served, also between threads of one process: nobody passes a waiter.
   * Without it a newcomer may pass a thread that is being woken, at most 8 times and for 1 ms.
   * Where the store has no queue, only the threads of one process are in order.
   */
  public boolean fair() {
    return fair;
  }

  /** {@link Lease#close()} does not wait for the store's answer. */
  public boolean releaseAsync() {
    return releaseAsync;
  }

  /** Times that the store keeps, and a label for people. */
  public Terms terms() {
    return terms;
  }

  /** See {@link #fair()}. */
  public LockOptions withFair(boolean value) {
    return new LockOptions(value, releaseAsync, terms);
  }

  /** See {@link #releaseAsync()}. */
  public LockOptions withReleaseAsync(boolean value) {
    return new LockOptions(fair, value, terms);
  }

  /**
   * The store frees the lock no later than this after the grant, renewed or not. For jobs that must
   * not hold for ever.
   *
   * @throws IllegalArgumentException if it is not within 1 ms and 10 years, or shorter than the
   *     at-least time
   */
  public LockOptions withAtMost(@Nullable Duration value) {
    return new LockOptions(fair, releaseAsync, new Terms(value, terms.atLeast(), terms.label()));
  }

  /**
   * The store keeps the lock shut until this after the grant, also when it is released or its
   * holder dies. For jobs that must not run twice within a time.
   *
   * @throws IllegalArgumentException if it is not within 1 ms and 10 years, or longer than the
   *     at-most time
   */
  public LockOptions withAtLeast(@Nullable Duration value) {
    return new LockOptions(fair, releaseAsync, new Terms(terms.atMost(), value, terms.label()));
  }

  /**
   * What {@link LockClient#admin} shows people about the attempt.
   *
   * @throws IllegalArgumentException if it is longer than 100 characters or has a control character
   */
  public LockOptions withLabel(String value) {
    Objects.requireNonNull(value, "value");
    return new LockOptions(fair, releaseAsync, new Terms(terms.atMost(), terms.atLeast(), value));
  }

  @Override
  public boolean equals(@Nullable Object other) {
    return other instanceof LockOptions that
        && fair == that.fair
        && releaseAsync == that.releaseAsync
        && terms.equals(that.terms);
  }

  @Override
  public int hashCode() {
    return Objects.hash(fair, releaseAsync, terms);
  }

  @Override
  public String toString() {
    return "LockOptions[fair=" + fair + ", releaseAsync=" + releaseAsync + ", " + terms + "]";
  }
}
