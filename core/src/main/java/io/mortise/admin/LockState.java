package io.mortise.admin;

/** What a lock is at the moment of a snapshot. */
public enum LockState {
  /** At least one holder. */
  HELD,
  /** No holder, and kept shut for a time: {@link LockInfo#shutFor()}. */
  SHUT,
  /** No holder, but waiters: it is being handed over. */
  CHANGING_HANDS,
  /** No holder and no waiter. */
  FREE
}
