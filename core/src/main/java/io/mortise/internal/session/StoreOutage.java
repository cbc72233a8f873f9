package io.mortise.internal.session;

import io.mortise.LockException;
import io.mortise.LockName;
import io.mortise.StoreUnavailableException;
import io.mortise.StoreUnfitException;
import io.mortise.internal.runtime.FailureText;
import io.mortise.spi.time.DurationText;
import java.time.Duration;
import org.jspecify.annotations.Nullable;

/**
 * The time during which the store gives no answer to the requests of one claim, and the last such
 * time that has ended. Not thread-safe.
 */
public final class StoreOutage {
  /** A shorter outage is not reported. */
  private static final long SHORTEST_TOLD_NANOS = 1_000_000;

  private @Nullable Throwable failure;

  /** The sending time of the first request that has failed since the last answer. */
  private long since;

  /** The time of the first of the latest "unfit" answers in a row; null if the last was another. */
  private @Nullable Long unfitSince;

  private @Nullable EndedOutage last;

  record EndedOutage(long since, long until, Throwable failure) {
    /** The part of a wait, begun at this time, that it covers. */
    long lasted(long arrivedAt) {
      return until - later(since, arrivedAt);
    }
  }

  public static long later(long one, long other) {
    return one - other > 0 ? one : other;
  }

  /** Records the failure of a request that was sent at this time. */
  public void failed(Throwable cause, long sentAt) {
    since = failure == null ? sentAt : since;
    failure = cause;
    unfitSince = unfit(cause) == null ? null : unfitSince;
  }

  /** Records an answer of the store. */
  public void answered(long now) {
    if (failure != null) {
      last = new EndedOutage(since, now, failure);
    }
    failure = null;
    unfitSince = null;
  }

  /** The store's latest failure; null since it answered. */
  public @Nullable Throwable failure() {
    return failure;
  }

  /** The time since which all answers say that the store is unfit; now if the last did not. */
  public long unfitSince(long now) {
    if (unfitSince == null) {
      unfitSince = now;
    }
    return unfitSince;
  }

  /**
   * The unfitness that is the cause of a failure. Null for a store that cannot serve now: that may
   * end without a change of settings, so waits continue as in any outage.
   */
  public static @Nullable StoreUnfitException unfit(@Nullable Throwable cause) {
    for (Throwable each = cause; each != null; each = each.getCause()) {
      if (each instanceof StoreUnfitException unfit) {
        return unfit.isNotWritable() ? null : unfit;
      }
    }
    return null;
  }

  /** The reason for a missing answer about a lock: the store is unfit, or unreachable. */
  public static LockException unavailable(LockName name, String store, Throwable cause) {
    StoreUnfitException unfit = unfit(cause);
    if (unfit != null) {
      return new StoreUnfitException(String.valueOf(unfit.getMessage()), unfit);
    }
    String message =
        "Lock '%s' was not served: %s The attempt is being ended; check the store and the network to it."
            .formatted(name, FailureText.about(store, FailureText.said(cause)));
    // The message has the store's report, but not yet its cause.
    Throwable origin =
        cause instanceof StoreUnavailableException && cause.getSuppressed().length == 0
            ? cause.getCause()
            : cause;
    return origin == null
        ? new StoreUnavailableException(message)
        : new StoreUnavailableException(message, origin);
  }

  /**
   * The longest part of a wait without an answer of the store; null if less than half of the wait.
   *
   * @param outage the outage of the wait's own requests; null if none has failed
   * @param silence the store's silence; null if the wait was not for the store
   * @param silentSince the time since which it owes an answer; null if it does not
   * @param arrivedAt the begin of the wait
   */
  public static @Nullable StoreUnavailableException unansweredPart(
      @Nullable StoreOutage outage,
      @Nullable StoreSilence silence,
      @Nullable Long silentSince,
      long arrivedAt,
      long now) {
    long lasted = silentSince == null ? 0 : now - silentSince;
    Throwable why = null;
    EndedOutage own = outage == null ? null : outage.last;
    EndedOutage ofStore = silence == null ? null : silence.last();
    for (EndedOutage ended : new EndedOutage[] {own, ofStore}) {
      if (ended != null && ended.lasted(arrivedAt) > lasted) {
        lasted = ended.lasted(arrivedAt);
        why = ended.failure();
      }
    }
    if (lasted < Math.max(SHORTEST_TOLD_NANOS, (now - arrivedAt) / 2)) {
      return null;
    }
    String text =
        "The store gave no answer for %s of the wait"
            .formatted(DurationText.format(Duration.ofNanos(lasted)));
    return why == null
        ? new StoreUnavailableException(text + ".")
        : new StoreUnavailableException(
            text + ": " + FailureText.withoutFullStop(FailureText.said(why)) + ".", why);
  }
}
