package io.mortise.memcached;

import static org.assertj.core.api.Assertions.assertThat;

import io.mortise.testkit.Seed;
import java.time.Duration;
import java.util.concurrent.TimeUnit;
import java.util.random.RandomGenerator;
import org.junit.jupiter.api.Test;

/**
 * Time by hand: a server whose clock of whole seconds is set once a second, and may stand still.
 */
class ServerClockTest {
  private static final long END = 2_592_000;
  private static final long SECOND = TimeUnit.SECONDS.toNanos(1);

  private static long left(long serverNanos) {
    return END - serverNanos / SECOND;
  }

  @Test
  void givenClockThatRuns_thenItIsNeverBehind_whereverWithinItsSecondsItWasReadFirst() {
    Seed seed = Seed.draw(1);
    RandomGenerator random = seed.random();
    for (int run = 0; run < 200; run++) {
      long ahead = random.nextLong(SECOND);
      long now = random.nextLong(100 * SECOND);
      ServerClock clock = new ServerClock("item", left(now + ahead), now);
      for (int i = 0; i < 100; i++) {
        now += random.nextLong(30 * SECOND);
        // Up to a second late, as where it skips one.
        long set = Math.max(0, now + ahead - random.nextLong(SECOND));
        assertThat(clock.isBehind(left(set), now)).as(seed.toString()).isFalse();
      }
    }
  }

  @Test
  void givenClockThatStoodStill_whenItIsReadBeforeItCaughtUp_thenItIsBehind_andNotAfterwards() {
    ServerClock clock = new ServerClock("item", left(0), 0);
    long now = Duration.ofSeconds(4).toNanos();
    assertThat(clock.isBehind(left(0), now)).isTrue();
    assertThat(clock.isBehind(left(now), now)).isFalse();
  }

  @Test
  void givenClockThatWasBehindWhenItWasReadFirst_thenTheNextReadingIsTheMeasure() {
    long now = Duration.ofSeconds(10).toNanos();
    ServerClock clock = new ServerClock("item", left(0), now);
    assertThat(clock.isBehind(left(now), now)).isFalse();
    assertThat(clock.isBehind(left(0), now)).isTrue();
  }

  /** The server's clock stands for its own seconds; ours runs as it should. */
  @Test
  void givenAnyFirstReading_whenALaterOneCounts_thenWhatIsTouchedThenLivesForTheTtl() {
    Seed seed = Seed.draw(1);
    RandomGenerator random = seed.random();
    Duration ttl = Duration.ofSeconds(5);
    long given = MemcachedKeys.seconds(ttl) * SECOND;
    long latest = 0;
    for (int run = 0; run < 100_000; run++) {
      long first = random.nextLong(2 * SECOND);
      long sent = first - random.nextLong(SECOND);
      ServerClock clock = new ServerClock("item", left(0), sent);
      long late = random.nextLong(6 * SECOND);
      long set = (1 + random.nextLong(10)) * SECOND;
      if (!clock.isBehind(left(set), set + late + random.nextLong(SECOND / 10))) {
        latest = Math.max(latest, late);
        assertThat(given - late).as("%s, late by %s", seed, late).isGreaterThan(ttl.toNanos());
      }
    }
    assertThat(latest).as("the control: there are late ones that count").isGreaterThan(3 * SECOND);
  }

  @Test
  void givenServerThatRunsSlower_thenTheMeasureFollows() {
    ServerClock clock = new ServerClock("item", left(0), 0);
    long day = Duration.ofDays(1).toNanos();
    for (long now = 0; now < day; now += Duration.ofMinutes(1).toNanos()) {
      assertThat(clock.isBehind(left(now - now / 10_000), now)).isFalse();
    }
  }

  @Test
  void givenItemThatIsAboutToEnd_thenItsAbsenceSaysNothing() {
    ServerClock clock = new ServerClock("item", 10, 0);
    assertThat(clock.hasEnded(0)).isFalse();
    assertThat(clock.hasEnded(Duration.ofSeconds(9).toNanos())).isTrue();
  }
}
