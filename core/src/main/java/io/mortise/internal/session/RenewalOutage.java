package io.mortise.internal.session;

import io.mortise.internal.runtime.EngineEnv;
import java.util.concurrent.locks.ReentrantLock;

/**
 * The time for which renewals fail or are late: reported when it begins and when it ends. Shares
 * the lock of the {@link SessionRenewer}.
 */
final class RenewalOutage {
  private final ReentrantLock guard;
  private final EngineEnv env;
  private final SessionReporter reporter;

  /** Since when renewals are known to fail, which the log has; 0 while they are answered. */
  private long since;

  RenewalOutage(ReentrantLock guard, EngineEnv env, SessionReporter reporter) {
    this.guard = guard;
    this.env = env;
    this.reporter = reporter;
  }

  /** To be called under the lock. */
  boolean hasBegun() {
    return since != 0;
  }

  /** Told once until renewals are answered again. To be called under the lock. */
  void begin(LiveSession session, String sentence) {
    long now = env.now();
    if (since == 0) {
      // A nanosecond off at most: 0 means that there is none.
      since = now | 1;
      reporter.unanswered(session, sentence, session.validUntil() - now);
    }
  }

  /** A renewal was answered; does nothing without an outage. To be called with no lock held. */
  void end(LiveSession session, boolean renewed) {
    long began;
    guard.lock();
    try {
      began = since;
      since = 0;
    } finally {
      guard.unlock();
    }
    if (began != 0) {
      reporter.answeredAgain(session, env.now() - began, renewed ? session.holds() : 0);
    }
  }
}
