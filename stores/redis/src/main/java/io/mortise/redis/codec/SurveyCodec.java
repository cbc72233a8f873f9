package io.mortise.redis.codec;

import static io.mortise.redis.codec.LockCodec.number;

import io.mortise.LockName;
import io.mortise.admin.LockInfo;
import io.mortise.admin.SessionInfo;
import io.mortise.spi.AttemptId;
import io.mortise.spi.ClientLabel;
import io.mortise.spi.Mode;
import io.mortise.spi.SessionId;
import java.time.Duration;
import java.time.temporal.ChronoUnit;

/** Reads records of locks and sessions; lock.lua's head defines their layout. */
public final class SurveyCodec {
  private SurveyCodec() {}

  /** Whether the queue of a lock with this record may have waiters. */
  public static boolean mayHaveWaiters(String record) {
    return record.startsWith("=") || record.startsWith("w") || record.startsWith("x");
  }

  /**
   * The line of a survey.
   *
   * @param now the server's time (µs)
   */
  public static LockInfo summary(LockName name, String record, long waiters, long now) {
    char state = record.charAt(0);
    if (state == 'h' || state == 'w') {
      boolean plain = record.length() <= 82;
      long since =
          plain ? number(record, 1, 17) - number(record, 39, 43) + 1 : number(record, 66, 82);
      return LockInfo.summary(
          name.value(),
          Mode.permits(Mode.SHARERS),
          1,
          (int) waiters,
          AttemptId.parse(record.substring(17, 39))
              .holder(
                  plain ? "" : record.substring(131),
                  Mode.share(Mode.SHARERS, Mode.SHARERS),
                  between(since, now)),
          Duration.ZERO);
    }
    boolean inflated = state == 'x';
    if (!inflated && state != '-' && state != '=') {
      throw new IllegalArgumentException("Not the record of a lock.");
    }
    return LockInfo.summary(
        name.value(),
        Mode.permits(inflated ? (int) number(record, 40, 47) : Mode.SHARERS),
        inflated ? (int) number(record, 54, 61) : 0,
        (int) waiters,
        null,
        inflated
            ? between(now, number(record, 77, 93))
            : record.length() > 40 ? between(now, number(record, 40, 56)) : Duration.ZERO);
  }

  /**
   * A session by the value of its key.
   *
   * @param left milliseconds until the key expires, as PTTL answers
   */
  public static SessionInfo session(SessionId id, String value, long left) {
    return new SessionInfo(
        id.value(),
        ClientLabel.parse(value.substring(33)).info(),
        Duration.ofMillis(number(value, 16, 32)),
        left == -2 ? Duration.ZERO : Duration.ofMillis(Math.max(1, left)),
        null);
  }

  private static Duration between(long from, long to) {
    return Duration.of(Math.max(0, to - from), ChronoUnit.MICROS);
  }
}
