package io.mortise.event;

import io.mortise.annotation.Beta;

/** The causes of a lease's end. All but {@link #RELEASED} are losses. */
public enum LeaseEnd {
  /** Its holder released it. */
  RELEASED,
  /** Its session was not renewed in time: the store was silent, or the process was paused. */
  NOT_RENEWED,
  /** The store no longer knew the hold or its session: it restarted, failed over, or ended it. */
  FORGOTTEN,
  /** Its at-most time was over. */
  AT_MOST,
  /** An operator evicted it. */
  EVICTED,
  /** Its outer lock was lost ({@link io.mortise.OuterLocks}). */
  @Beta
  OUTER_LOST,
  /** Its client was closed while the lease was open. */
  CLIENT_CLOSED;

  /** Whether the lease ended against its holder's will. */
  public boolean isLoss() {
    return this != RELEASED;
  }
}
