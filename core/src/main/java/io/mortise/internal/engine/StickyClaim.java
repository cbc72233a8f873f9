package io.mortise.internal.engine;

import io.mortise.LockName;
import io.mortise.Terms;
import io.mortise.spi.AttemptId;
import io.mortise.spi.Mode;
import org.jspecify.annotations.Nullable;

/**
 * A claim whose grant may be kept idle: held in the store, while nobody of this process holds or
 * wants the lock. A process may keep many, so the links of {@link IdleClaims} stand in the claim.
 * Guarded by its stripe.
 */
final class StickyClaim extends Claim {
  private static final long NOT_IDLE = Long.MIN_VALUE;

  /** Its neighbours in {@link IdleClaims}. */
  @Nullable StickyClaim older;

  @Nullable StickyClaim newer;

  /** How long the grant is kept after the lease that is open now; 0 if it is given back. */
  long keepNanos;

  private long idleSince = NOT_IDLE;

  /** How often the grant of this attempt was taken while it was idle. */
  int retakes;

  /** When so many tokens are left, the block is replaced. */
  int refillAt;

  StickyClaim(LockName name, Mode mode, Terms terms) {
    super(name, mode, terms, true);
  }

  /** Whether contenders see in the store that its grant may be idle. */
  boolean isMarked() {
    return AttemptId.stickyNumber(number) == number;
  }

  boolean isIdle() {
    return idleSince != NOT_IDLE;
  }

  void beginIdle(long now) {
    idleSince = now;
  }

  void endIdle() {
    idleSince = NOT_IDLE;
  }

  long idleSince() {
    return idleSince;
  }

  long idleUntil() {
    return idleSince + keepNanos;
  }
}
