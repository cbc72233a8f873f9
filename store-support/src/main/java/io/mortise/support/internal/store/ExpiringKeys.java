package io.mortise.support.internal.store;

import io.mortise.LockName;
import io.mortise.spi.AttemptId;
import io.mortise.spi.Reply;
import io.mortise.spi.Request;
import io.mortise.spi.SessionSpec;
import io.mortise.spi.StoreProfile;
import java.time.Duration;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import org.jspecify.annotations.Nullable;

/**
 * A server that stores nothing of a lock but a key with an expiry. {@link ExpiringKeySession} makes
 * sessions of it. Thread-safe; nothing here waits for a network.
 *
 * <p>A future completes on any thread. What it fails with goes to {@link #failed}, where it becomes
 * a reply.
 */
public interface ExpiringKeys {
  /** What the store is and can do: no capability that locks have. */
  StoreProfile profile();

  /** Why the store cannot do what is asked; empty if it can. Asked before anything is sent. */
  default Optional<Reply.Refused> refusal(Request request) {
    return profile().refusal(request);
  }

  /**
   * Takes the key for the session's TTL, or longer, if nobody has it. A key that somebody has keeps
   * its expiry, also if it is of the same attempt.
   */
  CompletableFuture<TakenKey> take(LockName name, AttemptId attempt, SessionSpec session);

  /**
   * Restarts the expiry of each key that its attempt has: a TTL from when this is executed, or
   * longer. Never changes a key that its attempt does not have. A round trip for all, or a few.
   *
   * @return for each key, in the same order, whether the attempt has it
   */
  CompletableFuture<List<Boolean>> extend(List<AttemptKey> keys, Duration ttl);

  /**
   * Called before each renewal. A store whose clock may be behind reads it here. What the server
   * executes after this has completed lives for a TTL, or longer, from this call. A failure is that
   * of the renewal.
   */
  default CompletableFuture<?> beforeRenewal() {
    return CompletableFuture.completedFuture(true);
  }

  /**
   * Extends keys as {@link #extend} does, on a way that no backlog of requests delays. The answer
   * has the store's time, so it is asked even if there is no key.
   */
  CompletableFuture<KeyRenewal> renew(List<AttemptKey> keys, Duration ttl);

  /**
   * Deletes the key if the attempt has it.
   *
   * @return whether it had it
   */
  CompletableFuture<Boolean> release(LockName name, AttemptId attempt);

  /** What the failure of a step means: the store is full, or did not answer as it should. */
  Reply failed(Request request, Throwable failure);

  /** The key of a lock, as an attempt may have it. */
  record AttemptKey(LockName name, AttemptId attempt) {}

  /**
   * The outcome of an attempt to take a key.
   *
   * @param taken whether it was taken now
   * @param owner the present owner, if it was not taken; null if the key expired before the look
   */
  record TakenKey(boolean taken, @Nullable KeyOwner owner) {
    /** It was taken. */
    public static final TakenKey TAKEN = new TakenKey(true, null);

    /** Another attempt had it and lost it before the look. */
    public static final TakenKey GONE = new TakenKey(false, null);
  }

  /**
   * The owner of a key.
   *
   * @param left the time until it expires; not zero
   * @param freeAfter the time after which it has surely expired, if nobody extends it
   */
  record KeyOwner(AttemptId attempt, Duration left, Duration freeAfter) {}

  /**
   * The outcome of a renewal.
   *
   * @param storeMicros as in {@link io.mortise.spi.Renewal.Renewed#storeMicros()}
   * @param extended for each key whether its attempt has it
   */
  record KeyRenewal(long storeMicros, List<Boolean> extended) {}
}
