package io.mortise.torture.run;

import java.lang.management.GarbageCollectorMXBean;
import java.lang.management.ManagementFactory;
import java.util.Random;
import org.jspecify.annotations.Nullable;

/**
 * Fills the heap with small objects that refer to one another at random: that makes a full
 * collection slow, as each object misses every cache. For one thread.
 */
@SuppressWarnings("UnusedVariable") // The fields are read by the collector.
final class HeapFiller {
  /** The speed of a single-threaded, stop-the-world collector. */
  private static final int OBJECTS_PER_MILLI = 4_500;

  /** The memory of an object and its place in the array. */
  private static final int BYTES = 32;

  private static final class HeapObject {
    @Nullable HeapObject one;
    @Nullable HeapObject other;
  }

  private HeapObject @Nullable [] heapObjects;

  /** The heap that a JVM needs for a pause of this length, in megabytes. */
  static int megabytes(long millis) {
    return (int) (millis * OBJECTS_PER_MILLI / 1_000_000 * BYTES) + 32;
  }

  /** Fills the heap. Takes about as long as the collection. */
  void fill(long millis, long seed) {
    HeapObject[] all = new HeapObject[(int) (millis * OBJECTS_PER_MILLI)];
    for (int i = 0; i < all.length; i++) {
      all[i] = new HeapObject();
    }
    Random random = new Random(seed);
    for (HeapObject heapObject : all) {
      heapObject.one = all[random.nextInt(all.length)];
      heapObject.other = all[random.nextInt(all.length)];
    }
    heapObjects = all;
  }

  /**
   * Collects, then frees the objects.
   *
   * @return the pause reported by the JVM, in milliseconds
   */
  long collect() {
    long before = collecting();
    System.gc();
    long took = collecting() - before;
    heapObjects = null;
    return took;
  }

  private static long collecting() {
    return ManagementFactory.getGarbageCollectorMXBeans().stream()
        .mapToLong(GarbageCollectorMXBean::getCollectionTime)
        .sum();
  }
}
