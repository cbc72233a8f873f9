package io.mortise.admin;

/** The ways to evict a holder. */
public enum Eviction {
  /**
   * Notifies the holder and keeps the lock shut until it has released, or its session is over. No
   * two holders work at one time.
   */
  CLOSE,
  /**
   * Frees the lock at once. The holder may continue until it learns of the eviction; only a
   * resource that checks the fencing token refuses it.
   */
  BREAK
}
