package io.mortise.admin;

import java.time.Duration;

/** The state of a lock in a snapshot. */
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
   * The state of a lock with these numbers of holders, or {@link LockInfo#SOME}, and waiters, that
   * is shut for the given time.
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
