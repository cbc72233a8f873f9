package io.mortise.zookeeper.internal.queue;

import java.util.ArrayList;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * Attempts by number: open addressing, since an entry object per held lock would need more memory
 * than the attempt itself. Guarded by its session.
 */
final class AttemptTable {
  private static final int SMALLEST = 16;

  private @Nullable ZooKeeperAttempt[] slots = new @Nullable ZooKeeperAttempt[SMALLEST];
  private int size;

  private static int slot(long number, int length) {
    long spread = number * 0x9E3779B97F4A7C15L;
    return (int) (spread >>> 32) & (length - 1);
  }

  @Nullable ZooKeeperAttempt get(long number) {
    for (int i = slot(number, slots.length); ; i = (i + 1) & (slots.length - 1)) {
      ZooKeeperAttempt here = slots[i];
      if (here == null || here.number == number) {
        return here;
      }
    }
  }

  /** Adds an attempt with a new number. */
  void add(ZooKeeperAttempt zooKeeperAttempt) {
    if ((size + 1) * 4 > slots.length * 3) {
      @Nullable ZooKeeperAttempt[] old = slots;
      slots = new @Nullable ZooKeeperAttempt[old.length * 2];
      for (ZooKeeperAttempt moved : old) {
        if (moved != null) {
          put(moved);
        }
      }
    }
    put(zooKeeperAttempt);
    size++;
  }

  private void put(ZooKeeperAttempt zooKeeperAttempt) {
    int i = slot(zooKeeperAttempt.number, slots.length);
    while (slots[i] != null) {
      i = (i + 1) & (slots.length - 1);
    }
    slots[i] = zooKeeperAttempt;
  }

  /** Does nothing if it is not in the table. */
  void remove(ZooKeeperAttempt zooKeeperAttempt) {
    int i = slot(zooKeeperAttempt.number, slots.length);
    while (slots[i] != zooKeeperAttempt) {
      if (slots[i] == null) {
        return;
      }
      i = (i + 1) & (slots.length - 1);
    }
    slots[i] = null;
    size--;
    // Later entries of the same run may have been displaced by it.
    for (int j = (i + 1) & (slots.length - 1); ; j = (j + 1) & (slots.length - 1)) {
      ZooKeeperAttempt next = slots[j];
      if (next == null) {
        return;
      }
      slots[j] = null;
      put(next);
    }
  }

  List<ZooKeeperAttempt> all() {
    List<ZooKeeperAttempt> all = new ArrayList<>(size);
    for (ZooKeeperAttempt zooKeeperAttempt : slots) {
      if (zooKeeperAttempt != null) {
        all.add(zooKeeperAttempt);
      }
    }
    return all;
  }
}
