package io.mortise.internal.session;

import io.mortise.spi.SessionNotification;

/** The events of sessions for the engine; called with no lock held. */
public interface SessionLifecycleListener {
  /** Requests can be sent now. */
  void opened(LiveSession session);

  /** An attempt to open a session failed; another follows. */
  void openFailed(Throwable cause);

  /** The store sent a notification, by a push or with a renewal. */
  void notification(LiveSession session, SessionNotification sessionNotification);

  /** A connection was reopened: pushes may have been missed, and a grant passed by. */
  void onReconnected(LiveSession session);

  /** The store may have forgotten grants; no lease has got more time yet. */
  void inDoubt(LiveSession session);

  /** The session is over, with all its holds. */
  void lost(LiveSession session, String reason);
}
