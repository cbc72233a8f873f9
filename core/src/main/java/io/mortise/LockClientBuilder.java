package io.mortise;

import io.mortise.annotation.Beta;
import io.mortise.event.LockListener;
import java.time.Duration;

/** Builds a {@link LockClient}. Not thread-safe. Get one by {@link LockClient#builder()}. */
public interface LockClientBuilder {
  /** The default TTL of a session: it outlasts most pauses, and frees locks soon after a crash. */
  Duration DEFAULT_TTL = Duration.ofSeconds(15);

  /** The default number of sticky locks that a client keeps idle. */
  int DEFAULT_MAX_IDLE_LOCKS = 10_000;

  /**
   * The store's URL, for example {@code redis://localhost:6379}.
   *
   * @throws IllegalArgumentException if it is not a store URL
   */
  LockClientBuilder url(String url);

  /**
   * An open store. The caller stays responsible for closing it.
   *
   * @throws IllegalArgumentException if no store module has made it
   */
  LockClientBuilder store(Store store);

  /**
   * How long the session lives after its last renewal: a crashed holder's locks are free after
   * this; a longer pause loses them. Default {@link #DEFAULT_TTL}.
   *
   * @throws IllegalArgumentException if it is not within 1 ms and 1 hour
   */
  LockClientBuilder ttl(Duration ttl);

  /** The name of this client for people who look at locks. */
  LockClientBuilder name(String name);

  /**
   * How many locks acquired with {@link LockOptions#withSticky} may be idle at a time. Above that,
   * the least recently used one is given back. Default {@link #DEFAULT_MAX_IDLE_LOCKS}.
   *
   * @throws IllegalArgumentException if it is not within 1 and 1,000,000
   */
  LockClientBuilder maxIdleLocks(int count);

  /** Adds a listener for events of this client's locks. Without a listener nothing is measured. */
  @Beta
  LockClientBuilder listener(LockListener listener);

  /**
   * Holds a lock of another library around each lock of this client, for a migration while
   * processes that use only that library still run: for example {@code alsoHolding(name ->
   * redisson.getLock(name))}. Each acquire takes the other lock first, and its own inside it; each
   * release frees them in reverse order. A wait covers both. Token, times and validity are those of
   * its own lock; a lease is also lost when the other lock is seen to be lost ({@link
   * OuterLocks#checked}).
   *
   * <p>Costs a thread for each lock that is held or waited for. Waiters of the two libraries have
   * no common order. An idle sticky lock keeps the other lock, whose waiters cannot call it back.
   * Read locks and permits are refused unless {@link OuterLocks} has such locks. An at-least time
   * keeps the other lock shut too, unless the session is lost before. A client that is closed
   * within that time leaves only locks of ShedLock and Mortise shut.
   */
  @Beta
  LockClientBuilder alsoHolding(OuterLocks outer);

  /**
   * The same with the locks of another client, for a move from one store to another.
   *
   * @param old close it after this client
   */
  @Beta
  default LockClientBuilder alsoHolding(LockClient old) {
    return alsoHolding(OuterLocks.of(old));
  }

  /**
   * Connects. Blocks.
   *
   * @throws IllegalStateException if neither or both of URL and store are given
   * @throws IllegalArgumentException if no store knows the URL's scheme, or a parameter of it is
   *     unknown or wrong, or the TTL is shorter or longer than the store can keep
   * @throws StoreUnavailableException if the store cannot be reached
   * @throws StoreUnfitException if it is reachable but must not be used as it is
   */
  LockClient build();
}
