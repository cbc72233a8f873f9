package io.mortise;

import java.time.Duration;
import java.util.Objects;
import java.util.OptionalInt;
import org.jspecify.annotations.Nullable;

/** Options of an acquire. Immutable and thread-safe; start from {@link #DEFAULTS}. */
public final class LockOptions {
  /** The longest time of {@link #withSticky}. */
  public static final Duration LONGEST_STICKY = Duration.ofSeconds(10);

  private static final Duration SHORTEST_STICKY = Duration.ofMillis(1);

  /**
   * Not fair, close waits for the answer, no times, no label, not sticky, any number of waiters.
   */
  public static final LockOptions DEFAULTS =
      new LockOptions(false, false, HoldTerms.NONE, null, OptionalInt.empty());

  private final boolean fair;
  private final boolean releaseAsync;
  private final HoldTerms terms;
  private final @Nullable Duration sticky;
  private final OptionalInt maxWaiters;

  private LockOptions(
      boolean fair,
      boolean releaseAsync,
      HoldTerms terms,
      @Nullable Duration sticky,
      OptionalInt maxWaiters) {
    if (sticky != null && (fair || terms.isTimed())) {
      throw new IllegalArgumentException(
          "A sticky lock cannot be "
              + (fair ? "fair" : "kept shut or freed at a time (at least, at most)")
              + ": its grant outlives the lease. Leave one of the two out.");
    }
    this.fair = fair;
    this.releaseAsync = releaseAsync;
    this.terms = terms;
    this.sticky = sticky;
    this.maxWaiters = maxWaiters;
  }

  /**
   * Strictly first come, first served, also between threads of one process: nobody passes a waiter.
   * Without it a newcomer may pass a thread that is being woken, at most 8 times and for 1 ms. A
   * store without a queue ({@link io.mortise.admin.StoreInfo.Feature#QUEUE}) refuses such an
   * acquire with {@link UnsupportedByStoreException}.
   */
  public boolean fair() {
    return fair;
  }

  /** Whether {@link Lease#close()} returns without waiting for the store's answer. */
  public boolean releaseAsync() {
    return releaseAsync;
  }

  /** Times that the store keeps, and a label for people. */
  public HoldTerms terms() {
    return terms;
  }

  /** How long the process keeps the grant after a lease is closed; null to give it back. */
  public @Nullable Duration sticky() {
    return sticky;
  }

  /** How many waiters there may be when an acquire begins to wait; empty for no limit. */
  public OptionalInt maxWaiters() {
    return maxWaiters;
  }

  /**
   * See {@link #fair()}.
   *
   * @throws IllegalArgumentException if these options are sticky
   */
  public LockOptions withFair(boolean value) {
    return new LockOptions(value, releaseAsync, terms, sticky, maxWaiters);
  }

  /** See {@link #releaseAsync()}. */
  public LockOptions withReleaseAsync(boolean value) {
    return new LockOptions(fair, value, terms, sticky, maxWaiters);
  }

  /**
   * The hold ends no later than this after the grant, renewed or not. For jobs that must not hold
   * for ever.
   *
   * @throws IllegalArgumentException if it is not within 1 ms and 10 years, or shorter than the
   *     at-least time, or if these options are sticky
   */
  public LockOptions withAtMost(@Nullable Duration value) {
    return new LockOptions(
        fair,
        releaseAsync,
        new HoldTerms(value, terms.atLeast(), terms.label()),
        sticky,
        maxWaiters);
  }

  /**
   * The store keeps the lock shut until this after the grant, also when it is released or its
   * holder dies. For jobs that must not run twice within a time.
   *
   * @throws IllegalArgumentException if it is not within 1 ms and 10 years, or longer than the
   *     at-most time, or if these options are sticky
   */
  public LockOptions withAtLeast(@Nullable Duration value) {
    return new LockOptions(
        fair,
        releaseAsync,
        new HoldTerms(terms.atMost(), value, terms.label()),
        sticky,
        maxWaiters);
  }

  /**
   * The label of the attempt that {@link LockClient#admin} shows to people.
   *
   * @throws IllegalArgumentException if it is longer than 100 characters or has a control character
   */
  public LockOptions withLabel(String value) {
    Objects.requireNonNull(value, "value");
    return new LockOptions(
        fair,
        releaseAsync,
        new HoldTerms(terms.atMost(), terms.atLeast(), value),
        sticky,
        maxWaiters);
  }

  /**
   * After {@link Lease#close()} this process keeps the store's grant idle for this time: the next
   * acquire by any of its threads takes it without a round trip, with a greater fencing token. As
   * soon as another process wants the lock, an idle grant is given back. For locks that one process
   * takes again and again. Exclusive locks only, on a store that calls idle holders back.
   *
   * <p>A process that dies while a grant is idle shuts the lock until its session's TTL is over,
   * although nobody was inside.
   *
   * @param idle null to give the grant back when the lease is closed
   * @throws IllegalArgumentException if it is not within 1 ms and {@link #LONGEST_STICKY}, or these
   *     options are fair or have an at-most or at-least time
   */
  public LockOptions withSticky(@Nullable Duration idle) {
    if (idle != null
        && (idle.compareTo(SHORTEST_STICKY) < 0 || idle.compareTo(LONGEST_STICKY) > 0)) {
      throw new IllegalArgumentException(
          "The sticky time " + idle + " is not within 1 ms and 10 s.");
    }
    return new LockOptions(fair, releaseAsync, terms, idle, maxWaiters);
  }

  /**
   * Refuses at once an acquire that would have to wait if this many waiters are there already: with
   * a {@link LockTimeoutException} that says how many, or as empty from {@link
   * DistributedLock#tryAcquire(java.time.Duration)}. For services that shed load instead of
   * gathering waiters. Zero never waits.
   *
   * <p>Each waiting thread of this process counts as one. Another process counts as one for all its
   * threads, unless they are fair. A waiting acquire is not refused later. Stores without a queue
   * refuse an acquire with this option: {@link UnsupportedByStoreException}.
   *
   * @throws IllegalArgumentException if it is negative
   */
  public LockOptions withMaxWaiters(int value) {
    if (value < 0) {
      throw new IllegalArgumentException(
          "At most %s waiters cannot be. Give zero or more.".formatted(value));
    }
    return new LockOptions(fair, releaseAsync, terms, sticky, OptionalInt.of(value));
  }

  @Override
  public boolean equals(@Nullable Object other) {
    return other instanceof LockOptions that
        && fair == that.fair
        && releaseAsync == that.releaseAsync
        && terms.equals(that.terms)
        && Objects.equals(sticky, that.sticky)
        && maxWaiters.equals(that.maxWaiters);
  }

  @Override
  public int hashCode() {
    return Objects.hash(fair, releaseAsync, terms, sticky, maxWaiters);
  }

  @Override
  public String toString() {
    return "LockOptions[fair="
        + fair
        + ", releaseAsync="
        + releaseAsync
        + ", "
        + terms
        + ", sticky="
        + sticky
        + ", "
        + maxWaiters
        + "]";
  }
}
