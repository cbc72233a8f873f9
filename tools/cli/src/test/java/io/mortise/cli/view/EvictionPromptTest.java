package io.mortise.cli.view;

import static org.assertj.core.api.Assertions.assertThat;

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
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;

/** Warnings to an operator before a live holder is evicted. */
class EvictionPromptTest {
  private static final Duration TTL = Duration.ofSeconds(15);

  private static List<String> lines(@Nullable Duration renewedAgo) {
    LockParticipant holder =
        new LockParticipant(
            new AttemptId(new SessionId("SSSSSSSSSSS1"), 1).encoded(),
            new ClientInfo("db1", 4711, ""),
            "",
            new Share(Access.EXCLUSIVE, 0, 0),
            7,
            Duration.ofMinutes(5),
            TTL.minusSeconds(4),
            null,
            false,
            null,
            TTL,
            renewedAgo);
    LockInfo lock =
        new LockInfo(
            "x", OptionalInt.empty(), 7, Duration.ZERO, List.of(holder), List.of(), 0, 0, null);
    return EvictionPrompt.lines(lock, holder, false);
  }

  @Test
  void givenStoreWithoutAClock_thenNoTimeIsPromisedAfterWhichTheLockOpens() {
    assertThat(lines(Duration.ofSeconds(4)))
        .containsExactly(
            "db1:4711 has held lock 'x' for 5m.",
            "It is told to let go, if it still runs. Until it does, the lock stays shut; if its"
                + " process is gone or cut off, until a waiter has seen no renewal for 15s.",
            "Nobody waits for the lock.");
  }

  @Test
  void givenStoreWithAClock_thenItIsSaidForHowLongTheLockStaysShutAtMost() {
    assertThat(lines(null))
        .contains(
            "It is told to let go. Until it does, the lock stays shut: for 11s at most if its"
                + " process is gone or cut off.");
  }
}
