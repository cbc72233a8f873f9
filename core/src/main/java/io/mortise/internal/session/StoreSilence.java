package io.mortise.internal.session;

import io.mortise.internal.runtime.EngineEnv;
import io.mortise.internal.session.StoreOutage.EndedOutage;
import org.jspecify.annotations.Nullable;

/**
 * Since when the store owes this client an answer, whichever of its sessions asked, and the last
 * such time that has ended and in which renewals failed. One for each client; {@link StoreOutage}
 * is of one lock's own requests.
 *
 * <p>Thread-safe. There is no lock, since each request passes here: a silence that begins while an
 * answer is noted may be noted at the next request.
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

  /** A renewal has failed that was sent then. If something was answered since, it tells nothing. */
  void failed(Throwable cause, long sentAt) {
    long began = since;
    if (began != 0 && (sentAt | 1) - began >= 0) {
      failure = cause;
    }
  }

  /** Something was answered. */
  void heard(EngineEnv env) {
    long began = since;
    if (began == 0) {
      return;
    }
    Throwable why = failure;
    if (why != null) {
      last = new EndedOutage(began, env.now(), why);
      failure = null;
    }
    since = 0;
  }

  /** Since when an answer is owed, but not before a wait began; null if none is. */
  public @Nullable Long since(long arrivedAt) {
    long began = since;
    return began == 0 ? null : Long.valueOf(StoreOutage.later(began, arrivedAt));
  }

  /** How long an answer has been owed; 0 if none is. */
  public long nanos(long now) {
    long began = since;
    return began == 0 ? 0 : now - began;
  }

  /** The last time that has ended in which renewals failed; null if there was none. */
  @Nullable EndedOutage last() {
    return last;
  }
}
