package io.mortise.event;

/** What ended a lease. All but {@link #RELEASED} are losses. */
public enum LeaseEnd {
  /** Its holder gave it up. */
  RELEASED,
  /** Its session was not renewed in time: the store was silent, or the process stood still. */
  NOT_RENEWED,
  /**
   * The store no longer knew the hold or its session: it was restarted, another server took over,
   * or it gave the session up.
   */
  FORGOTTEN,
  /** Its at-most time was over. */
  AT_MOST,
  /** An operator evicted it. */
  EVICTED,
  /** Its client was closed before it. */
  CLIENT_CLOSED;

  /** Whether the lease ended otherwise than by its holder's will. */
  public boolean isLoss() {
    return this != RELEASED;
  }
}
