package io.mortise.torture.run;

import java.lang.management.GarbageCollectorMXBean;
import java.lang.management.ManagementFactory;
import java.util.Random;
import org.jspecify.annotations.Nullable;

/**
 * A heap full of small objects that point at one another without any order: what makes a full
 * collection long, as each object is a miss of every cache. For one thread.
 */
@SuppressWarnings("UnusedVariable") // The collector reads them.
final class HeapFiller {
  /** Of a collector that stops everything and works alone. */
  private static final int OBJECTS_PER_MILLI = 4_500;

  /** What an object and its place in the array take. */
  private static final int BYTES = 32;

  private static final class HeapObject {
    @Nullable HeapObject one;
    @Nullable HeapObject other;
  }

  private HeapObject @Nullable [] heapObjects;

  /** How much heap a JVM needs for the ballast of so long a pause, in megabytes. */
  static int megabytes(long millis) {
    return (int) (millis * OBJECTS_PER_MILLI / 1_000_000 * BYTES) + 32;
  }

  /** Fills the heap. Takes about as long as the collection will. */
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
   * Collects, and lets the ballast go.
   *
   * @return for how long the JVM says that it stood still, in milliseconds
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
