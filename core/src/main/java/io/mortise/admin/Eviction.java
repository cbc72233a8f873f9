package io.mortise.admin;

/** How to evict a holder. */
public enum Eviction {
  /**
   * Tells the holder and keeps the lock shut until it has released, or its session is over. Two
   * never work at one time.
   */
  CLOSE,
  /**
   * Frees the lock at once. The holder may go on working until it hears of it; only a resource that
   * checks the fencing token refuses it.
   */
  BREAK
}
