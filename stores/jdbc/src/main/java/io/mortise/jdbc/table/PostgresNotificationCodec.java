package io.mortise.jdbc.table;

import io.mortise.LockName;
import io.mortise.spi.AttemptId;
import io.mortise.spi.SessionId;
import io.mortise.spi.SessionNotification;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * A notification as the text of a NOTIFY, so that its receiver need not read the table. Fields
 * stand one per line; names have no line ends. At most some 600 bytes, of 8000 that PostgreSQL
 * allows.
 */
public final class PostgresNotificationCodec {
  /** Prefix of the names of channels; independent of the tables' prefix. */
  static final String CHANNELS = "mortise_";

  /** Of a grant, which has the most. */
  private static final int FIELDS = 7;

  private static final Logger log = LoggerFactory.getLogger(PostgresNotificationCodec.class);

  private PostgresNotificationCodec() {}

  /** The channel of one session, to which its process alone listens. */
  public static String channel(SessionId session) {
    return CHANNELS + session.value();
  }

  static String encode(SessionNotification sessionNotification) {
    String head =
        sessionNotification.attempt().encoded() + "\n" + sessionNotification.name().value();
    if (sessionNotification instanceof SessionNotification.HoldGranted granted) {
      return "granted\n"
          + head
          + "\n"
          + granted.token()
          + "\n"
          + granted.tokens()
          + "\n"
          + granted.wanted()
          + "\n"
          + granted.timed();
    }
    return sessionNotification instanceof SessionNotification.HoldEnded holdEnded
        ? "gone\n" + head + "\n" + holdEnded.how()
        : "wanted\n" + head;
  }

  /** The session of a channel; null if it is none of ours. */
  public static @Nullable SessionId session(String channel) {
    return channel.startsWith(CHANNELS) && channel.length() == CHANNELS.length() + SessionId.LENGTH
        ? new SessionId(channel.substring(CHANNELS.length()))
        : null;
  }

  /**
   * Null if it is not one of ours: anybody may notify. Plain code: a waiter for a lock waits for
   * this, and it runs seldom, hence uncompiled.
   */
  public static @Nullable SessionNotification decode(String payload) {
    String[] fields = new String[FIELDS];
    int count = 0;
    for (int from = 0; count < FIELDS; ) {
      int to = payload.indexOf('\n', from);
      fields[count++] = to < 0 ? payload.substring(from) : payload.substring(from, to);
      if (to < 0) {
        break;
      }
      from = to + 1;
    }
    try {
      String kind = fields[0];
      if (count == FIELDS && kind.equals("granted")) {
        return new SessionNotification.HoldGranted(
            LockName.of(fields[2]),
            AttemptId.parse(fields[1]),
            Long.parseLong(fields[3]),
            Integer.parseInt(fields[4]),
            Boolean.parseBoolean(fields[5]),
            Boolean.parseBoolean(fields[6]));
      } else if (count == 4 && kind.equals("gone")) {
        return new SessionNotification.HoldEnded(
            LockName.of(fields[2]),
            AttemptId.parse(fields[1]),
            SessionRepository.reason(fields[3]));
      } else if (count == 3 && kind.equals("wanted")) {
        return new SessionNotification.Contended(
            LockName.of(fields[2]), AttemptId.parse(fields[1]));
      }
    } catch (IllegalArgumentException e) {
      log.debug("Not a notification of ours", e);
    }
    return null;
  }
}
