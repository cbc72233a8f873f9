package io.mortise.testkit.history;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.mortise.admin.LockInfo;
import io.mortise.admin.LockParticipant;
import io.mortise.spi.AttemptId;
import io.mortise.spi.Mode;
import io.mortise.spi.SessionId;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.OptionalInt;
import org.junit.jupiter.api.Test;

/** Known-bad histories are detected, known-good ones are accepted. */
class HistoryChecksTest {
  private static final long FOREVER = Long.MAX_VALUE;
  private final List<AttemptEvent> history = new ArrayList<>();

  private void hold(String id, Mode mode, long asked, long granted, long token, long released) {
    history.add(new AttemptEvent.AttemptAsked(asked, id, "p-" + id, "L", mode));
    history.add(new AttemptEvent.AttemptGranted(granted, id, token, FOREVER));
    history.add(new AttemptEvent.AttemptReleased(released, id));
  }

  private void queue(String id, long asked, long queued) {
    history.add(new AttemptEvent.AttemptAsked(asked, id, "p-" + id, "L", Mode.EXCLUSIVE));
    history.add(new AttemptEvent.AttemptQueued(queued, id));
  }

  private void grant(String id, long granted, long token, long released) {
    history.add(new AttemptEvent.AttemptGranted(granted, id, token, FOREVER));
    history.add(new AttemptEvent.AttemptReleased(released, id));
  }

  private static List<String> rules(List<Violation> found) {
    return found.stream().map(Violation::rule).toList();
  }

  @Test
  void givenHoldsOneAfterTheOther_thenNothingIsFound() {
    hold("a", Mode.EXCLUSIVE, 0, 1, 10, 5);
    hold("b", Mode.EXCLUSIVE, 0, 5, 11, 9);
    assertThat(HistoryChecks.all(history, true)).isEmpty();
  }

  @Test
  void givenTwoExclusiveBeliefsThatOverlap_thenExclusionIsBroken() {
    hold("a", Mode.EXCLUSIVE, 0, 1, 10, 5);
    hold("b", Mode.EXCLUSIVE, 0, 4, 11, 9);
    List<Violation> found = HistoryChecks.exclusion(history);
    assertThat(rules(found)).containsExactly("exclusion");
    assertThat(found.get(0).attempts()).containsExactly("a", "b");
    assertThat(found.get(0).message()).contains("a from 1 to 5").contains("At 4 ns");
  }

  @Test
  void givenTheSameOnAnotherLock_thenNothingIsFound() {
    hold("a", Mode.EXCLUSIVE, 0, 1, 10, 5);
    history.add(new AttemptEvent.AttemptAsked(0, "b", "p", "another", Mode.EXCLUSIVE));
    history.add(new AttemptEvent.AttemptGranted(2, "b", 3, FOREVER));
    assertThat(HistoryChecks.all(history, true)).isEmpty();
  }

  @Test
  void givenBeliefThatEndedByItsOwnDeadline_whenAnotherIsGranted_thenNothingIsFound() {
    history.add(new AttemptEvent.AttemptAsked(0, "a", "p", "L", Mode.EXCLUSIVE));
    history.add(new AttemptEvent.AttemptGranted(1, "a", 10, 100));
    history.add(new AttemptEvent.AttemptExtended(50, "a", 150));
    hold("b", Mode.EXCLUSIVE, 0, 150, 11, 200);
    assertThat(HistoryChecks.exclusion(history)).isEmpty();
  }

  @Test
  void givenBeliefThatIsExtendedAfterItsDeadline_whenAnotherIsGranted_thenExclusionIsBroken() {
    history.add(new AttemptEvent.AttemptAsked(0, "a", "p", "L", Mode.EXCLUSIVE));
    history.add(new AttemptEvent.AttemptGranted(1, "a", 10, 100));
    hold("b", Mode.EXCLUSIVE, 0, 110, 11, 200);
    history.add(new AttemptEvent.AttemptExtended(120, "a", 220));
    assertThat(rules(HistoryChecks.exclusion(history))).containsExactly("exclusion");
  }

  @Test
  void givenLossOrDeathBeforeTheNextGrant_thenNothingIsFound() {
    history.add(new AttemptEvent.AttemptAsked(0, "a", "p", "L", Mode.EXCLUSIVE));
    history.add(new AttemptEvent.AttemptGranted(1, "a", 10, FOREVER));
    history.add(new AttemptEvent.AttemptLost(4, "a"));
    history.add(new AttemptEvent.AttemptAsked(1, "b", "q", "L", Mode.EXCLUSIVE));
    history.add(new AttemptEvent.AttemptGranted(5, "b", 11, FOREVER));
    history.add(new AttemptEvent.ProcessDied(7, "q"));
    hold("c", Mode.EXCLUSIVE, 6, 8, 12, 9);
    assertThat(HistoryChecks.all(history, true)).isEmpty();
  }

  @Test
  void givenReaders_thenTheyShare_butAWriterAmongThemBreaksExclusion() {
    hold("a", Mode.SHARED, 0, 1, 10, 9);
    hold("b", Mode.SHARED, 0, 2, 11, 9);
    assertThat(HistoryChecks.exclusion(history)).isEmpty();
    hold("w", Mode.EXCLUSIVE, 0, 3, 12, 4);
    assertThat(rules(HistoryChecks.exclusion(history))).containsExactly("exclusion");
  }

  @Test
  void givenWriterThatNarrowed_thenReadersMayShare_andBeforeNot() {
    history.add(new AttemptEvent.AttemptAsked(0, "w", "p", "L", Mode.EXCLUSIVE));
    history.add(new AttemptEvent.AttemptGranted(1, "w", 10, FOREVER));
    history.add(new AttemptEvent.AttemptNarrowed(5, "w", Mode.SHARED));
    hold("r", Mode.SHARED, 0, 6, 11, 9);
    assertThat(HistoryChecks.exclusion(history)).isEmpty();
    hold("s", Mode.SHARED, 0, 4, 12, 9);
    assertThat(rules(HistoryChecks.exclusion(history))).containsExactly("exclusion");
  }

  @Test
  void givenMorePermitsThanThereAre_thenExclusionIsBroken() {
    hold("a", Mode.permits(2, 3), 0, 1, 10, 9);
    hold("b", Mode.permits(1, 3), 0, 2, 11, 9);
    assertThat(HistoryChecks.exclusion(history)).isEmpty();
    hold("c", Mode.permits(1, 3), 0, 3, 12, 9);
    assertThat(rules(HistoryChecks.exclusion(history))).containsExactly("exclusion");
  }

  @Test
  void givenLaterHoldWithSmallerToken_thenTokenOrderIsBroken() {
    hold("a", Mode.EXCLUSIVE, 0, 1, 10, 2);
    hold("b", Mode.EXCLUSIVE, 3, 4, 9, 5);
    assertThat(rules(HistoryChecks.tokenOrder(history))).containsExactly("token order");
  }

  @Test
  void givenTwoHoldsWithOneToken_thenTokenOrderIsBrokenEvenIfTheyWereAskedForTogether() {
    hold("a", Mode.EXCLUSIVE, 0, 2, 10, 3);
    hold("b", Mode.EXCLUSIVE, 1, 4, 10, 5);
    assertThat(rules(HistoryChecks.tokenOrder(history))).containsExactly("token order");
  }

  @Test
  void givenHoldsAskedForTogether_thenEitherTokenMayBeTheGreater() {
    hold("a", Mode.EXCLUSIVE, 0, 3, 11, 4);
    hold("b", Mode.EXCLUSIVE, 1, 2, 10, 3);
    assertThat(HistoryChecks.tokenOrder(history)).isEmpty();
  }

  @Test
  void givenReadersOfOneGrant_thenTheirTokensAreNotCompared_butWithAWritersTheyAre() {
    hold("a", Mode.SHARED, 0, 1, 10, 9);
    hold("b", Mode.SHARED, 2, 3, 10, 9);
    assertThat(HistoryChecks.tokenOrder(history)).isEmpty();
    hold("w", Mode.EXCLUSIVE, 10, 11, 10, 12);
    hold("c", Mode.SHARED, 20, 21, 7, 22);
    assertThat(rules(HistoryChecks.tokenOrder(history)))
        .containsExactly("token order", "token order");
  }

  @Test
  void givenLaterAttemptGrantedBeforeAQueuedOne_thenOrderOfArrivalIsBroken() {
    queue("a", 0, 1);
    queue("b", 2, 3);
    grant("b", 5, 10, 6);
    grant("a", 7, 11, 8);
    List<Violation> found = HistoryChecks.fifo(history);
    assertThat(rules(found)).containsExactly("first come, first served");
    assertThat(found.get(0).attempts()).containsExactly("a", "b");
  }

  @Test
  void givenAttemptThatWaitsForEver_whenALaterOneIsGranted_thenOrderOfArrivalIsBroken() {
    queue("a", 0, 1);
    hold("b", Mode.EXCLUSIVE, 2, 5, 10, 6);
    assertThat(rules(HistoryChecks.fifo(history))).containsExactly("first come, first served");
  }

  @Test
  void givenAttemptThatGaveUpAfterItWasPassed_thenOrderOfArrivalIsBroken_butNotIfBefore() {
    queue("a", 0, 1);
    hold("b", Mode.EXCLUSIVE, 2, 5, 10, 6);
    history.add(new AttemptEvent.AttemptGivenUp(7, "a"));
    assertThat(rules(HistoryChecks.fifo(history))).containsExactly("first come, first served");
    history.set(history.size() - 1, new AttemptEvent.AttemptGivenUp(4, "a"));
    assertThat(HistoryChecks.fifo(history)).isEmpty();
  }

  @Test
  void givenAttemptsThatWereNotQueuedWhenTheOtherAsked_orWereLost_thenNothingIsFound() {
    queue("a", 0, 4);
    queue("b", 2, 3);
    grant("b", 5, 10, 6);
    grant("a", 7, 11, 8);
    queue("lost", 0, 1);
    history.add(new AttemptEvent.AttemptLost(100, "lost"));
    queue("dead", 0, 1);
    history.add(new AttemptEvent.ProcessDied(100, "p-dead"));
    assertThat(HistoryChecks.fifo(history)).isEmpty();
  }

  @Test
  void givenHolderOrWaiterLeftInTheStore_thenItIsALeak_andIdleRecordsAreNot() {
    AttemptId attempt = new AttemptId(new SessionId("AAAAAAAAAAAA"), 1);
    LockParticipant participant =
        attempt.participant(
            null, "", Mode.share(1, 1), 1, Duration.ZERO, Duration.ZERO, null, Duration.ZERO, null);
    String name = "L";
    OptionalInt one = OptionalInt.of(1);
    LockInfo idle = new LockInfo(name, one, 1, Duration.ZERO, List.of(), List.of(), 0, 0, null);
    LockInfo held =
        new LockInfo(name, one, 1, Duration.ZERO, List.of(participant), List.of(), 0, 0, null);
    LockInfo waited =
        new LockInfo(name, one, 1, Duration.ZERO, List.of(), List.of(participant), 0, 0, null);
    assertThat(HistoryChecks.leaks(List.of(idle))).isEmpty();
    assertThat(rules(HistoryChecks.leaks(List.of(idle, held, waited))))
        .containsExactly("leak", "leak");
  }

  @Test
  void givenEventOfAnAttemptThatNeverAsked_thenTheHistoryIsRefused() {
    history.add(new AttemptEvent.AttemptReleased(1, "a"));
    assertThatThrownBy(() -> HistoryChecks.exclusion(history))
        .isInstanceOf(IllegalArgumentException.class)
        .hasMessageContaining("'a'");
  }

  @Test
  void givenEventsRecordedOutOfOrder_thenTheyComeBackByTime() {
    HistoryRecorder recorder = new HistoryRecorder();
    recorder.add(new AttemptEvent.AttemptReleased(9, "a"));
    recorder.add(new AttemptEvent.AttemptAsked(1, "a", "p", "L", Mode.EXCLUSIVE));
    assertThat(recorder.events()).extracting(AttemptEvent::nanos).containsExactly(1L, 9L);
  }
}
