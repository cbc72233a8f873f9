package io.mortise.zookeeper.internal;

import static org.assertj.core.api.Assertions.assertThat;

import org.junit.jupiter.api.Test;

/** Times in ticks of 10, the session's timeout is 100, the TTL 60. */
class TouchesTest {
  private final Touches touches = new Touches(10);

  private boolean proves(long sentAt, long connection) {
    return touches.prove(sentAt, connection, 100, sentAt + 60);
  }

  @Test
  void givenNothingSentBefore_thenAnAnswerProvesNothing() {
    assertThat(proves(0, 1)).isFalse();
  }

  @Test
  void givenRequestATickBefore_thenTheLeaderHasHeardOfIt() {
    touches.add(0, 1);
    assertThat(proves(9, 1)).as("may still be with the follower").isFalse();
    assertThat(proves(10, 1)).isTrue();
    assertThat(proves(40, 1)).isTrue();
    assertThat(proves(41, 1)).as("too long ago for a whole TTL").isFalse();
  }

  @Test
  void givenAnotherConnection_thenWhatWasSentBeforeDoesNotCount() {
    touches.add(0, 1);
    assertThat(proves(20, 2)).isFalse();
    touches.add(20, 2);
    assertThat(proves(30, 2)).isTrue();
  }

  @Test
  void givenManyRequestsInQuickSuccession_thenAnOldEnoughOneIsStillKnown() {
    for (int i = 0; i < 100; i++) {
      touches.add(i, 1);
    }
    assertThat(proves(100, 1)).isTrue();
  }
}
