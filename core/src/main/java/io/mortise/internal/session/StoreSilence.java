package io.mortise.internal.session;

import io.mortise.internal.runtime.EngineEnv;
import io.mortise.internal.session.StoreOutage.EndedOutage;
import org.jspecify.annotations.Nullable;

/**
 * Since when the store owes this process an answer, whichever session asked, and the last such time
 * that has ended and in which renewals failed. Thread-safe.
 */
public final class StoreSilence {
  /** When the first request was sent that nothing was heard since; 0 if something was. */
  private volatile long since;

  /** Why a renewal has failed since then; null if none has. */
  private volatile @Nullable Throwable failure;

  private volatile @Nullable EndedOutage last;

  StoreSilence() {}

  /** A request was sent, to which an answer is owed. */
  void sent(long now) {
    if (since == 0) {
      // A nanosecond off at most: 0 means that nothing is owed.
      since = now | 1;
    }
  }

  /** A renewal has failed. */
  void failed(Throwable cause) {
    if (since != 0) {
      failure = cause;
    }
  }

  /** Something was answered. */
  void heard(EngineEnv env) {
    long began = since;
    Throwable why = failure;
    if (began == 0) {
      return;
    }
    if (why != null) {
      last = new EndedOutage(began, env.now(), why);
      failure = null;
    }
    since = 0;
  }

  /** Since when an answer is owed, but not before a wait began; null if none is. */
  public @Nullable Long since(long arrivedAt) {
    long began = since;
    return began == 0 ? null : Long.valueOf(began - arrivedAt > 0 ? began : arrivedAt);
  }

  /** How long an answer has been owed; 0 if none is. */
  long nanos(long now) {
    long began = since;
    return began == 0 ? 0 : now - began;
  }

  /** The last time that has ended in which renewals failed; null if there was none. */
  @Nullable EndedOutage last() {
    return last;
  }
}
