package io.mortise.cli;

import io.mortise.spi.AttemptId;
import io.mortise.spi.ClientLabel;
import io.mortise.spi.LockName;
import io.mortise.spi.LockView;
import io.mortise.spi.LockView.Party;
import io.mortise.spi.Mode;
import io.mortise.spi.SessionId;
import java.time.Duration;
import java.util.List;

/** Locks to look at. */
final class Samples {
  static final AttemptId FIRST = new AttemptId(new SessionId("AAAAAAAAAAAA"), 1);
  static final AttemptId SECOND = new AttemptId(new SessionId("BBBBBBBBBBBB"), 2);

  private Samples() {}

  /** Held by one, waited for by another whose label tries to clear the screen. */
  static LockView held(String name) {
    return new LockView(
        LockName.of(name),
        Mode.SHARERS,
        9_007_199_254_740_993L,
        Duration.ZERO,
        List.of(
            party(
                FIRST,
                "db1",
                "report.sh",
                Mode.SHARERS,
                9_007_199_254_740_993L,
                Duration.ofMinutes(3))),
        List.of(party(SECOND, "db2", "\u001b[2Jevil", Mode.SHARERS, 0, Duration.ofSeconds(12))));
  }

  /** Held by one who says something about it. */
  static LockView labelled(String name, String label) {
    return new LockView(
        LockName.of(name),
        Mode.SHARERS,
        5,
        Duration.ZERO,
        List.of(party(FIRST, "db1", label, Mode.SHARERS, 5, Duration.ofMinutes(3))),
        List.of());
  }

  /** Held by two together. */
  static LockView shared(String name) {
    return new LockView(
        LockName.of(name),
        Mode.SHARERS,
        12,
        Duration.ZERO,
        List.of(
            party(FIRST, "db1", "", 1, 11, Duration.ofSeconds(5)),
            party(SECOND, "db2", "", 1, 12, Duration.ofSeconds(4))),
        List.of());
  }

  /** Held by nobody, but shut. */
  static LockView closed(String name) {
    return new LockView(
        LockName.of(name), Mode.SHARERS, 5, Duration.ofSeconds(40), List.of(), List.of());
  }

  private static Party party(
      AttemptId attempt, String host, String label, int weight, long token, Duration since) {
    return new Party(
        attempt,
        new ClientLabel(host, 4711, "mortise"),
        label,
        weight,
        token,
        since,
        Duration.ofSeconds(11),
        null);
  }
}
