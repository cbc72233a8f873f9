package io.mortise.internal.session;

import io.mortise.StoreUnavailableException;
import io.mortise.internal.runtime.EngineEnv;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * The pause before a session is opened, if the previous ones were lost as soon as they were open. A
 * store loses each of them if requests and renewals reach different servers, for instance. Changed
 * under the lock of the {@link SessionRenewer}.
 */
final class ReopenBackoff {
  private static final Logger log = LoggerFactory.getLogger(SessionRenewer.class);

  /** A session that was open for longer was in order. */
  private static final long STEADY_NANOS = 1_000_000_000;

  private static final long FIRST_PAUSE_NANOS = 10_000_000;
  private static final long LONGEST_PAUSE_NANOS = 1_000_000_000;

  /** This many losses in a row are no accident. They are logged once until a session lasts. */
  private static final int REPORTED_LOSSES = 4;

  private final EngineEnv env;
  private final String store;

  /** The time when the current session became usable; null if it was not open yet. */
  private @Nullable Long openSince;

  private int losses;
  private volatile @Nullable StoreUnavailableException loss;

  ReopenBackoff(EngineEnv env, String store) {
    this.env = env;
    this.store = store;
  }

  /** The pause before the first renewal of the next session. */
  long nanos() {
    return losses < 2
        ? 0
        : env.jittered(Math.min(LONGEST_PAUSE_NANOS, FIRST_PAUSE_NANOS << Math.min(losses, 10)));
  }

  /** The reason of the previous losses; null unless several came as soon as sessions were open. */
  @Nullable StoreUnavailableException loss() {
    return loss;
  }

  void opened() {
    openSince = env.now();
  }

  void lost(String reason) {
    boolean early = openSince == null || env.now() - openSince < STEADY_NANOS;
    openSince = null;
    losses = early ? losses + 1 : 0;
    String said =
        "%s sessions in a row were lost as soon as they were open: %s".formatted(losses, reason);
    loss = losses < 2 ? null : new StoreUnavailableException(said);
    if (losses == REPORTED_LOSSES) {
      log.warn(
          "Store {} serves no lock: {}. Check whether its address leads to different servers.",
          store,
          said);
    }
  }
}
