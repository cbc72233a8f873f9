package io.mortise.jdbc.notify;

import io.mortise.spi.Renewal;
import io.mortise.spi.SessionId;
import io.mortise.spi.SessionNotification;
import java.util.List;

/** A session of this process, as those see it who bring its notifications. Thread-safe. */
public interface NotifiedSession {
  /** How far behind the last that was handed on is looked: ids may become visible out of order. */
  int LOOK_BACK = 64;

  SessionId id();

  boolean isWaiting();

  /** How many are ahead of the attempt that is nearest to its turn; 0 if none waits. */
  int ahead();

  boolean isHolding();

  /**
   * After which id to look for notifications. A little behind the last that was handed on: ids may
   * become visible out of order.
   */
  long pushedTo();

  /**
   * Hands on notifications that were not handed on before; called by one thread. Returns how many
   * came.
   */
  int push(List<Renewal.NumberedNotification> numberedNotifications);

  /** Hands on one that may have been handed on before. */
  void hint(SessionNotification sessionNotification);

  /**
   * A connection broke that was not used for a request, so that none tells of it, or notifications
   * cannot be read.
   */
  void connectionLost(String cause);
}
