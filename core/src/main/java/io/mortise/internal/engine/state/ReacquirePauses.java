package io.mortise.internal.engine.state;

import io.mortise.LockName;
import io.mortise.internal.queue.BoundedMap;
import io.mortise.internal.runtime.EngineEnv;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/**
 * Pauses before this process acquires a lock again that it released while others wanted it, in a
 * store without a queue (invariants.md#pause-before-retaking).
 *
 * <p>Such a store hands no lock over. A waiter gets the lock only if one of its retries falls
 * between a release and the next acquire, and a process that acquires again at once leaves a
 * fraction of a millisecond. So it pauses for half the hold's duration before its next acquire: a
 * third of the retries then find the lock free, for any length of holds and any retry interval. The
 * pause is at most as long as the longest time between two retries.
 *
 * <p>A waiter notes one hold with each retry. Other holds may come and go until its next one, so
 * there are pauses for a second after each note. They end when another process is seen to hold the
 * lock. While no other process wants a lock, there is no state and no pause.
 *
 * <p>Guarded by a stripe.
 */
final class ReacquirePauses {
  private static final int KEPT = 64;

  /** A few round trips. */
  private static final long LEAST_NANOS = 2_000_000;

  /** Twice the longest time between two retries of a waiter. */
  private static final long NOTED_NANOS = 2 * EngineSettings.MOST_POLL_NANOS;

  private final Map<LockName, LastRelease> lastReleases = new BoundedMap<>(KEPT);

  /**
   * The last release of a lock by this process.
   *
   * @param wantedAt the last time at which another process was known to want it
   * @param pauseUntil the time from which this process may acquire again
   */
  private record LastRelease(long wantedAt, long pauseUntil) {}

  /**
   * Records the release of a hold.
   *
   * @param wantedSince the time since which others are known to want it; null if none are
   */
  void gaveBack(LockName name, @Nullable Long wantedSince, EngineEnv env) {
    long now = env.now();
    @Nullable LastRelease before = lastReleases.remove(name);
    if (before != null && now - before.wantedAt() > NOTED_NANOS) {
      before = null;
    }
    long heldSince;
    if (before != null) {
      // Until then the lock was free for others.
      heldSince = before.pauseUntil();
    } else if (wantedSince != null) {
      heldSince = wantedSince;
    } else {
      return;
    }
    long wantedAt = wantedSince != null || before == null ? now : before.wantedAt();
    long most = Math.min(EngineSettings.MOST_POLL_NANOS, env.ttlNanos() / 3);
    long pause = Math.min(most, Math.max(LEAST_NANOS, (now - heldSince) / 2));
    lastReleases.put(name, new LastRelease(wantedAt, now + env.jittered(pause)));
  }

  /** The rest of the pause; not positive if this process may acquire now. */
  long left(LockName name, long now) {
    LastRelease lastRelease = lastReleases.get(name);
    return lastRelease == null ? 0 : lastRelease.pauseUntil() - now;
  }

  /** Ends the pause: another process holds the lock, and has had its turn. */
  void end(LockName name) {
    lastReleases.remove(name);
  }
}
