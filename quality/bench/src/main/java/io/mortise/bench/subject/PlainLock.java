package io.mortise.bench.subject;

/**
 * The lock that Redis' own pages show: a key that is set if it is absent, with a value of the
 * holder's own, and deleted if it still has that value. No token, no queue, no renewal.
 */
final class PlainLock {
  static final long LEASE_MILLIS = 30_000;

  /** Deletes KEYS[1] if its value is ARGV[1]; returns 1 if it did. */
  static final String GIVE =
      "if redis.call('GET', KEYS[1]) == ARGV[1] then return redis.call('DEL', KEYS[1]) end return 0";

  private PlainLock() {}

  static void check(long deleted, String lock) {
    if (deleted != 1) {
      throw new IllegalStateException("Lock '" + lock + "' was no longer held.");
    }
  }
}
