package io.mortise.internal.session;

import io.mortise.internal.runtime.EngineEnv;
import io.mortise.internal.runtime.FailureText;
import java.util.concurrent.locks.ReentrantLock;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * The time for which renewals fail or are late: reported when it begins and when it ends. Shares
 * the lock of the {@link SessionRenewer}.
 */
final class RenewalOutage {
  private static final Logger log = LoggerFactory.getLogger(SessionRenewer.class);

  /** What a new connection may take, before an outage of a session without leases is told. */
  private static final long RECONNECT_NANOS = 1_000_000_000L;

  private final ReentrantLock guard;
  private final EngineEnv env;
  private final SessionReporter reporter;

  /** Since when renewals are known to fail, which the log has; null while they are answered. */
  private @Nullable Long since;

  /** When a connection broke without leases; null once renewals are answered. */
  private @Nullable Long brokeIdle;

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
    if (session.holds() == 0 && brokeIdle != null && env.now() - brokeIdle < RECONNECT_NANOS) {
      log.debug("{} No leases hang on session {}.", sentence, session.id());
    } else if (since == null) {
      since = env.now();
      reporter.unanswered(session, sentence, session.leftNanos());
    }
  }

  /**
   * A connection broke. Without leases on the session this is only a DEBUG line, since servers
   * close idle connections. To be called under the lock.
   */
  void connectionLost(LiveSession session, String store, String cause) {
    String why = FailureText.withoutFullStop(cause);
    if (session.holds() == 0) {
      log.debug("The connection to store {} broke: {}.", store, why);
      brokeIdle = brokeIdle == null ? env.now() : brokeIdle;
    } else {
      begin(session, "The connection to store %s broke: %s.".formatted(store, why));
    }
  }

  /** A renewal was answered; does nothing without an outage. To be called with no lock held. */
  void end(LiveSession session, boolean renewed) {
    Long began;
    guard.lock();
    try {
      began = since;
      since = null;
      brokeIdle = null;
    } finally {
      guard.unlock();
    }
    if (began != null) {
      reporter.answeredAgain(session, env.now() - began, renewed ? session.holds() : 0);
    }
  }
}
