package io.mortise.internal.session;

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

  /** What makes the store unfit, if that is why it failed. */
  public static @Nullable StoreUnfitException unfit(@Nullable Throwable cause) {
    while (cause != null && !(cause instanceof StoreUnfitException)) {
      cause = cause.getCause();
    }
    return (StoreUnfitException) cause;
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
