package io.mortise.internal.runtime;

import static org.assertj.core.api.Assertions.assertThat;

import io.mortise.spi.time.Ticker;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicLong;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

class SuspendedTimeTest {
  @TempDir private Path folder;

  @Test
  void givenUptimeThatRunsAhead_thenTheDifferenceIsTold() throws IOException {
    Path uptime = folder.resolve("uptime");
    Files.writeString(uptime, "100.50 180.00\n");
    Ticker suspended = SuspendedTime.from(uptime, System::nanoTime);
    long before = suspended.nanos();

    Files.writeString(uptime, "3700.50 180.00\n");

    assertThat(Duration.ofNanos(suspended.nanos() - before))
        .isBetween(Duration.ofMinutes(59), Duration.ofMinutes(60));
  }

  /** The file has hundredths: until the next one the monotonic clock seems to run ahead. */
  @Test
  void givenTimeWithinAHundredthOfASecond_thenItDoesNotGoBack() throws IOException {
    Path uptime = Files.writeString(folder.resolve("uptime"), "100.00 180.00\n");
    AtomicLong now = new AtomicLong(100_000_000_000L);
    Ticker suspended = SuspendedTime.from(uptime, now::get);
    Ticker lately = SuspendedTime.lately(suspended, now::get);

    now.addAndGet(9_000_000);

    assertThat(suspended.nanos()).isZero();
    assertThat(lately.nanos()).isZero();
  }

  @Test
  void givenFileThatCannotBeReadForAMoment_thenWhatItSaidLastIsTold() throws IOException {
    Path uptime = folder.resolve("uptime");
    Files.writeString(uptime, "100.50 180.00\n");
    Ticker suspended = SuspendedTime.from(uptime, System::nanoTime);
    long before = suspended.nanos();

    Files.writeString(uptime, "");
    assertThat(suspended.nanos()).isEqualTo(before);
    Files.delete(uptime);
    assertThat(suspended.nanos()).isEqualTo(before);
  }

  /** As in a container whose file is the host's for a moment. */
  @Test
  void givenReadingThatWasFarTooGreat_thenItIsNotTakenBack_andLaterSuspensionsAreTold()
      throws IOException {
    Path uptime = Files.writeString(folder.resolve("uptime"), "100.00 180.00\n");
    Ticker suspended = SuspendedTime.from(uptime, () -> 100_000_000_000L);
    List<Long> told = new ArrayList<>();

    for (int seconds : List.of(100, 9_100, 100, 160, 9_100, 160, 170)) {
      Files.writeString(uptime, seconds + ".00 180.00\n");
      told.add(Duration.ofNanos(suspended.nanos()).toSeconds());
    }

    assertThat(told).containsExactly(0L, 9_000L, 9_000L, 9_060L, 18_000L, 18_000L, 18_010L);
  }

  @Test
  void givenFileThatIsNotThereOrSaysNothing_thenNoTimeIsTold() throws IOException {
    Path empty = Files.createFile(folder.resolve("empty"));

    assertThat(SuspendedTime.from(empty, System::nanoTime).nanos()).isZero();
    assertThat(SuspendedTime.from(folder.resolve("missing"), System::nanoTime).nanos()).isZero();
  }

  /** On a busy machine a thread may stand still after it has read the one and before the other. */
  @ParameterizedTest
  @ValueSource(ints = {1, 2, 3, 4, 5, 6})
  void givenThreadThatStandsStillBetweenTheClocks_thenThatIsNoSuspension(int call)
      throws IOException {
    Path uptime = Files.writeString(folder.resolve("uptime"), "100.00 180.00\n");
    AtomicInteger calls = new AtomicInteger();
    AtomicLong now = new AtomicLong(100_000_000_000L);
    Ticker suspended =
        SuspendedTime.from(
            uptime,
            () -> {
              if (calls.incrementAndGet() == call) {
                now.addAndGet(500_000_000);
                write(uptime, "100.50 180.00\n");
              }
              return now.get();
            });

    assertThat(suspended.nanos()).isZero();
    assertThat(suspended.nanos()).isZero();
  }

  @Test
  void givenManyAsksWithinAMillisecond_thenItIsReadOnce() {
    AtomicInteger reads = new AtomicInteger();
    AtomicLong now = new AtomicLong();
    Ticker lately = SuspendedTime.lately(reads::incrementAndGet, now::get);
    now.set(999_999);
    assertThat(lately.nanos()).isEqualTo(1);
    now.set(1_000_000);
    assertThat(lately.nanos()).isEqualTo(2);
    assertThat(lately.nanos()).isEqualTo(2);
  }

  @Test
  void givenSlowThreadThatReadEarlier_thenItsReadingDoesNotCount() {
    AtomicLong now = new AtomicLong();
    Ticker lately = SuspendedTime.lately(List.of(5L, 9L, 7L).iterator()::next, now::get);
    now.addAndGet(1_000_000);
    assertThat(lately.nanos()).isEqualTo(9);
    now.addAndGet(1_000_000);
    assertThat(lately.nanos()).isEqualTo(9);
  }

  private static void write(Path file, String text) {
    try {
      Files.writeString(file, text);
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }
}
