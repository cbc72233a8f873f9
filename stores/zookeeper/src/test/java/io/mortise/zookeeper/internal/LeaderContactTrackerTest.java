package io.mortise.zookeeper.internal;

import static org.assertj.core.api.Assertions.assertThat;

import org.junit.jupiter.api.Test;

/** Times in ticks of 10, the session's timeout is 100. */
class LeaderContactTrackerTest {
  private final LeaderContactTracker leaderContactTracker = new LeaderContactTracker(10);

  private boolean reaches(long until) {
    return leaderContactTracker.reach(until, 100);
  }

  @Test
  void givenNothingAnswered_thenNothingIsProven() {
    assertThat(reaches(0)).isFalse();
  }

  @Test
  void givenASessionThatBegan_thenItLivesForItsTimeout() {
    leaderContactTracker.heard(5);
    assertThat(reaches(105)).isTrue();
    assertThat(reaches(106)).isFalse();
  }

  @Test
  void givenThreeRequests_thenTheFirstIsProvenIfTheSecondCameATickAfterItsAnswer() {
    leaderContactTracker.answered(0, 5, 1);
    leaderContactTracker.answered(14, 16, 1);
    leaderContactTracker.answered(17, 18, 1);
    assertThat(reaches(100)).as("sent less than a tick after the answer").isFalse();
    leaderContactTracker.answered(19, 20, 1);
    assertThat(reaches(100)).isTrue();
    assertThat(reaches(101)).isFalse();
  }

  @Test
  void givenTwoRequests_thenNothingIsProven() {
    leaderContactTracker.answered(0, 1, 1);
    leaderContactTracker.answered(50, 51, 1);
    assertThat(reaches(100)).isFalse();
  }

  @Test
  void givenThirdRequestSentBeforeTheSecondWasAnswered_thenItProvesNothing() {
    leaderContactTracker.answered(0, 1, 1);
    leaderContactTracker.answered(20, 30, 1);
    leaderContactTracker.answered(29, 31, 1);
    assertThat(reaches(100)).isFalse();
  }

  @Test
  void givenAnotherConnection_thenRequestsOfTheOneBeforeDoNotCountYetWhatIsProvenStays() {
    leaderContactTracker.heard(0);
    leaderContactTracker.answered(40, 41, 1);
    leaderContactTracker.answered(60, 61, 2);
    leaderContactTracker.answered(62, 63, 2);
    assertThat(reaches(140)).isFalse();
    assertThat(reaches(100)).isTrue();
  }

  @Test
  void givenManyRequestsInQuickSuccession_thenAnOldEnoughOneIsStillKnown() {
    for (long i = 0; i < 100; i++) {
      leaderContactTracker.answered(2 * i, 2 * i + 1, 1);
    }
    assertThat(reaches(100 + 2 * 99 - 20)).isTrue();
  }

  @Test
  void givenMoreRequestsWithinATickThanAreRemembered_thenTwoMoreProveTheFirstOnes() {
    for (long i = 0; i < 100; i++) {
      leaderContactTracker.answered(0, 1, 1);
    }
    assertThat(leaderContactTracker.isNear(100, 100)).isFalse();
    leaderContactTracker.answered(11, 12, 1);
    assertThat(leaderContactTracker.isNear(100, 100)).isTrue();
    assertThat(leaderContactTracker.isNear(101, 100)).isFalse();
    leaderContactTracker.answered(12, 13, 1);
    assertThat(reaches(100)).isTrue();
  }
}
