package io.mortise.dynamodb;

import static org.assertj.core.api.Assertions.assertThat;

import java.time.Duration;
import java.util.concurrent.atomic.AtomicLong;
import org.junit.jupiter.api.Test;

class AbsentVersionsTest {
  private final AtomicLong micros = new AtomicLong(Duration.ofDays(20_000).toNanos() / 1000);
  private final AbsentVersions versions = new AbsentVersions(micros::get);

  private void pass(Duration time) {
    micros.addAndGet(time.toNanos() / 1000);
  }

  @Test
  void givenTimeThatPasses_thenVersionsCountTenthsOfASecond_andTokensStayExactInJavaScript() {
    long before = versions.now();
    pass(Duration.ofSeconds(1));
    assertThat(versions.now() - before).isEqualTo(10);
    assertThat(versions.now() << 16).isLessThan(1L << 53);
  }

  @Test
  void givenLook_thenItServesForTwoMinutes_andNotLonger() {
    long look = versions.now();
    pass(AbsentVersions.RECENT);
    assertThat(versions.isRecent(look)).isTrue();
    pass(Duration.ofMillis(100));
    assertThat(versions.isRecent(look)).isFalse();
  }

  @Test
  void givenFloor_thenItIsKnownForTwoMinutesFromTheRequestOn() {
    assertThat(versions.knowsFloor()).isFalse();
    long begun = versions.begin();
    pass(Duration.ofSeconds(100));
    versions.learn(7, begun);
    assertThat(versions.knowsFloor()).isTrue();
    assertThat(versions.floor()).isEqualTo(7);
    pass(Duration.ofSeconds(20));
    assertThat(versions.knowsFloor()).isTrue();
    pass(Duration.ofMillis(100));
    assertThat(versions.knowsFloor()).isFalse();
  }

  /** Its host's clock is behind, or the removed document was written more often than it ticks. */
  @Test
  void givenFloorAheadOfTheClock_thenVersionsAreGreater_goOnFromThere_andEarlierLooksAreOld() {
    long look = versions.now();
    long floor = look + 100_000;
    long begun = versions.begin();
    pass(Duration.ofSeconds(1));
    versions.learn(floor, begun);
    assertThat(versions.now()).isGreaterThanOrEqualTo(floor);
    assertThat(versions.isRecent(look)).isFalse();
    long next = versions.now();
    assertThat(versions.isRecent(next)).isTrue();
    pass(Duration.ofSeconds(1));
    versions.learn(floor - 50, versions.begin());
    assertThat(versions.now()).isEqualTo(next + 10);
    assertThat(versions.floor()).isEqualTo(floor);
  }
}
