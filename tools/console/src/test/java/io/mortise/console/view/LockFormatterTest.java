package io.mortise.console.view;

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

/** The display of holders that have not been judged. */
class LockFormatterTest {
  static final Duration TTL = Duration.ofSeconds(15);

  static LockInfo heldBy(@Nullable Duration renewedAgo) {
    return heldBy(renewedAgo, null);
  }

  private static LockInfo heldBy(@Nullable Duration renewedAgo, @Nullable Duration atMostLeft) {
    LockParticipant holder =
        new LockParticipant(
            new AttemptId(new SessionId("SSSSSSSSSSS1"), 1).encoded(),
            new ClientInfo("db1", 4711, ""),
            "",
            new Share(Access.EXCLUSIVE, 0, 0),
            7,
            Duration.ofMinutes(5),
            TTL,
            atMostLeft,
            false,
            null,
            TTL,
            renewedAgo);
    return new LockInfo(
        "x", OptionalInt.empty(), 7, Duration.ZERO, List.of(holder), List.of(), 0, 0, null);
  }

  @Test
  void givenHoldersThatAreCountedOnly_thenNobodyIsSaidToBeGone() {
    LockInfo counted = LockInfo.summary("x", OptionalInt.of(3), 2, 0, null, Duration.ZERO);
    assertThat(LockFormatter.condition(counted)).isEqualTo(LockFormatter.Condition.HELD);
    assertThat(LockFormatter.looksGone(counted)).isFalse();
  }

  @Test
  void givenHolderThatWasNotRenewedForLong_whenNobodyJudgedIt_thenThatIsSaid_andWhatToDo() {
    LockInfo silent = heldBy(Duration.ofMinutes(4));
    assertThat(LockFormatter.situation(silent))
        .isEqualTo(": held by db1:4711 (not renewed for 4m, not judged) for 5m.");
    assertThat(LockFormatter.waitingJudges(silent, TTL))
        .contains("only a wait of more than the holder's TTL of 15s");
    assertThat(LockFormatter.waitingJudges(silent, TTL.plusSeconds(5)))
        .as("that wait was long enough")
        .isEmpty();
    assertThat(LockFormatter.json(silent.holders().get(0)))
        .containsEntry("renewedAgoMillis", 240_000L);
  }

  @Test
  void
      givenStoreThatCannotTellWhetherAHolderLives_thenItSaysWhenItWasRenewed_andNotHowLongItLives() {
    LockParticipant renewed = heldBy(Duration.ofSeconds(20)).holders().get(0);
    assertThat(LockFormatter.session(renewed)).isEqualTo("renewed 20s ago, TTL 15s");
    LockParticipant silent = heldBy(Duration.ofMinutes(4)).holders().get(0);
    assertThat(LockFormatter.session(silent)).isEqualTo("not judged, TTL 15s");
    LockParticipant alive = heldBy(null).holders().get(0);
    assertThat(LockFormatter.session(alive)).isEqualTo("15s left");
  }

  @Test
  void givenStoreWithoutAClock_whenAHolderWasEvicted_thenThatIsSaid_andNotThatItIsNotJudged() {
    LockInfo dead = heldBy(Duration.ofMinutes(4), TTL);
    assertThat(LockFormatter.situation(dead))
        .isEqualTo(": held by db1:4711 (not renewed for 4m, evicted) for 5m.");
    assertThat(LockFormatter.session(dead.holders().get(0))).isEqualTo("evicted, TTL 15s");
    LockParticipant alive = heldBy(Duration.ofSeconds(4), TTL).holders().get(0);
    assertThat(LockFormatter.session(alive)).isEqualTo("evicted, renewed 4s ago, TTL 15s");
    LockParticipant atMost = heldBy(null, TTL).holders().get(0);
    assertThat(LockFormatter.isEvicted(atMost)).isFalse();
    assertThat(LockFormatter.json(alive)).containsEntry("evicted", true);
    LockParticipant healthy = heldBy(Duration.ofSeconds(4)).holders().get(0);
    assertThat(LockFormatter.json(healthy)).containsEntry("evicted", false);
    assertThat(LockFormatter.json(atMost)).containsEntry("evicted", null);
  }

  @Test
  void givenStoreThatDoesNotTellForHowLongAHolderHasHeld_thenItsAgeIsNull() {
    LockParticipant holder =
        new LockParticipant(
            heldBy(null).holders().get(0).attempt(),
            null,
            "",
            new Share(Access.EXCLUSIVE, 0, 0),
            0,
            Duration.ZERO,
            TTL,
            null,
            false,
            null,
            Duration.ZERO,
            null);
    assertThat(LockFormatter.json(holder)).containsEntry("sinceMillis", null);
    assertThat(LockFormatter.client(holder)).isEqualTo("(another client)");
  }

  @Test
  void givenForeignTextOfAMegabyte_thenItIsCut() {
    String long1 = "x".repeat(1 << 20);
    assertThat(OutputSanitizer.text(long1)).hasSizeLessThan(4100).endsWith("…");
    assertThat(OutputSanitizer.message(new IllegalStateException(long1))).hasSizeLessThan(4100);
    assertThat(OutputSanitizer.text("\ud83d\udd12".repeat(3000))).hasSizeLessThan(4100);
  }

  @Test
  void givenNamesThatLookAlike_thenTheyAreWrittenDifferently() {
    assertThat(OutputSanitizer.text("caf\u00e9")).isEqualTo("caf\u00e9");
    assertThat(OutputSanitizer.text("cafe\u0301")).isEqualTo("cafe\\u{301}");
    assertThat(OutputSanitizer.text("pay\u202eyap")).isEqualTo("pay\\u{202e}yap");
    assertThat(OutputSanitizer.text("\u0915\u093f")).as("normal").isEqualTo("\u0915\u093f");
  }

  @Test
  void givenHolderThatIsRenewed_orAStoreThatJudges_thenNothingIsSaid() {
    LockInfo renewed = heldBy(Duration.ofSeconds(6));
    assertThat(LockFormatter.situation(renewed)).isEqualTo(": held by db1:4711 for 5m.");
    assertThat(LockFormatter.waitingJudges(renewed, Duration.ZERO))
        .as("its clock may be wrong")
        .isNotEmpty();
    LockInfo judged = heldBy(null);
    assertThat(LockFormatter.situation(judged)).isEqualTo(": held by db1:4711 for 5m.");
    assertThat(LockFormatter.waitingJudges(judged, Duration.ZERO)).isEmpty();
  }
}
