package io.mortise.torture.hazards;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;

import io.mortise.Lease;
import io.mortise.LockClient;
import io.mortise.testkit.RerunIfPaused;
import io.mortise.testserver.FakeClock;
import java.io.OutputStream;
import java.io.PrintStream;
import java.nio.file.Path;
import java.time.Duration;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/** A client whose host has a wrong time of day: real processes under a settable clock. */
@Timeout(300)
class ClientClockTest {
  private static final Duration TTL = Duration.ofSeconds(10);
  private static final Duration HOUR = Duration.ofHours(1);
  private static final String LOCK = "invoice/42";

  @TempDir Path folder;

  private enum ClockTestStore {
    REDIS,
    SQLITE
  }

  private String start(ClockTestStore clockTestStore, HazardContext hazardContext) {
    return switch (clockTestStore) {
      case REDIS -> hazardContext.redis().url();
      case SQLITE -> "jdbc:sqlite:" + folder.resolve("locks.db");
    };
  }

  @ParameterizedTest
  @RerunIfPaused
  @EnumSource(ClockTestStore.class)
  void givenHolder_whenItsHostsClockIsSet_thenItHoldsOnAndNobodyElseIsGranted(
      ClockTestStore clockTestStore) throws Exception {
    try (HazardContext hazardContext =
        new HazardContext(new PrintStream(OutputStream.nullOutputStream(), false, UTF_8), null)) {
      String url = start(clockTestStore, hazardContext);
      FakeClock clock =
          hazardContext.open(
              FakeClock.installed().orElseThrow(() -> new MissingProgramException("faketime")));
      clock.set(HOUR);
      HolderProcess holder = hazardContext.open(new HolderProcess(clock.prefix()));
      long ahead = Long.parseLong(holder.ask("clock")) - System.currentTimeMillis();
      assertThat(Duration.ofMillis(ahead)).isBetween(HOUR.minusMinutes(5), HOUR.plusMinutes(5));
      LockClient other = hazardContext.client(url, "other", TTL);
      long token = Long.parseLong(holder.ask("mortise", url, Long.toString(TTL.toMillis()), LOCK));

      for (Duration offset : new Duration[] {HOUR.negated(), HOUR.multipliedBy(24)}) {
        clock.set(offset);
        assertThat(other.lock(LOCK).tryAcquire(Duration.ofSeconds(3))).isEmpty();
        assertThat(holder.ask("valid")).isEqualTo("true");
      }

      assertThat(holder.ask("release")).isEqualTo("ok");
      try (Lease next = other.lock(LOCK).acquireWithin(Duration.ofSeconds(20))) {
        assertThat(next.token()).isGreaterThan(token);
      }
    } catch (MissingProgramException e) {
      HazardRunner.skip(e);
    }
  }
}
