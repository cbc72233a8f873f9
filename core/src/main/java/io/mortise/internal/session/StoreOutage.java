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
 * The time for which the store gives no answer to the requests of one claim, and the last such time
 * that has ended. Not thread-safe.
 */
public final class StoreOutage {
  /** A shorter one is told to nobody. */
  private static final long SHORTEST_TOLD_NANOS = 1_000_000;

  private @Nullable Throwable failure;

  /** When the first of the requests was sent that have failed since the last answer. */
  private long since;

  /** When the first of the latest answers came that all said unfit; null if the last did not. */
  private @Nullable Long unfitSince;

  private @Nullable EndedOutage last;

  record EndedOutage(long since, long until, Throwable failure) {
    /** For how much of a wait that began then. */
    long lasted(long arrivedAt) {
      return until - later(since, arrivedAt);
    }
  }

  /** The later of two local times. */
  public static long later(long one, long other) {
    return one - other > 0 ? one : other;
  }

  /** A request that was sent then has failed. */
  public void failed(Throwable cause, long sentAt) {
    since = failure == null ? sentAt : since;
    failure = cause;
    unfitSince = unfit(cause) == null ? null : unfitSince;
  }

  /** The store has answered. */
  public void answered(long now) {
    if (failure != null) {
      last = new EndedOutage(since, now, failure);
    }
    failure = null;
    unfitSince = null;
  }

  /** Why the store could not be asked lately; null since it answered. */
  public @Nullable Throwable failure() {
    return failure;
  }

  /** When the store began to answer that it is unfit, and nothing else; now if it has not. */
  public long unfitSince(long now) {
    if (unfitSince == null) {
      unfitSince = now;
    }
    return unfitSince;
  }

  /**
   * What makes the store unfit, if that is why it failed. Null for a store that cannot serve now:
   * that may end without a change of settings, so that waits go on as in any outage.
   */
  public static @Nullable StoreUnfitException unfit(@Nullable Throwable cause) {
    for (Throwable each = cause; each != null; each = each.getCause()) {
      if (each instanceof StoreUnfitException unfit) {
        return unfit.isNotWritable() ? null : unfit;
      }
    }
    return null;
  }

  /** Why there is no answer about a lock: the store is unfit, or cannot be reached. */
  public static LockException unavailable(LockName name, String store, Throwable cause) {
    StoreUnfitException unfit = unfit(cause);
    if (unfit != null) {
      return new StoreUnfitException(String.valueOf(unfit.getMessage()), unfit);
    }
    String message =
        "Lock '%s' was not served: %s The attempt is being ended; check the store and the network to it."
            .formatted(name, FailureText.about(store, FailureText.said(cause)));
    // What the store reports is in the message; what made it do so is not yet.
    Throwable origin =
        cause instanceof StoreUnavailableException && cause.getSuppressed().length == 0
            ? cause.getCause()
            : cause;
    return origin == null
        ? new StoreUnavailableException(message)
        : new StoreUnavailableException(message, origin);
  }

  /**
   * For how much of a wait the store gave no answer without a break; null if for less than half.
   *
   * @param outage of the wait's own requests; null if none has failed
   * @param silence of the store; null if the wait was not for the store
   * @param silentSince since when it owes an answer; null if it does not
   * @param arrivedAt when the wait began
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
