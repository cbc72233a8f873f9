package io.mortise.console.observer;

import static org.assertj.core.api.Assertions.assertThat;

import io.mortise.admin.EndedHold;
import io.mortise.admin.EndedHold.EndCause;
import io.mortise.admin.LockInfo;
import io.mortise.admin.LockParticipant;
import io.mortise.admin.LockParticipant.Access;
import io.mortise.admin.LockParticipant.Share;
import java.time.Duration;
import java.time.Instant;
import java.util.List;
import java.util.OptionalInt;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** Detection of changes between two looks. */
class ChangeDetectorTest {
  private static final Instant START = Instant.ofEpochSecond(1_795_600_000);

  @ParameterizedTest
  @CsvSource({
    "RELEASED, RELEASED, ",
    "AT_MOST, LOST, its at-most time was over",
    "EVICTED, EVICTED, evicted by an operator",
    "SESSION_EXPIRED, LOST, its session was over"
  })
  void givenStoreThatTellsHowAHoldEnded_thenTheEventSaysThat(
      EndCause cause, ObservedKind kind, String text) {
    ObservedEvent event = endOf(1, new EndedHold(FakeAdmin.attempt(1, 1), cause));
    assertThat(event.kind()).isEqualTo(kind);
    assertThat(event.text()).isEqualTo(text);
  }

  @Test
  void givenEndOfAnotherHold_thenItSaysNothingOfThisOne() {
    EndedHold other = new EndedHold(FakeAdmin.attempt(2, 1), EndCause.EVICTED);
    assertThat(endOf(1, other).kind()).isEqualTo(ObservedKind.ENDED);
    assertThat(endOf(0, other).kind()).isEqualTo(ObservedKind.LOST);
  }

  @Test
  void givenWaiterThatHeldBetweenTwoLooks_thenTheRecordTellsThatItReleased() {
    EndedHold end = new EndedHold(FakeAdmin.attempt(1, 1), EndCause.RELEASED);
    LockInfo free =
        new LockInfo("a", OptionalInt.empty(), 7, Duration.ZERO, List.of(), List.of(), 0, 0, end);
    assertThat(
            ChangeDetector.changes(
                queue(List.of(party(1)), 1, 0), SeenLock.of(free, START.plusSeconds(1), 1)))
        .extracting(ObservedEvent::kind)
        .containsExactly(ObservedKind.RELEASED);
  }

  @Test
  void givenWaiterThatIsNotListedAnyMoreInALongQueue_thenItHasNotGivenUp() {
    LockParticipant waiter = party(1);
    assertThat(ChangeDetector.changes(queue(List.of(waiter), 5, 0), queue(List.of(), 4, 1)))
        .isEmpty();
    assertThat(ChangeDetector.changes(queue(List.of(waiter), 1, 0), queue(List.of(), 0, 1)))
        .extracting(ObservedEvent::kind)
        .containsExactly(ObservedKind.GAVE_UP);
  }

  private static SeenLock queue(List<LockParticipant> waiters, int count, int second) {
    LockInfo info =
        new LockInfo(
            "a", OptionalInt.empty(), 7, Duration.ZERO, List.of(), waiters, 0, count, null);
    return SeenLock.of(info, START.plusSeconds(second), second);
  }

  private static ObservedEvent endOf(int secondsLeft, EndedHold told) {
    LockInfo held =
        new LockInfo(
            "a",
            OptionalInt.empty(),
            7,
            Duration.ZERO,
            List.of(party(secondsLeft)),
            List.of(),
            0,
            0,
            null);
    LockInfo free =
        new LockInfo("a", OptionalInt.empty(), 7, Duration.ZERO, List.of(), List.of(), 0, 0, told);
    List<ObservedEvent> events =
        ChangeDetector.changes(
            SeenLock.of(held, START, 0), SeenLock.of(free, START.plusSeconds(2), 2));
    assertThat(events).hasSize(1);
    return events.get(0);
  }

  private static LockParticipant party(int secondsLeft) {
    return new LockParticipant(
        FakeAdmin.attempt(1, 1),
        null,
        "",
        new Share(Access.EXCLUSIVE, 0, 0),
        5,
        Duration.ofSeconds(1),
        Duration.ofSeconds(secondsLeft),
        null,
        false,
        null,
        Duration.ZERO,
        null);
  }
}
