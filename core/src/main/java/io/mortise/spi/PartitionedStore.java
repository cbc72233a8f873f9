package io.mortise.spi;

import io.mortise.LockName;

/**
 * A store made of parts that share nothing, each a store of its own with sessions of its own:
 * several servers, or the slots of a cluster. The name of a lock alone determines its part.
 *
 * <p>A client keeps a session in each part that it uses, so that a part that is lost takes only its
 * own leases with it. Sessions are therefore opened and judged in a part, never here.
 */
public interface PartitionedStore extends LockStore {
  /** The number of parts; never changes. */
  int partitions();

  /**
   * The part that keeps this lock, from 0 on: the same for every client of the store. Must be
   * quick: it is called each time.
   */
  int partitionOf(LockName name);

  /**
   * A part. Returns the same store each time and does not wait for a server: if that is
   * unreachable, the part's methods fail. It is closed with this store. Its profile differs from
   * that of this store only in the name to display.
   */
  LockStore partition(int number);
}
