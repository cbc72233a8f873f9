package io.mortise.cli;

import io.mortise.admin.EndedHold;
import io.mortise.admin.EndedHold.EndCause;
import io.mortise.admin.LockInfo;
import io.mortise.admin.LockParticipant;
import io.mortise.admin.LockParticipant.Access;
import io.mortise.admin.LockParticipant.ClientInfo;
import io.mortise.admin.LockParticipant.Share;
import io.mortise.spi.AttemptId;
import io.mortise.spi.SessionId;
import java.time.Duration;
import java.util.List;
import java.util.OptionalInt;

/** Sample locks. */
final class SampleLocks {
  static final AttemptId FIRST = new AttemptId(new SessionId("AAAAAAAAAAAA"), 1);
  static final AttemptId SECOND = new AttemptId(new SessionId("BBBBBBBBBBBB"), 2);

  private SampleLocks() {}

  /** Held, with a waiter whose label tries to clear the screen. */
  static LockInfo held(String name) {
    return lock(
        name,
        9_007_199_254_740_993L,
        List.of(
            party(
                FIRST,
                "db1",
                "report.sh",
                Access.EXCLUSIVE,
                9_007_199_254_740_993L,
                Duration.ofMinutes(3))),
        List.of(
            party(SECOND, "db2", "\u001b[2Jevil", Access.EXCLUSIVE, 0, Duration.ofSeconds(12))));
  }

  /** Held, with a label. */
  static LockInfo labelled(String name, String label) {
    return lock(
        name,
        5,
        List.of(party(FIRST, "db1", label, Access.EXCLUSIVE, 5, Duration.ofMinutes(3))),
        List.of());
  }

  /** Held, perhaps idle. */
  static LockInfo sticky(String name) {
    AttemptId marked = new AttemptId(FIRST.session(), AttemptId.stickyNumber(1));
    return lock(
        name,
        7,
        List.of(party(marked, "db1", "", Access.EXCLUSIVE, 7, Duration.ofSeconds(2))),
        List.of());
  }

  /** Held under the token that each lease of {@link FakeClient} has. */
  static LockInfo heldByFakeLease(String name) {
    return lock(
        name,
        917,
        List.of(party(FIRST, "db1", "", Access.EXCLUSIVE, 917, Duration.ofSeconds(2))),
        List.of());
  }

  /** Held by two sharers. */
  static LockInfo shared(String name) {
    return lock(
        name,
        12,
        List.of(
            party(FIRST, "db1", "", Access.SHARED, 11, Duration.ofSeconds(5)),
            party(SECOND, "db2", "", Access.SHARED, 12, Duration.ofSeconds(4))),
        List.of());
  }

  /** Without a holder, but shut. */
  static LockInfo shut(String name) {
    return new LockInfo(
        name, OptionalInt.empty(), 5, Duration.ofSeconds(40), List.of(), List.of(), 0, 0, null);
  }

  /** Its holder's process is gone, and an at-least time keeps it shut for so many seconds. */
  static LockInfo gone(String name, int shutSeconds) {
    LockParticipant dead =
        new LockParticipant(
            FIRST.encoded(),
            null,
            "import.sh",
            new Share(Access.EXCLUSIVE, 0, 0),
            7,
            Duration.ofSeconds(5),
            Duration.ZERO,
            null,
            false,
            null,
            Duration.ZERO,
            null);
    return new LockInfo(
        name,
        OptionalInt.empty(),
        7,
        Duration.ofSeconds(shutSeconds),
        List.of(dead),
        List.of(),
        0,
        0,
        null);
  }

  /** As above; the store still knows the former holder, and how its hold ended. */
  static LockInfo goneButKnown(String name, int shutSeconds) {
    LockInfo lock = gone(name, shutSeconds);
    LockParticipant dead = lock.holders().get(0);
    LockParticipant known =
        new LockParticipant(
            dead.attempt(),
            new ClientInfo("db1", 4711, "mortise"),
            dead.label(),
            dead.share(),
            dead.token(),
            dead.since(),
            Duration.ZERO,
            null,
            false,
            null,
            Duration.ofSeconds(15),
            null);
    return new LockInfo(
        name,
        lock.permits(),
        lock.lastToken(),
        lock.shutFor(),
        List.of(known),
        List.of(),
        0,
        1200,
        new EndedHold(SECOND.encoded(), EndCause.AT_MOST));
  }

  /** In a clockless store, by a process that has not renewed for longer than two TTLs. */
  static LockInfo silent(String name) {
    LockParticipant quiet =
        new LockParticipant(
            FIRST.encoded(),
            new ClientInfo("db1", 4711, "mortise"),
            "",
            new Share(Access.EXCLUSIVE, 0, 0),
            7,
            Duration.ofSeconds(1),
            Duration.ofSeconds(15),
            null,
            false,
            null,
            Duration.ofSeconds(15),
            Duration.ofSeconds(31));
    return lock(name, 7, List.of(quiet), List.of());
  }

  /** Held by a client of another library, without further details. */
  static LockInfo foreign(String name) {
    LockParticipant other =
        new LockParticipant(
            FIRST.encoded(),
            new ClientInfo("-", 0, "6f1c"),
            "",
            new Share(Access.EXCLUSIVE, 0, 0),
            0,
            Duration.ZERO,
            Duration.ofSeconds(20),
            null,
            false,
            null,
            Duration.ZERO,
            null);
    return new LockInfo(
        name, OptionalInt.empty(), 0, Duration.ZERO, List.of(other), List.of(), 0, 0, null);
  }

  /** Held by the waiter of {@link #held}, and waited for by its holder. */
  static LockInfo heldInReverse(String name) {
    return lock(
        name,
        8,
        List.of(party(SECOND, "db2", "", Access.EXCLUSIVE, 8, Duration.ofSeconds(20))),
        List.of(party(FIRST, "db1", "", Access.EXCLUSIVE, 0, Duration.ofSeconds(9))));
  }

  private static LockInfo lock(
      String name, long lastToken, List<LockParticipant> holders, List<LockParticipant> waiters) {
    return new LockInfo(
        name, OptionalInt.empty(), lastToken, Duration.ZERO, holders, waiters, 0, 0, null);
  }

  private static LockParticipant party(
      AttemptId attempt, String host, String label, Access access, long token, Duration since) {
    return new LockParticipant(
        attempt.encoded(),
        new ClientInfo(host, 4711, "mortise"),
        label,
        new Share(access, 0, 0),
        token,
        since,
        Duration.ofSeconds(11),
        null,
        attempt.isSticky(),
        null,
        Duration.ZERO,
        null);
  }
}
