package io.mortise.internal.session;

import io.mortise.internal.runtime.EngineEnv;
import java.util.concurrent.locks.ReentrantLock;
import org.jspecify.annotations.Nullable;

/**
 * The time for which renewals fail or are late: reported when it begins and when it ends. Shares
 * the lock of the {@link SessionRenewer}.
 */
final class RenewalOutage {
  private final ReentrantLock guard;
  private final EngineEnv env;
  private final SessionReporter reporter;

  /** Since when renewals are known to fail, which the log has; null while they are answered. */
  private @Nullable Long since;

  RenewalOutage(ReentrantLock guard, EngineEnv env, SessionReporter reporter) {
    this.guard = guard;
    this.env = env;
    this.reporter = reporter;
  }

  /** To be called under the lock. */
  boolean hasBegun() {
    return since != null;
  }

  /** Told once until renewals are answered again. To be called under the lock. */
  void begin(LiveSession session, String sentence) {
    if (since == null) {
      since = env.now();
      reporter.unanswered(session, sentence, session.leftNanos());
    }
  }

  /** A renewal was answered; does nothing without an outage. To be called with no lock held. */
  void end(LiveSession session, boolean renewed) {
    Long began;
    guard.lock();
    try {
      began = since;
      since = null;
    } finally {
      guard.unlock();
    }
    if (began != null) {
      reporter.answeredAgain(session, env.now() - began, renewed ? session.holds() : 0);
    }
  }
}
