package io.mortise.jdbc;

import io.mortise.LockName;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicLongArray;

/**
 * Names of locks that most likely have a row, since this process has had an answer about them: one
 * bit for the hash of each name, in constant space. A wrong answer costs a statement without
 * effect. Thread-safe.
 */
final class RecentNames {
  private static final int BITS = 1 << 16;

  /** Of Fibonacci hashing: 2^32 through the golden ratio (Knuth, TAOCP 3, 6.4). */
  private static final int SPREAD = 0x9E3779B9;

  private final AtomicLongArray words = new AtomicLongArray(BITS / Long.SIZE);
  private final AtomicInteger set = new AtomicInteger();

  boolean has(LockName name) {
    int bit = bit(name);
    return (words.get(bit / Long.SIZE) & mask(bit)) != 0;
  }

  /** All is forgotten when half of the bits are set. */
  void add(LockName name) {
    int bit = bit(name);
    int word = bit / Long.SIZE;
    if ((words.get(word) & mask(bit)) != 0) {
      return;
    }
    words.getAndUpdate(word, before -> before | mask(bit));
    if (set.incrementAndGet() > BITS / 2) {
      set.set(0);
      for (int i = 0; i < words.length(); i++) {
        words.set(i, 0);
      }
    }
  }

  private static int bit(LockName name) {
    return (name.hashCode() * SPREAD) >>> (Integer.SIZE - 16);
  }

  private static long mask(int bit) {
    return 1L << (bit % Long.SIZE);
  }
}
