package io.mortise.internal.session;

import io.mortise.internal.runtime.EngineEnv;
import io.mortise.internal.session.LiveSession.ClockSample;
import io.mortise.spi.time.DurationText;
import java.time.Duration;
import java.util.concurrent.TimeUnit;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Detects by the clocks of this host and of the store that the host was suspended, or that the
 * store's clock was stepped. Called under the lock of the {@link SessionRenewer}, by whose logger
 * it warns.
 */
final class SessionClocks {
  private static final Logger log = LoggerFactory.getLogger(SessionRenewer.class);

  /**
   * A smaller difference between the clock that counts suspension and the ticker is their
   * resolution; the safety margin covers it.
   */
  static final long SLEEP_NANOS = 50_000_000;

  /** A larger difference between the store's clock and the ticker is a step, not drift. */
  private static final long CLOCK_STEP_MICROS = 100_000;

  private final EngineEnv env;
  private final String store;

  SessionClocks(EngineEnv env, String store) {
    this.env = env;
    this.store = store;
  }

  /**
   * Checks for a suspension: the host's monotonic clock stood still while the store's continued.
   * Returns the present time of the clock that counts suspension.
   *
   * @param found called if the host was suspended since the last check
   */
  long noteSuspension(LiveSession session, Runnable found) {
    long suspended = env.suspended().nanos();
    long suspendedNanos = suspended - session.suspendedSeen;
    if (suspendedNanos > SLEEP_NANOS) {
      session.suspendedSeen = suspended;
      session.addSuspension(suspendedNanos);
      found.run();
      log.warn(
          "This host was suspended for {}; leases of session {} in store {} end earlier by that.",
          text(suspendedNanos),
          session.id(),
          store);
    }
    return suspended;
  }

  /** Detects a stepped store clock, which ends TTLs early or late. */
  void compare(LiveSession session, ClockSample sample) {
    ClockSample last = session.clock;
    session.clock = sample;
    if (last == null || sample.storeMicros() == 0 || last.storeMicros() == 0) {
      return;
    }
    long suspendedNanos = sample.suspendedNanos() - last.suspendedNanos();
    long passed = sample.storeMicros() - last.storeMicros();
    long least = (sample.sentAt() - last.receivedAt()) / 1000 - CLOCK_STEP_MICROS;
    long most = (sample.receivedAt() - last.sentAt()) / 1000 + CLOCK_STEP_MICROS;
    if (passed < least || passed > most + suspendedNanos / 1000) {
      log.warn(
          "The clock of store {} moved by {} in {}: it was stepped, or this process was frozen."
              + " Times that the store keeps may have ended early or last longer.",
          store,
          text(TimeUnit.MICROSECONDS.toNanos(passed)),
          text(sample.receivedAt() - last.sentAt()));
    }
  }

  private static String text(long nanos) {
    return DurationText.format(Duration.ofNanos(nanos));
  }
}
