package io.mortise.torture.hazards;

/**
 * What the lock guards: an amount that is read and written. With tokens it refuses what is older
 * than it has seen, check and write in one step; without it takes everything. Thread-safe.
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

  /** Writes whatever comes. */
  synchronized void write(long next) {
    amount = next;
  }

  /** Writes unless a later holder was here; says whether it did. */
  synchronized boolean write(long next, long token) {
    if (token < highest) {
      return false;
    }
    highest = token;
    amount = next;
    return true;
  }
}
