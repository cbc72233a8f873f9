package io.mortise.admin;

import io.mortise.annotation.Beta;
import java.time.Duration;
import org.jspecify.annotations.Nullable;

/**
 * A holder of a lock, or a waiter for it.
 *
 * @param attempt tells it apart from all others; for {@link LockAdmin#evict}. Messages, logs and
 *     tools show it as its session, a dot and a number
 * @param client the process; null if the store does not know it any more. For an expired session,
 *     SQL and Redis with strict expiry know it until a contender or a sweep has ended the session,
 *     and a clockless store for a while longer; other stores forget it with the session
 * @param label as {@link io.mortise.LockOptions#withLabel} gave it; empty if there is none
 * @param share its share of the lock, held or waited for
 * @param token the first fencing token of a holder; 0 for a waiter
 * @param since how long it has held or waited, by the store's time; zero if the store does not know
 * @param sessionLeft how long its session lives without a further renewal; zero if it is over, null
 *     in a {@link LockQuery.Detail#SUMMARY}. In a clockless store, for a session not yet judged:
 *     how much longer this client must see it without a renewal before it can be judged. The first
 *     reading is the whole TTL, even for a dead session: see {@code renewedAgo}
 * @param sessionTtl how long its session lives after each renewal; zero if the store does not know.
 *     For an expired session it is known if {@code client} is
 * @param atMostLeft the rest of a holder's at-most time; null if there is none. For an evicted
 *     holder, a clockless store gives the time that this client has yet to watch it
 * @param sticky whether it may keep the lock idle; it gives the lock back as soon as another
 *     attempt wants it
 * @param idleLeft how long this client will keep the holder's sticky lock idle, unless another
 *     process wants it; null if the lock is in use, or the holder belongs to another client: only
 *     its own client knows
 * @param renewedAgo in a clockless store, for a session not yet judged: how long ago it was
 *     renewed, by the clocks of its host and of this one. Much more than the TTL means that its
 *     process is dead or cut off, if the two clocks agree. Null elsewhere
 */
public record LockParticipant(
    String attempt,
    @Nullable ClientInfo client,
    String label,
    Share share,
    long token,
    Duration since,
    @Nullable Duration sessionLeft,
    @Nullable Duration atMostLeft,
    boolean sticky,
    @Nullable Duration idleLeft,
    @Beta Duration sessionTtl,
    @Beta @Nullable Duration renewedAgo) {
  /** Creates it with all facts that a store may know. */
  @Beta
  public LockParticipant {}

  /** The same participant, kept idle by this client for the given time. */
  public LockParticipant idleFor(@Nullable Duration left) {
    return new LockParticipant(
        attempt,
        client,
        label,
        share,
        token,
        since,
        sessionLeft,
        atMostLeft,
        sticky,
        left,
        sessionTtl,
        renewedAgo);
  }

  /** Whether its session is known to be over. */
  public boolean isGone() {
    return sessionLeft != null && sessionLeft.isZero();
  }

  /**
   * A process that uses locks.
   *
   * @param host its host's name
   * @param pid its process number there; 0 if the store does not keep it
   * @param name as {@link io.mortise.LockClientBuilder#name} gave it; empty if there is none
   */
  public record ClientInfo(String host, long pid, String name) {}

  /**
   * A part of a lock, or all of it.
   *
   * @param kind the kind of access
   * @param permits how many of a semaphore's permits; 0 for locks and read/write locks
   * @param of how many permits the semaphore has; 0 for locks and read/write locks
   */
  public record Share(Access kind, int permits, int of) {
    /** {@code exclusive}, {@code shared} or {@code 2 of 10 permits}. */
    @Override
    public String toString() {
      return switch (kind) {
        case EXCLUSIVE -> "exclusive";
        case SHARED -> "shared";
        case PERMITS -> permits + " of " + of + " permits";
      };
    }
  }

  /** Ways of holding. */
  public enum Access {
    /** Nobody else can hold at the same time. */
    EXCLUSIVE,
    /** A reader of a read/write lock. */
    SHARED,
    /** Permits of a semaphore. */
    PERMITS
  }
}
