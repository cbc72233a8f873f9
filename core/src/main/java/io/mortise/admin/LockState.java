package io.mortise.admin;

import java.time.Duration;

/** What a lock is at the moment of a snapshot. */
public enum LockState {
  /** At least one holder. */
  HELD,
  /** No holder, and kept shut for a time: {@link LockInfo#shutFor()}. */
  SHUT,
  /** No holder, but waiters: it is being handed over. */
  CHANGING_HANDS,
  /** No holder and no waiter. */
  FREE;

  /**
   * The state of a lock with so many holders, or {@link LockInfo#SOME}, and waiters, that is shut
   * for so long.
   */
  static LockState of(int holders, int waiters, Duration shutFor) {
    if (holders != 0) {
      return HELD;
    }
    if (!shutFor.isZero()) {
      return SHUT;
    }
    return waiters == 0 ? FREE : CHANGING_HANDS;
  }
}
