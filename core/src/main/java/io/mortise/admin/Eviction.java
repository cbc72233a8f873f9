package io.mortise.admin;

/** The ways to evict a holder. */
public enum Eviction {
  /**
   * Notifies the holder and keeps the lock shut until it has released, for a TTL at most. A holder
   * that works on for longer overlaps the next one; only a resource that checks the fencing token
   * refuses it.
   */
  CLOSE,
  /**
   * Frees the lock at once. The holder may continue until it learns of the eviction; only a
   * resource that checks the fencing token refuses it.
   */
  BREAK
}
