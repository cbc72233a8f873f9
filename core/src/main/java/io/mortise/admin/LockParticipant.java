package io.mortise.admin;

import io.mortise.annotation.Beta;
import java.time.Duration;
import org.jspecify.annotations.Nullable;

/**
 * A holder of a lock, or a waiter for it.
 *
 * @param attempt tells it apart from all others; for {@link LockAdmin#evict}. Messages, logs and
 *     tools show it as its session, a dot and a number
 * @param client the process; null if the store does not know it any more. Of a session that is over
 *     SQL and Redis with strict expiry know it until a contender or a sweep has ended that session,
 *     and a clockless store for a while longer; other stores forget it with the session
 * @param label as {@link io.mortise.LockOptions#withLabel} gave it; empty if there is none
 * @param share what it holds or waits for
 * @param token the first fencing token of a holder; 0 for a waiter
 * @param since how long it has held or waited, by the store's time; zero if the store does not know
 * @param sessionLeft how long its session lives without a further renewal; zero if it is over, null
 *     if only {@link LockQuery.Detail#SUMMARY} was asked for. In a clockless store, of a session
 *     that nobody has judged: for how long this client has yet to see it without a renewal until it
 *     can be judged. A first look tells the whole TTL, also of a dead one: see {@code renewedAgo}
 * @param sessionTtl how long its session lives after each renewal; zero if the store does not know.
 *     Of a session that is over it is known where the client is
 * @param atMostLeft what is left of a holder's at-most time; null if there is none. A clockless
 *     store tells of an evicted holder for how long this client has yet to watch it
 * @param sticky whether it may keep the lock idle, and gives it up as soon as another wants it
 * @param idleLeft how long this client will keep the holder's sticky lock idle, unless another
 *     process wants it; null if it is in use, or is another client's: only its own client knows
 * @param renewedAgo in a clockless store, of a session that nobody has judged: how long ago it was
 *     renewed, by the clock of its host and the clock of this one. Much more than the TTL means
 *     that its process is dead or cut off, if the two clocks agree. Null elsewhere
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
  /** With all that a store may know. */
  @Beta
  public LockParticipant {}

  /** The same, kept idle by this client for so long. */
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
   * How much of a lock.
   *
   * @param kind of access
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
