package io.mortise.internal.session;

import io.mortise.internal.runtime.EngineEnv;
import io.mortise.internal.runtime.FailureText;
import java.util.concurrent.locks.ReentrantLock;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * The time during which renewals fail or are late: reported when it begins and when it ends. Shares
 * the lock of the {@link SessionRenewer}.
 */
final class RenewalOutage {
  private static final Logger log = LoggerFactory.getLogger(SessionRenewer.class);

  /** The time for a new connection, before an outage of a session without leases is reported. */
  private static final long RECONNECT_NANOS = 1_000_000_000L;

  /**
   * Breaks within this interval are reported once: a proxy may end each connection that was idle
   * for some seconds.
   */
  private static final long EPISODE_NANOS = 60_000_000_000L;

  private final ReentrantLock guard;
  private final EngineEnv env;
  private final SessionReporter reporter;

  /** The time since which renewals fail, already logged; null while they are answered. */
  private @Nullable Long since;

  /** The time of an unreported break of a connection; null once renewals are answered. */
  private @Nullable Long brokeQuietly;

  /** The time of the last break while the session had leases. */
  private @Nullable Long brokeHolding;

  RenewalOutage(ReentrantLock guard, EngineEnv env, SessionReporter reporter) {
    this.guard = guard;
    this.env = env;
    this.reporter = reporter;
  }

  /** Called under the lock. */
  boolean hasBegun() {
    return since != null;
  }

  /** Reports the outage, once until renewals are answered again. Called under the lock. */
  void begin(LiveSession session, String sentence) {
    if (brokeQuietly != null && env.now() - brokeQuietly < RECONNECT_NANOS) {
      log.debug("{} {} leases hang on session {}.", sentence, session.holds(), session.id());
    } else if (since == null) {
      since = env.now();
      reporter.unanswered(session, sentence, session.leftNanos());
    }
  }

  /**
   * Handles a broken connection. Without leases on the session, or if repeated, it is logged at
   * DEBUG only, since servers close idle connections. Called under the lock.
   */
  void connectionLost(LiveSession session, String store, String cause) {
    String why = FailureText.withoutFullStop(cause);
    boolean again = brokeHolding != null && env.now() - brokeHolding < EPISODE_NANOS;
    brokeHolding = session.holds() == 0 ? null : Long.valueOf(env.now());
    if (session.holds() == 0 || again) {
      log.debug("The connection to store {} broke: {}.", store, why);
      brokeQuietly = brokeQuietly == null ? Long.valueOf(env.now()) : brokeQuietly;
    } else {
      begin(session, "The connection to store %s broke: %s.".formatted(store, why));
    }
  }

  /** Handles an answered renewal; does nothing without an outage. Called with no lock held. */
  void end(LiveSession session, boolean renewed) {
    Long began;
    guard.lock();
    try {
      began = since;
      since = null;
      brokeQuietly = null;
    } finally {
      guard.unlock();
    }
    if (began != null) {
      reporter.answeredAgain(session, env.now() - began, renewed ? session.holds() : 0);
    }
  }
}
