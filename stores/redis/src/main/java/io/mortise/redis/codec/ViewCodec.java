package io.mortise.redis.codec;

import static io.mortise.redis.codec.LockCodec.number;

import io.mortise.LockName;
import io.mortise.admin.EndedHold;
import io.mortise.admin.LockInfo;
import io.mortise.admin.LockParticipant;
import io.mortise.spi.AttemptId;
import io.mortise.spi.ClientLabel;
import io.mortise.spi.Mode;
import io.mortise.spi.Reply.AttemptState;
import io.mortise.spi.Reply.EndReason;
import io.mortise.support.internal.session.EndedHoldMapper;
import java.time.Duration;
import java.time.temporal.ChronoUnit;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/** Reads the answers of inspect.lua; the head of lock.lua defines the layout. */
public final class ViewCodec {
  private final long now;
  private final Map<String, OwnerSession> sessionStates = new HashMap<>();

  /** The time until which the lock is shut: a dead holder's at-least time counts. */
  private long shut;

  private int capacity = Mode.SHARERS;

  private record OwnerSession(Duration left, Duration ttl, @Nullable ClientLabel client) {
    static final OwnerSession UNKNOWN = new OwnerSession(Duration.ZERO, Duration.ZERO, null);

    static OwnerSession of(long millisLeft, String value) {
      Duration left = Duration.ofMillis(millisLeft == -2 ? 0 : Math.max(1, millisLeft));
      return value.length() < 33
          ? new OwnerSession(left, Duration.ZERO, null)
          : new OwnerSession(
              left,
              Duration.ofMillis(number(value, 16, 32)),
              ClientLabel.parse(value.substring(33)));
    }
  }

  private ViewCodec(long now) {
    this.now = now;
  }

  public static LockInfo decode(LockName name, List<String> told) {
    ViewCodec codec = new ViewCodec(Long.parseLong(told.get(0)));
    int end = told.indexOf("");
    for (int i = end + 1; i + 2 < told.size(); i += 3) {
      codec.sessionStates.put(
          told.get(i), OwnerSession.of(Long.parseLong(told.get(i + 1)), told.get(i + 2)));
    }
    return codec.view(name, told.get(1), Integer.parseInt(told.get(2)), told.subList(3, end));
  }

  private LockInfo view(LockName name, String record, int waiterCount, List<String> entries) {
    char state = record.charAt(0);
    long last = number(record, 1, 17);
    List<LockParticipant> holders = new ArrayList<>();
    List<LockParticipant> waiters = new ArrayList<>();
    if (state == 'h' || state == 'w') {
      holders.add(alone(record, last));
    } else if (state == 'x') {
      capacity = (int) number(record, 40, 47);
      shut = number(record, 77, 93);
    } else if (record.length() > 40) {
      shut = number(record, 40, 56);
    }
    for (int i = 0; i < entries.size(); i += 2) {
      AttemptId attempt = AttemptId.parse(entries.get(i));
      String entry = entries.get(i + 1);
      if (entry.charAt(0) == 'w') {
        waiters.add(waiter(attempt, entry));
      } else {
        holders.add(holder(attempt, entry));
      }
    }
    holders.sort(Comparator.comparingLong(LockParticipant::token));
    return new LockInfo(
        name.value(),
        Mode.permits(capacity),
        last,
        until(shut),
        holders,
        waiters,
        holders.size(),
        waiterCount,
        lastEnd(record));
  }

  private static @Nullable EndedHold lastEnd(String record) {
    boolean alone = record.charAt(0) == 'h' || record.charAt(0) == 'w';
    int from = alone ? 43 : 17;
    if (record.length() < from + 23) {
      return null;
    }
    EndReason how =
        switch (record.charAt(from + 22)) {
          case 'R' -> EndReason.RELEASED;
          case 'X' -> EndReason.EXPIRED;
          case 'V' -> EndReason.EVICTED;
          case 'T' -> EndReason.TAKEN;
          default -> EndReason.UNKNOWN;
        };
    // The reason of a wait's end is written in lower case, and as a dot if the wait has not ended.
    return how == EndReason.UNKNOWN
        ? null
        : EndedHoldMapper.endedHold(
            AttemptId.parse(record.substring(from, from + 22)), AttemptState.HELD, how);
  }

  private LockParticipant alone(String record, long last) {
    AttemptId attempt = AttemptId.parse(record.substring(17, 39));
    long token = last - number(record, 39, 43) + 1;
    boolean plain = record.length() <= 82;
    closeAfterDeath(attempt, plain ? 0 : number(record, 98, 114));
    return party(
        attempt,
        plain ? "" : record.substring(131),
        Mode.SHARERS,
        token,
        plain ? token : number(record, 66, 82),
        plain ? 0 : number(record, 82, 98));
  }

  private LockParticipant holder(AttemptId attempt, String entry) {
    closeAfterDeath(attempt, number(entry, 60, 76));
    return party(
        attempt,
        entry.substring(93),
        (int) number(entry, 1, 8),
        number(entry, 8, 24),
        number(entry, 28, 44),
        number(entry, 44, 60));
  }

  private LockParticipant waiter(AttemptId attempt, String entry) {
    boolean plain = entry.length() <= 21;
    return party(
        attempt,
        plain ? "" : entry.substring(76),
        plain ? Mode.SHARERS : (int) number(entry, 21, 28),
        0,
        number(entry, 1, 17),
        0);
  }

  private void closeAfterDeath(AttemptId attempt, long shutUntil) {
    if (session(attempt).left().isZero()) {
      shut = Math.max(shut, shutUntil);
    }
  }

  private OwnerSession session(AttemptId attempt) {
    return sessionStates.getOrDefault(attempt.session().value(), OwnerSession.UNKNOWN);
  }

  private LockParticipant party(
      AttemptId attempt, String label, int weight, long token, long since, long freeAt) {
    OwnerSession sessionState = session(attempt);
    return attempt.participant(
        sessionState.client(),
        label,
        Mode.share(weight, capacity),
        token,
        Duration.of(Math.max(0, now - since), ChronoUnit.MICROS),
        sessionState.left(),
        freeAt == 0 ? null : until(freeAt),
        sessionState.ttl(),
        null);
  }

  private Duration until(long moment) {
    return Duration.of(Math.max(0, moment - now), ChronoUnit.MICROS);
  }
}
