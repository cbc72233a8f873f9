package io.mortise.spi;

import java.util.List;

/** The outcome of one try to renew a session. */
public sealed interface Renewal {
  /**
   * Alive for another TTL, counted from when the request was sent.
   *
   * @param storeMicros the store's own time, microseconds since 1970, or 0 if it does not report it
   * @param notifications the events: first each {@link SessionNotification.HoldEnded}, then the
   *     rest, each group oldest first; an event is repeated until its {@code id} is acknowledged as
   *     seen, or until the granted or wanted hold has ended
   * @param more whether more notifications wait: renew again at once
   * @param incarnation names the server's incarnation, read in the same step as the session. A
   *     change means that the store may have forgotten requests that it had answered, by a failover
   *     or a restart. An existing session then proves nothing about a single lock. Empty if the
   *     store does not report it, or never forgets
   */
  record Renewed(
      long storeMicros, List<NumberedNotification> notifications, boolean more, String incarnation)
      implements Renewal {}

  /** The session has ended in the store, or another process renews under its id. Final. */
  record Lost(String reason) implements Renewal {}

  /** No answer, or an inconclusive one: neither extends the session nor ends it. */
  record Unknown(Throwable cause) implements Renewal {}

  /** A notification with the id by which it is acknowledged. */
  record NumberedNotification(long id, SessionNotification notification) {}
}
