package io.mortise.redis;

import io.mortise.spi.PartitionedStore;
import io.mortise.support.liveness.ForwardingStore;

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
