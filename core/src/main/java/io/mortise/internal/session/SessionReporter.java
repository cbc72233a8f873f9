package io.mortise.internal.session;

import io.mortise.event.LockListener.LockSession;
import io.mortise.event.LockListener.RenewalOutcome;
import io.mortise.event.LockListener.SessionState;
import io.mortise.internal.event.EventPublisher;
import io.mortise.internal.runtime.EngineEnv;
import java.time.Duration;

/**
 * The one place to which the sessions of a client report their events, for the log, listeners and
 * the flight recorder. Thread-safe.
 */
public final class SessionReporter {
  private final EngineEnv env;
  private final SessionLog sessionLog;
  private final EventPublisher publisher;
  private final String client;

  /**
   * Events of the sessions of one client.
   *
   * @param parts the parts of its store
   */
  public SessionReporter(EngineEnv env, int parts, EventPublisher publisher) {
    this.env = env;
    this.sessionLog = new SessionLog(env.timers(), parts);
    this.publisher = publisher;
    this.client = env.client().name();
  }

  private LockSession session(LiveSession session) {
    return new LockSession(session.id().value(), session.storeName(), client, env.ttl());
  }

  private void changed(LiveSession session, SessionState state, int leases, String reason) {
    publisher.changed(session(session), state, leases, session::leftNanos, reason);
  }

  /** A session is usable. */
  public void opened(LiveSession session) {
    changed(session, SessionState.OPENED, 0, "");
  }

  /** A renewal was answered, or is known to have failed. */
  void renewal(LiveSession session, RenewalOutcome outcome, InFlightRenewal sent, String reason) {
    publisher.renewed(
        session(session),
        outcome,
        Duration.ofNanos(Math.max(0, env.now() - sent.at())),
        sent.ttl(),
        session::leftNanos,
        reason);
  }

  /** See {@link SessionLog#unanswered}. */
  void unanswered(LiveSession session, String sentence, long leftNanos) {
    int leases = session.holds();
    sessionLog.unanswered(sentence, session.id(), session.storeName(), leases, leftNanos);
    changed(session, SessionState.UNANSWERED, leases, sentence);
  }

  /** See {@link SessionLog#answeredAgain}. */
  void answeredAgain(LiveSession session, long lastedNanos, int kept) {
    sessionLog.answeredAgain(session.storeName(), lastedNanos, kept);
    changed(session, SessionState.ANSWERED, kept, "");
  }

  /** See {@link SessionLog#inDoubt}. */
  public void inDoubt(LiveSession session, int held) {
    sessionLog.inDoubt(session.id(), session.storeName(), held);
    changed(session, SessionState.IN_DOUBT, held, "");
  }

  /** A session is over, with this number of leases. */
  public void lost(LiveSession session, int leases, String reason) {
    changed(session, SessionState.LOST, leases, reason);
  }

  void closed(LiveSession session) {
    changed(session, SessionState.CLOSED, 0, "");
  }
}
