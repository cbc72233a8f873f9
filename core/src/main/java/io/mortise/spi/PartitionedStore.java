package io.mortise.spi;

import io.mortise.LockName;

/**
 * A store made of parts that share nothing, each a store of its own with sessions of its own:
 * several servers, or the slots of a cluster. Which part a lock lives in follows from its name
 * alone.
 *
 * <p>A client keeps a session in each part that it uses, so that a part that is lost takes only its
 * own leases with it. Sessions are therefore opened and judged in a part, never here.
 */
public interface PartitionedStore extends LockStore {
  /** How many parts there are; never changes. */
  int partitions();

  /**
   * The part that keeps this lock, from 0 on: the same for every client of the store. Quick, for it
   * is asked each time.
   */
  int partitionOf(LockName name);

  /**
   * A part. Returns the same store each time and does not wait for a server: one that cannot be
   * reached answers so to what is asked of it. It is closed with this store. Its profile is that of
   * this store but for the name to display.
   */
  LockStore partition(int number);
}
