package io.mortise.jdbc;

import java.util.Arrays;
import java.util.concurrent.locks.ReentrantLock;

/**
 * The attempts of one session that hold, by their numbers. A process may hold very many: a number
 * takes some 16 bytes here, and an entry of a map of attempts 70. Open addressing with linear
 * probing (Knuth, TAOCP 3, 6.4, algorithm R). Thread-safe.
 */
final class HeldAttempts {
  private static final int LEAST = 16;

  private final ReentrantLock guard = new ReentrantLock();

  /** Numbers of attempts; 0 where there is none. As many places as a power of two. */
  private long[] places = new long[LEAST];

  private int size;

  void add(long number) {
    guard.lock();
    try {
      int place = find(number);
      if (places[place] == 0) {
        places[place] = number;
        size++;
        resize();
      }
    } finally {
      guard.unlock();
    }
  }

  void remove(long number) {
    guard.lock();
    try {
      int place = find(number);
      if (places[place] != 0) {
        vacate(place);
        size--;
        resize();
      }
    } finally {
      guard.unlock();
    }
  }

  boolean contains(long number) {
    guard.lock();
    try {
      return places[find(number)] != 0;
    } finally {
      guard.unlock();
    }
  }

  boolean isEmpty() {
    guard.lock();
    try {
      return size == 0;
    } finally {
      guard.unlock();
    }
  }

  /** Where the number is, or else the free place at which a search for it ends. */
  private int find(long number) {
    int place = home(number);
    while (places[place] != 0 && places[place] != number) {
      place = next(place);
    }
    return place;
  }

  /** Frees a place, and moves up what would not be found behind a free one. */
  private void vacate(int freed) {
    int free = freed;
    for (int place = next(free); places[place] != 0; place = next(place)) {
      int home = home(places[place]);
      int mask = places.length - 1;
      // Whether its search passes the free place: its home is not behind that.
      if (((place - home) & mask) >= ((place - free) & mask)) {
        places[free] = places[place];
        free = place;
      }
    }
    places[free] = 0;
  }

  /** Between an eighth and two thirds of the places are taken. */
  private void resize() {
    int length = places.length;
    if (size > length / 3 * 2) {
      resizeTo(length * 2);
    } else if (length > LEAST && size < length / 8) {
      resizeTo(length / 2);
    }
  }

  private void resizeTo(int length) {
    long[] before = places;
    places = new long[length];
    Arrays.stream(before).filter(number -> number != 0).forEach(n -> places[find(n)] = n);
  }

  private int home(long number) {
    // Attempts are counted up, and a mark stands above the count.
    long mixed = (number ^ (number >>> 32)) * 0x9E3779B97F4A7C15L;
    return (int) (mixed >>> 40) & (places.length - 1);
  }

  private int next(int place) {
    return (place + 1) & (places.length - 1);
  }
}
