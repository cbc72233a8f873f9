package io.mortise;

import io.mortise.annotation.Beta;
import io.mortise.event.LockListener;
import java.time.Duration;

/** Makes a {@link LockClient}. Not thread-safe. Get one by {@link LockClient#builder()}. */
public interface LockClientBuilder {
  /**
   * How long a session lives without renewal, unless told otherwise: outlasts most pauses, and
   * frees soon after a crash.
   */
  Duration DEFAULT_TTL = Duration.ofSeconds(15);

  /** How many sticky locks a client keeps idle, unless told otherwise. */
  int DEFAULT_MAX_IDLE_LOCKS = 10_000;

  /**
   * Where the store is, for example {@code redis://localhost:6379}.
   *
   * @throws IllegalArgumentException if it is not a store URL
   */
  LockClientBuilder url(String url);

  /**
   * A ready store. It stays the caller's to close.
   *
   * @throws IllegalArgumentException if no store module has made it
   */
  LockClientBuilder store(Store store);

  /**
   * How long the session lives after its last renewal: a crashed holder's locks are free after
   * this; a pause longer than this loses them. Default {@link #DEFAULT_TTL}.
   *
   * @throws IllegalArgumentException if it is not within 1 ms and 1 hour
   */
  LockClientBuilder ttl(Duration ttl);

  /** What this client is called where people look at locks. */
  LockClientBuilder name(String name);

  /**
   * How many locks may be idle at a time, of those that are acquired with {@link
   * LockOptions#withSticky}. Of more the one that was used longest ago is given back. Default
   * {@link #DEFAULT_MAX_IDLE_LOCKS}.
   *
   * @throws IllegalArgumentException if it is not within 1 and 1,000,000
   */
  LockClientBuilder maxIdleLocks(int count);

  /**
   * Tells this listener what the locks of the client do. Each call adds one. Without a listener
   * nothing is measured, and nothing is told.
   */
  @Beta
  LockClientBuilder listener(LockListener listener);

  /**
   * Connects. Blocks.
   *
   * @throws IllegalStateException if neither or both of URL and store are given
   * @throws IllegalArgumentException if no store knows the URL's scheme, or a parameter of it is
   *     unknown or wrong, or the TTL is shorter or longer than the store can keep
   * @throws StoreUnavailableException if the store cannot be reached
   * @throws StoreUnfitException if it can, but must not be used as it is
   */
  LockClient build();
}
