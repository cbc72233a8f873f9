package io.mortise.admin;

/** The effect of an eviction. */
public enum EvictionResult {
  /**
   * A hold. With {@link Eviction#CLOSE} it stands until the holder has released, for a TTL at most.
   */
  HOLD_ENDED,
  /** A wait. */
  WAIT_ENDED,
  /** Nothing: the attempt had ended before. */
  NOT_THERE
}
