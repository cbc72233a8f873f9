package io.mortise.support.expiring;

import io.mortise.LockName;
import io.mortise.admin.LockInfo;
import io.mortise.admin.LockParticipant;
import io.mortise.spi.AttemptId;
import io.mortise.spi.ClientLabel;
import io.mortise.spi.Mode;
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
 * A server that stores only a key with an expiry for a lock. {@link ExpiringKeySession} builds
 * sessions on it. Thread-safe; nothing here waits for a network.
 *
 * <p>A future completes on any thread. {@link #failed} converts its failure to a reply.
 */
public interface ExpiringKeys {
  /** The store's profile, without a capability of locks. */
  StoreProfile profile();

  /** The refusal of a request; empty if the store can execute it. Called before any sending. */
  default Optional<Reply.Refused> refusal(Request request) {
    return profile().refusal(request);
  }

  /**
   * Takes the key for the session's TTL, or longer, if it is free. A key in use keeps its expiry,
   * even if the same attempt has it.
   */
  CompletableFuture<TakenKey> take(LockName name, AttemptId attempt, SessionSpec session);

  /**
   * Restarts the expiry of each key that its attempt has: a TTL from the execution, or longer.
   * Never changes a key that its attempt does not have. One round trip for all, or a few.
   *
   * @return for each key, in the same order, whether the attempt has it
   */
  CompletableFuture<List<Boolean>> extend(List<AttemptKey> keys, Duration ttl);

  /**
   * Called before each renewal. A store whose clock may be behind reads it here. A request that the
   * server executes after this has completed lives for a TTL, or longer, from this call. A failure
   * fails the renewal.
   */
  default CompletableFuture<?> beforeRenewal() {
    return CompletableFuture.completedFuture(true);
  }

  /**
   * Extends keys as {@link #extend} does, on a connection that no backlog of requests delays. The
   * answer has the store's time, so this is called even without keys.
   */
  CompletableFuture<KeyRenewal> renew(List<AttemptKey> keys, Duration ttl);

  /**
   * Deletes the key if the attempt has it.
   *
   * @return whether the attempt had the key
   */
  CompletableFuture<Boolean> release(LockName name, AttemptId attempt);

  /** The reply for the failure of a step: the store is full, or did not answer correctly. */
  Reply failed(Request request, Throwable failure);

  /** A lock, for people who look, of which only the key's owner is known. */
  static LockInfo view(LockName name, AttemptId holder, ClientLabel client, Duration left) {
    LockParticipant shown =
        holder.participant(
            client,
            "",
            Mode.share(Mode.SHARERS, Mode.SHARERS),
            0,
            Duration.ZERO,
            left,
            null,
            Duration.ZERO,
            null);
    return new LockInfo(
        name.value(),
        Mode.permits(Mode.SHARERS),
        0,
        Duration.ZERO,
        List.of(shown),
        List.of(),
        1,
        0,
        null);
  }

  /** The key of a lock, with the attempt that may have it. */
  record AttemptKey(LockName name, AttemptId attempt) {}

  /**
   * The outcome of an attempt to take a key.
   *
   * @param taken whether it was taken now
   * @param owner the present owner, if it was not taken; null if the key expired before it was read
   */
  record TakenKey(boolean taken, @Nullable KeyOwner owner) {
    /** It was taken. */
    public static final TakenKey TAKEN = new TakenKey(true, null);

    /** Another attempt had it and lost it before the key was read. */
    public static final TakenKey GONE = new TakenKey(false, null);
  }

  /**
   * The owner of a key.
   *
   * @param left the time until it expires; not zero
   * @param freeAfter the time after which it has certainly expired unless it is extended
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
