package io.mortise.jdbc.notify;

import static org.assertj.core.api.Assertions.assertThat;

import io.mortise.spi.time.Ticker;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.atomic.AtomicInteger;
import org.awaitility.Awaitility;
import org.junit.jupiter.api.Test;

class NotificationPollerTest {
  private static final long OFTEN = Duration.ofMillis(1).toNanos();

  @Test
  void givenPlacesInTheQueue_whenPausing_thenTheHeadLooksOftenAndOthersLess() {
    Duration quiet = Duration.ofMillis(150);
    assertThat(pause(0, quiet)).hasMillis(1);
    assertThat(pause(1, quiet)).hasMillis(5);
    assertThat(pause(9, quiet)).hasMillis(37);
    assertThat(pause(Integer.MAX_VALUE, quiet)).hasMillis(100);
  }

  @Test
  void givenLockThatMovedAMomentAgo_whenPausing_thenThoseFarBackLookAsSoonAgain() {
    assertThat(pause(1_000, Duration.ZERO)).hasMillis(1);
    assertThat(pause(1_000, Duration.ofMillis(7))).hasMillis(7);
    assertThat(pause(1, Duration.ofMillis(7))).hasMillis(5);
  }

  @Test
  void givenHeadThatHasWaitedLong_whenPausing_thenItLooksLessOften() {
    assertThat(pause(0, Duration.ofSeconds(1))).hasMillis(5);
    assertThat(pause(0, Duration.ofSeconds(4))).hasMillis(20);
    assertThat(pause(0, Duration.ofHours(1))).hasMillis(100);
  }

  @Test
  void givenErrorWhileItReads_thenItReadsAgain() {
    AtomicInteger readings = new AtomicInteger();
    NotificationPoller.NotificationReader reader =
        (session, after) -> {
          if (readings.incrementAndGet() == 1) {
            throw new LinkageError("for a test");
          }
          return List.of();
        };
    try (NotificationPoller poller =
        new NotificationPoller(
            "poller", Ticker.SYSTEM, null, reader, () -> Duration.ofNanos(OFTEN))) {
      poller.add(new WaitingSession());
      Awaitility.await().atMost(Duration.ofSeconds(20)).until(() -> readings.get() > 1);
    }
  }

  private static Duration pause(int ahead, Duration quiet) {
    return Duration.ofNanos(NotificationPoller.pause(OFTEN, ahead, quiet.toNanos()));
  }
}
