package io.mortise.internal.session;

import io.mortise.internal.runtime.EngineEnv;
import io.mortise.internal.session.LiveSession.LiveSessionPhase;
import io.mortise.spi.Capability;
import io.mortise.spi.StoreProfile;
import java.time.Duration;
import org.jspecify.annotations.Nullable;

/**
 * Chooses the TTL of a session's next renewal: its whole TTL, or three seconds while its process
 * waits and holds nothing. So the place of a stopped waiter is given up soon, and a process without
 * waits costs no more than before.
 */
final class SessionTtl {
  private static final Duration SHORT = Duration.ofSeconds(3);

  /** A process that held a lock within this time is likely to hold one soon. */
  private static final long SETTLED_NANOS = 1_000_000_000;

  private final EngineEnv env;

  /** Null if the store cannot shorten a session, or the whole TTL is no longer than that. */
  private final @Nullable Duration shortTtl;

  SessionTtl(StoreProfile profile, EngineEnv env) {
    this.env = env;
    Duration shortest = profile.minTtl().compareTo(SHORT) > 0 ? profile.minTtl() : SHORT;
    this.shortTtl =
        profile.can(Capability.VARIABLE_TTL) && shortest.compareTo(env.ttl()) < 0 ? shortest : null;
  }

  /** Initialises a session without holds. */
  void begin(LiveSession session) {
    session.heldAt = env.now() - SETTLED_NANOS;
    session.queuedAt = session.heldAt - env.ttlNanos() / 3;
  }

  /** Whether a session that waits from now on may be shortened. */
  boolean mayShorten(LiveSession session) {
    return shortTtl != null && !session.hasShortTtl && session.holds() == 0;
  }

  /** Whether it holds nothing and was told to wait lately: each wait repeats within this time. */
  boolean isWaiting(LiveSession session) {
    return session.holds() == 0
        && env.now() - session.queuedAt < env.ttlNanos() / 3 + SETTLED_NANOS;
  }

  /** The time until it has held nothing for long enough to be shortened. */
  long settlesIn(LiveSession session) {
    return Math.max(0, session.heldAt + SETTLED_NANOS - env.now());
  }

  /** Chooses the TTL of a new renewal, not of a retry. Called under the session renewer's lock. */
  Duration choose(LiveSession session) {
    Duration chosen = shortTtl;
    if (chosen == null
        || session.phase != LiveSessionPhase.OPEN
        || !session.whenFullTtl.isEmpty()
        || !isWaiting(session)
        || settlesIn(session) > 0) {
      return env.ttl();
    }
    // In this order: a claim counts itself as held before it checks whether the session is short.
    boolean before = session.hasShortTtl;
    session.hasShortTtl = true;
    if (session.holds() > 0) {
      session.hasShortTtl = before;
      return env.ttl();
    }
    return chosen;
  }

  boolean isWhole(Duration ttl) {
    return ttl.compareTo(env.ttl()) >= 0;
  }

  /** The reliable part of a TTL, from the sending of the renewal. */
  long minusSafetyMargin(Duration ttl) {
    long nanos = ttl.toNanos();
    return nanos - env.rules().safetyMargin(nanos);
  }

  /** The TTL in force. */
  Duration of(LiveSession session) {
    return session.hasShortTtl && shortTtl != null ? shortTtl : env.ttl();
  }
}
