package io.mortise.spi;

/**
 * What a store may or may not be able to do. A store refuses at once what it lacks, with nothing
 * written.
 */
public enum Capability {
  /** Waiting attempts stand in a queue in the store, and a release hands over. */
  QUEUE,
  /** Several holders of {@link Mode#SHARED}. */
  SHARED,
  /** Semaphores. */
  PERMITS,
  /** {@link Terms#atMost()}. */
  AT_MOST,
  /** {@link Terms#atLeast()}. */
  AT_LEAST,
  /** Fencing tokens. */
  TOKEN,
  /** {@link Request.Acquire#tokenFloor()}. */
  TOKEN_FLOOR,
  /** {@link Request.Adjust} to a smaller weight. */
  DOWNGRADE,
  /** {@link LockStore#evict}. */
  EVICT,
  /** Hints arrive without being asked for. */
  PUSH
}
