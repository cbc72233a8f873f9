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
import java.util.OptionalLong;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicLong;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.condition.EnabledOnOs;
import org.junit.jupiter.api.condition.OS;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

class SuspendedTimeTest {
  @TempDir private Path folder;

  @Test
  void givenUptimeThatRunsAhead_thenTheDifferenceIsTold() throws IOException {
    Path uptime = folder.resolve("uptime");
    Files.writeString(uptime, "100.50 180.00\n");
    Ticker suspended = from(uptime, System::nanoTime);
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
    Ticker suspended = from(uptime, now::get);
    Ticker lately = SuspendedTime.lately(suspended, now::get);

    now.addAndGet(9_000_000);

    assertThat(suspended.nanos()).isZero();
    assertThat(lately.nanos()).isZero();
  }

  @Test
  void givenFileThatCannotBeReadForAMoment_thenWhatItSaidLastIsTold() throws IOException {
    Path uptime = folder.resolve("uptime");
    Files.writeString(uptime, "100.50 180.00\n");
    Ticker suspended = from(uptime, System::nanoTime);
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
    Ticker suspended = from(uptime, () -> 100_000_000_000L);
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

    assertThat(from(empty, System::nanoTime).nanos()).isZero();
    assertThat(from(folder.resolve("missing"), System::nanoTime).nanos()).isZero();
  }

  /** On a busy machine a thread may be paused between its two readings. */
  @ParameterizedTest
  @ValueSource(ints = {1, 2, 3, 4, 5, 6})
  void givenThreadThatStandsStillBetweenTheClocks_thenThatIsNoSuspension(int call)
      throws IOException {
    Path uptime = Files.writeString(folder.resolve("uptime"), "100.00 180.00\n");
    AtomicInteger calls = new AtomicInteger();
    AtomicLong now = new AtomicLong(100_000_000_000L);
    Ticker suspended =
        from(
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

  /** A container whose lxcfs is restarted, and so shows the host's file for a moment. */
  @Test
  void givenFileThatJumpsWithoutASuspension_thenNoneIsTold_andALaterOneIs() throws IOException {
    Path uptime = Files.writeString(folder.resolve("uptime"), "100.00 180.00\n");
    AtomicLong kernel = new AtomicLong(5_000_000_000_000L);
    Ticker suspended =
        SuspendedTime.from(
            uptime, () -> 100_000_000_000L, () -> OptionalLong.of(kernel.get() + 20_000_000));
    List<Long> told = new ArrayList<>();

    for (int seconds : List.of(9_100, 100, 9_100)) {
      Files.writeString(uptime, seconds + ".00 180.00\n");
      told.add(Duration.ofNanos(suspended.nanos()).toSeconds());
    }
    kernel.addAndGet(Duration.ofSeconds(60).toNanos());
    for (int seconds : List.of(9_160, 160, 170)) {
      Files.writeString(uptime, seconds + ".00 180.00\n");
      told.add(Duration.ofNanos(suspended.nanos()).toSeconds());
    }
    kernel.addAndGet(Duration.ofSeconds(30).toNanos());
    Files.writeString(uptime, "9230.00 180.00\n");
    told.add(Duration.ofNanos(suspended.nanos()).toSeconds());

    assertThat(told).containsExactly(0L, 0L, 0L, 60L, 60L, 60L, 90L);
  }

  /** A container whose lxcfs has died. */
  @Test
  void givenFileThatIsGone_whenTheHostIsSuspended_thenTheKernelTells_andTheFileDoesNotAddToIt()
      throws IOException {
    Path uptime = Files.writeString(folder.resolve("uptime"), "100.00 180.00\n");
    AtomicLong kernel = new AtomicLong(5_000_000_000_000L);
    Ticker suspended =
        SuspendedTime.from(uptime, () -> 100_000_000_000L, () -> OptionalLong.of(kernel.get()));
    Files.delete(uptime);
    assertThat(suspended.nanos()).isZero();
    kernel.addAndGet(Duration.ofMinutes(2).toNanos());
    assertThat(Duration.ofNanos(suspended.nanos())).hasSeconds(120);
    Files.writeString(uptime, "220.00 180.00\n");
    assertThat(Duration.ofNanos(suspended.nanos())).hasSeconds(120);
  }

  @Test
  void givenKernelThatCannotBeAsked_thenTheFileIsBelieved() throws IOException {
    Path uptime = Files.writeString(folder.resolve("uptime"), "100.00 180.00\n");
    AtomicInteger asked = new AtomicInteger();
    Ticker suspended =
        SuspendedTime.from(
            uptime,
            () -> 100_000_000_000L,
            () ->
                asked.getAndIncrement() == 0
                    ? OptionalLong.of(5_000_000_000_000L)
                    : OptionalLong.empty());

    Files.writeString(uptime, "160.00 180.00\n");

    assertThat(Duration.ofNanos(suspended.nanos())).isEqualTo(Duration.ofSeconds(60));
  }

  @Test
  @EnabledOnOs(OS.LINUX)
  void givenKernel_whenItIsAskedTwice_thenNoMoreHasPassedThanByTheMonotonicClock() {
    long before = System.nanoTime();
    long first = BootTime.nanos().orElseThrow();
    long second = BootTime.nanos().orElseThrow();

    assertThat(second - first)
        .isBetween(0L, System.nanoTime() - before + Duration.ofMillis(10).toNanos());
  }

  private static Ticker from(Path uptime, Ticker monotonic) {
    return SuspendedTime.from(uptime, monotonic, OptionalLong::empty);
  }

  private static void write(Path file, String text) {
    try {
      Files.writeString(file, text);
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }
}
