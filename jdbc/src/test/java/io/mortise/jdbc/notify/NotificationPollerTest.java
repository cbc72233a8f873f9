package io.mortise.jdbc.notify;

import static org.assertj.core.api.Assertions.assertThat;

import java.time.Duration;
import org.junit.jupiter.api.Test;

class NotificationPollerTest {
  private static final long OFTEN = Duration.ofMillis(1).toNanos();

  @Test
  void givenPlacesInTheQueue_whenPausing_thenTheHeadLooksOftenAndOthersLess() {
    assertThat(pause(0, Duration.ZERO)).hasMillis(1);
    assertThat(pause(1, Duration.ZERO)).hasMillis(5);
    assertThat(pause(9, Duration.ZERO)).hasMillis(37);
    assertThat(pause(Integer.MAX_VALUE, Duration.ZERO)).hasMillis(100);
  }

  @Test
  void givenHeadThatHasWaitedLong_whenPausing_thenItLooksLessOften() {
    assertThat(pause(0, Duration.ofSeconds(1))).hasMillis(5);
    assertThat(pause(0, Duration.ofSeconds(4))).hasMillis(20);
    assertThat(pause(0, Duration.ofHours(1))).hasMillis(100);
  }

  private static Duration pause(int ahead, Duration quiet) {
    return Duration.ofNanos(NotificationPoller.pause(OFTEN, ahead, quiet.toNanos()));
  }
}
