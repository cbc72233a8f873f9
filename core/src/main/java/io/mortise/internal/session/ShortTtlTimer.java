package io.mortise.internal.session;

import io.mortise.internal.runtime.EngineEnv;
import io.mortise.internal.session.LiveSession.LiveSessionPhase;
import java.util.concurrent.locks.ReentrantLock;
import java.util.function.Consumer;

/**
 * Renews a session for a short TTL once its process waits and has held nothing for a while, as
 * {@link SessionTtl} chooses it. Shares the lock of the {@link SessionRenewer}.
 */
final class ShortTtlTimer {
  private final ReentrantLock guard;
  private final EngineEnv env;
  private final SessionTtl sessionTtl;
  private final Consumer<LiveSession> renewNow;

  /**
   * @param renewNow called under the lock
   */
  ShortTtlTimer(
      ReentrantLock guard, EngineEnv env, SessionTtl sessionTtl, Consumer<LiveSession> renewNow) {
    this.guard = guard;
    this.env = env;
    this.sessionTtl = sessionTtl;
    this.renewNow = renewNow;
  }

  /** Records that the store has put an attempt of the session into its queue, or left it there. */
  void waits(LiveSession session) {
    session.queuedAt = env.now();
    if (session.shortening || !sessionTtl.mayShorten(session)) {
      return;
    }
    guard.lock();
    try {
      if (session.phase == LiveSessionPhase.OPEN && !session.shortening) {
        session.shortening = true;
        later(session);
      }
    } finally {
      guard.unlock();
    }
  }

  private void later(LiveSession session) {
    env.renewals().schedule(sessionTtl.settlesIn(session), () -> shorten(session));
  }

  private void shorten(LiveSession session) {
    guard.lock();
    try {
      if (session.phase == LiveSessionPhase.OPEN && sessionTtl.isWaiting(session)) {
        if (sessionTtl.settlesIn(session) > 0) {
          later(session);
          return;
        }
        renewNow.accept(session);
      }
      session.shortening = false;
    } finally {
      guard.unlock();
    }
  }
}
