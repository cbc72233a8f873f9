package io.mortise.internal.engine;

import io.mortise.Lease;
import io.mortise.LeaseLostException;
import io.mortise.internal.engine.state.LeaseImpl;
import io.mortise.internal.engine.state.LeaseLeakDetector;

/** The engine's knowledge of a lease that callers cannot see. */
public final class RawLease {
  private RawLease() {}

  /**
   * The token, also of a lease whose deadline has passed unnoticed: the engine handed that one out
   * too late.
   *
   * @throws LeaseLostException if the engine has noticed that the lease is lost
   */
  public static long token(Lease lease) {
    LeaseImpl raw = LeaseLeakDetector.unwrap(lease);
    return raw.isLost() ? lease.token() : raw.rawToken();
  }
}
