package io.mortise.recipe.engine;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.mortise.LockException;
import io.mortise.recipe.BarrierBrokenException.Reason;
import io.mortise.spi.Fact;
import java.util.List;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;

/** The pure steps of latches and barriers. */
class RecipeDocumentsTest {
  private static final String ID = "abcdefghijkl";

  private static Fact fact(String content) {
    return new Fact(17, content);
  }

  // ---- Latch ----

  private static LatchDocument counted(int parties, int count) {
    LatchDocument latch = LatchDocument.first(ID, parties);
    for (int i = 0; i < count; i++) {
      latch = latch.counted("party " + i);
    }
    return latch;
  }

  @Test
  void givenParties_thenEachCountsOnce_andTheLastOpens() {
    LatchDocument latch = counted(3, 2);
    assertThat(latch.remaining()).isEqualTo(1);
    assertThat(latch.counted("party 0")).isEqualTo(latch);
    assertThat(latch.isOpen()).isFalse();
    LatchDocument open = latch.counted("party 2");
    assertThat(open.isOpen()).isTrue();
    assertThat(open.remaining()).isZero();
    assertThat(open.counted("late")).isEqualTo(open);
  }

  @Test
  void givenLatchOfAnySize_thenItFits_andIsReadAsItWasWritten() {
    for (int parties : List.of(1, 2, 500, 501, 1000)) {
      for (int count : List.of(0, 1, parties - 1, parties)) {
        LatchDocument latch = counted(parties, count);
        assertThat(latch.remaining()).as("%d of %d", count, parties).isEqualTo(parties - count);
        assertThat(latch.encode().length()).isLessThanOrEqualTo(Fact.MAX_CHARS);
        assertThat(LatchDocument.decode("l", parties, fact(latch.encode()))).contains(latch);
      }
    }
    assertThat(LatchDocument.decode("l", 2, Fact.NONE)).isEmpty();
  }

  @Test
  void givenOtherText_thenItIsNoLatch() {
    for (String text :
        List.of("1 D run 7 -", "2 L id 3 *", "1 L id 3", "1 L id x *", "1 L id 3 short", "1")) {
      assertThatThrownBy(() -> LatchDocument.decode("l", 3, fact(text)))
          .as(text)
          .isInstanceOf(LockException.class)
          .hasMessageContaining("latch 'l'");
    }
    assertThatThrownBy(() -> LatchDocument.decode("l", 4, fact(counted(3, 1).encode())))
        .isInstanceOf(LockException.class)
        .hasMessageContaining("for 3 parties, not 4");
  }

  // ---- Barrier ----

  private static BarrierDocument read(BarrierDocument barrier) {
    assertThat(barrier.encode().length()).isLessThanOrEqualTo(Fact.MAX_CHARS);
    assertThat(BarrierDocument.decode("b", barrier.parties(), fact(barrier.encode())))
        .contains(barrier);
    return barrier;
  }

  @Test
  void givenAllParties_thenTheGenerationPasses_andTheNextGathers() {
    BarrierDocument barrier = read(BarrierDocument.first(ID, 3));
    barrier = read(barrier.entered("a"));
    barrier = read(barrier.entered("b"));
    assertThat(barrier.state(1)).isEqualTo(PhaseState.OPEN);
    assertThat(barrier.arrived()).isEqualTo(2);
    barrier = read(barrier.entered("c"));
    assertThat(barrier.state(1)).isEqualTo(PhaseState.PASSED);
    assertThat(barrier.arrived()).isZero();
    assertThat(barrier.last()).isEqualTo("c");
    barrier = read(barrier.entered("d"));
    assertThat(barrier.state(1)).isEqualTo(PhaseState.PASSED);
    assertThat(barrier.state(2)).isEqualTo(PhaseState.OPEN);
    assertThat(barrier.state(3)).isEqualTo(PhaseState.broken(Reason.FORGOTTEN));
  }

  @Test
  void givenBrokenGeneration_thenItStaysBroken_andWhatHasEndedDoesNotChange() {
    BarrierDocument barrier = BarrierDocument.first(ID, 2).entered("a");
    barrier = read(barrier.broken(1, Reason.PARTY_LOST));
    assertThat(barrier.broken(1, Reason.TIMED_OUT)).isEqualTo(barrier);
    barrier = read(barrier.entered("b").entered("c"));
    assertThat(barrier.broken(2, Reason.CANCELLED)).as("has passed").isEqualTo(barrier);
    assertThat(barrier.state(1)).isEqualTo(PhaseState.broken(Reason.PARTY_LOST));
    assertThat(barrier.state(2)).isEqualTo(PhaseState.PASSED);
  }

  @Test
  void givenStoreThatHasForgottenAnArrival_thenThatPartyLearnsIt_andTheOthersGoOn() {
    BarrierDocument one = BarrierDocument.first(ID, 3).entered("a");
    assertThat(one.state(1, 0)).isEqualTo(PhaseState.OPEN);
    assertThat(one.state(1, 1)).isEqualTo(PhaseState.broken(Reason.FORGOTTEN));
    BarrierDocument passed = one.entered("b").entered("c");
    assertThat(passed.state(1, 1)).isEqualTo(PhaseState.PASSED);
  }

  @Test
  void givenManyBrokenGenerations_thenTheEarliestAreForgotten_neverTakenForPassed() {
    BarrierDocument barrier = BarrierDocument.first(ID, 1000);
    int generations = BarrierDocument.MOST_BROKEN + 6;
    for (int i = 1; i <= generations; i++) {
      barrier = read(barrier.entered("p" + i).broken(i, Reason.TIMED_OUT));
    }
    for (int i = 1; i <= generations; i++) {
      assertThat(barrier.state(i))
          .as("generation %d", i)
          .isEqualTo(PhaseState.broken(i <= 6 ? Reason.FORGOTTEN : Reason.TIMED_OUT));
    }
  }

  @Test
  void givenOtherText_thenItIsNoBarrier() {
    for (String text :
        List.of(
            "1 L id 3 *", "1 B id 2 1 0 - 1", "1 B id 2 x 0 - 1 ", "1 B id 2 1 0 - 1 Q1", "1")) {
      assertThatThrownBy(() -> BarrierDocument.decode("b", 2, fact(text)))
          .as(text)
          .isInstanceOf(LockException.class)
          .hasMessageContaining("barrier 'b'");
    }
    String two = BarrierDocument.first(ID, 2).encode();
    assertThatThrownBy(() -> BarrierDocument.decode("b", 3, fact(two)))
        .isInstanceOf(LockException.class)
        .hasMessageContaining("by 2 parties, not 3");
  }

  @Test
  void givenPartiesThatLeave_thenTheyDoTogether_orNotAtAll() {
    LeaveDocument leaving = LeaveDocument.first(3).left(0).left(2).left(0);
    assertThat(leaving.state()).isEqualTo(PhaseState.OPEN);
    assertThat(LeaveDocument.decode("b", fact(leaving.encode()))).contains(leaving);
    LeaveDocument left = leaving.left(1);
    assertThat(left.state()).isEqualTo(PhaseState.PASSED);
    assertThat(left.broken(Reason.PARTY_LOST)).isEqualTo(left);
    assertThat(LeaveDocument.decode("b", fact(left.encode()))).contains(left);
    LeaveDocument broken = leaving.broken(Reason.PARTY_LOST);
    assertThat(broken.left(1)).isEqualTo(broken);
    assertThat(broken.broken(Reason.CANCELLED)).isEqualTo(broken);
    assertThat(LeaveDocument.decode("b", fact(broken.encode()))).contains(broken);
    LeaveDocument large = LeaveDocument.first(1000).left(999);
    assertThat(large.encode().length()).isLessThan(Fact.MAX_CHARS);
  }

  // ---- Waiting ----

  @Test
  void givenLongerWait_thenThePauseGrows_withinItsBounds() {
    assertThat(DocumentPoll.pauseNanos(0, 0)).isEqualTo(TimeUnit.MILLISECONDS.toNanos(10));
    assertThat(DocumentPoll.pauseNanos(0, 0.99)).isEqualTo(TimeUnit.MILLISECONDS.toNanos(10));
    long second = TimeUnit.SECONDS.toNanos(1);
    assertThat(DocumentPoll.pauseNanos(second, 0)).isEqualTo(second / 8);
    assertThat(DocumentPoll.pauseNanos(second, 0.5)).isEqualTo(second * 3 / 32);
    assertThat(DocumentPoll.pauseNanos(1000 * second, 0)).isEqualTo(second / 2);
  }
}
