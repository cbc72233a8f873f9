package io.mortise.redis;

import io.mortise.internal.liveness.ForwardingStore;
import io.mortise.spi.partition.PartitionedStore;

/** A part of a store that belongs to another process, all of which ends with it. */
final class OwningPartitionStore extends ForwardingStore {
  private final PartitionedStore whole;

  OwningPartitionStore(PartitionedStore whole, int part) {
    super(whole.partition(part));
    this.whole = whole;
  }

  @Override
  public void close() {
    whole.close();
  }
}
