package io.mortise.redis;

import io.mortise.spi.PartitionedStore;
import io.mortise.support.liveness.ForwardingStore;

/** A partition of a store that another process owns; closing it closes all of that process. */
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
