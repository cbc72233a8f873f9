package io.mortise;

import java.time.Duration;
import java.util.List;
import java.util.concurrent.CompletableFuture;

/** The leases of a {@link LockGroup}, each with its own token. Thread-safe. */
public interface GroupLease extends AutoCloseable {
  /** One lease per name, in the order of acquisition. */
  List<Lease> leases();

  /**
   * The lease of one name.
   *
   * @throws IllegalArgumentException if the group has no such name
   */
  Lease lease(String name);

  /** Whether every lease is valid. */
  boolean isValid();

  /** The shortest of the leases' remaining times. */
  Duration remaining();

  /**
   * Returns if {@link #isValid()}.
   *
   * @throws LeaseLostException if one of the leases is lost
   * @throws LeaseInDoubtException as {@link Lease#ensureValid()}, if one of them is in doubt
   * @throws IllegalStateException if one of them was closed
   */
  void ensureValid();

  /**
   * Releases all without waiting, in reverse order.
   *
   * @return completes when the store has answered; exceptionally with {@link LeaseLostException} if
   *     one of the leases was lost; further losses are suppressed
   */
  CompletableFuture<Void> releaseAsync();

  /**
   * Releases all, in reverse order. Blocks.
   *
   * @throws LeaseLostException if one was lost; further losses are suppressed
   */
  @Override
  void close();
}
