package io.mortise.torture.hazards;

/**
 * The resource of the lock: an amount that is read and written. With tokens it refuses stale
 * writes, with check and write in one step; without tokens it accepts every write. Thread-safe.
 */
final class ProtectedAccount {
  private long amount;
  private long highest;

  ProtectedAccount(long amount) {
    this.amount = amount;
  }

  synchronized long read() {
    return amount;
  }

  /** Writes unconditionally. */
  synchronized void write(long next) {
    amount = next;
  }

  /** Writes unless a later holder has written; returns whether it did. */
  synchronized boolean write(long next, long token) {
    if (token < highest) {
      return false;
    }
    highest = token;
    amount = next;
    return true;
  }
}
