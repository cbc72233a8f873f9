package io.mortise;

import java.time.Duration;
import java.util.List;

/** The leases of a {@link LockGroup}, each with its own token. Thread-safe. */
public interface GroupLease extends AutoCloseable {
  /** One lease per name, in the order in which they were taken. */
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
   * Releases all, in reverse order. Blocks.
   *
   * @throws LeaseLostException if one was lost; further losses are suppressed
   */
  @Override
  void close();
}
