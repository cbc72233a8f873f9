package io.mortise.internal.session;

import io.mortise.spi.SessionNotification;

/** What the engine wants to know of its sessions; called with no lock held. */
public interface SessionLifecycleListener {
  /** Requests can be sent from now on. */
  void opened(LiveSession session);

  /** A try to open a session failed; another follows. */
  void openFailed(Throwable cause);

  /** The store told something, by a push or with a renewal. */
  void notification(LiveSession session, SessionNotification sessionNotification);

  /** A connection was made anew: pushes may have been missed, and a grant been passed by. */
  void onReconnected(LiveSession session);

  /** The store may have forgotten what it had answered; no lease has got more time yet. */
  void inDoubt(LiveSession session);

  /** The session is over, with all that was held through it. */
  void lost(LiveSession session, String reason);
}
