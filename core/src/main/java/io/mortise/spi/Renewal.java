package io.mortise.spi;

import java.util.List;

/** What came of one try to renew a session. */
public sealed interface Renewal {
  /**
   * Alive for another TTL, counted from when the request was sent.
   *
   * @param storeMicros the store's own time, microseconds since 1970, or 0 if it is not told
   * @param notifications what has happened: first all that is {@link
   *     SessionNotification.HoldEnded}, then the rest, each oldest first; repeated until its {@code
   *     id} is given back as seen, or until the hold has ended that was granted or wanted
   * @param more whether more notifications wait: renew again at once
   * @param incarnation names the server's incarnation, read in the same step as the session. If it
   *     is another than before, the store may have forgotten requests that it had answered: another
   *     server took over, or it restarted. That the session is still there then proves nothing
   *     about a single lock. Empty if the store does not tell, or never forgets
   */
  record Renewed(
      long storeMicros, List<NumberedNotification> notifications, boolean more, String incarnation)
      implements Renewal {}

  /** The session has ended in the store, or somebody else renews under its id. Final. */
  record Lost(String reason) implements Renewal {}

  /** No answer, or one that says nothing: neither extends the session nor ends it. */
  record Unknown(Throwable cause) implements Renewal {}

  /** A notification with the id by which it is acknowledged. */
  record NumberedNotification(long id, SessionNotification notification) {}
}
