package io.mortise.internal.session;

import io.mortise.internal.runtime.EngineEnv;
import io.mortise.internal.session.StoreOutage.EndedOutage;
import org.jspecify.annotations.Nullable;

/**
 * The time since which the store owes this client an answer, through any of its sessions, and the
 * last such time that has ended and in which renewals failed. One for each client; {@link
 * StoreOutage} covers the requests of one lock.
 *
 * <p>Thread-safe. There is no lock, because each request passes here: a silence that begins while
 * an answer is recorded may be recorded only at the next request.
 */
public final class StoreSilence {
  /** The sending time of the first request since the last answer; 0 if there is none. */
  private volatile long since;

  /** The failure of a renewal since then; null if none has failed. */
  private volatile @Nullable Throwable failure;

  private volatile @Nullable EndedOutage last;

  StoreSilence() {}

  /** Records that a request was sent, to which an answer is owed. */
  void sent(long now) {
    if (since == 0) {
      // A nanosecond off at most: 0 means that nothing is owed.
      since = now | 1;
    }
  }

  /** Records the failure of a renewal sent at this time. After a later answer it proves nothing. */
  void failed(Throwable cause, long sentAt) {
    long began = since;
    if (began != 0 && (sentAt | 1) - began >= 0) {
      failure = cause;
    }
  }

  /** Records an answer. */
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

  /** The time since which an answer is owed, but not before a wait began; null if none is. */
  public @Nullable Long since(long arrivedAt) {
    long began = since;
    return began == 0 ? null : Long.valueOf(StoreOutage.later(began, arrivedAt));
  }

  /** How long an answer has been owed; 0 if none is. */
  public long nanos(long now) {
    long began = since;
    return began == 0 ? 0 : now - began;
  }

  /** The last ended silence in which renewals failed; null if there was none. */
  @Nullable EndedOutage last() {
    return last;
  }
}
