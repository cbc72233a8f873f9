package io.mortise.consul;

import java.util.concurrent.ThreadLocalRandom;
import java.util.concurrent.atomic.AtomicInteger;

/**
 * The flags of the entries that one {@link ConsulDocuments} writes: 63 bits. The upper 31 tell them
 * from those of others, and the lower 32 from each other. Thread-safe.
 */
final class EntryFlags {
  private static final int COUNTER_BITS = 32;

  private final long writer = ThreadLocalRandom.current().nextLong(1, 1L << 31);
  private final AtomicInteger counter = new AtomicInteger(ThreadLocalRandom.current().nextInt());

  /** Those of the next write. */
  long next() {
    return writer << COUNTER_BITS | Integer.toUnsignedLong(counter.getAndIncrement());
  }

  /** Whether an entry with these was written here. */
  boolean areOwn(long flags) {
    return flags >>> COUNTER_BITS == writer;
  }
}
