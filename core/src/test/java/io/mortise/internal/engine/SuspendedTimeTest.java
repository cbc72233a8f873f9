package io.mortise.internal.engine;

import static org.assertj.core.api.Assertions.assertThat;

import io.mortise.spi.Ticker;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class SuspendedTimeTest {
  @TempDir private Path folder;

  @Test
  void givenUptimeThatRunsAhead_thenTheDifferenceIsTold() throws IOException {
    Path uptime = folder.resolve("uptime");
    Files.writeString(uptime, "100.50 180.00\n");
    Ticker suspended = SuspendedTime.from(uptime);
    long before = suspended.nanos();

    Files.writeString(uptime, "3700.50 180.00\n");

    assertThat(Duration.ofNanos(suspended.nanos() - before))
        .isBetween(Duration.ofMinutes(59), Duration.ofMinutes(60));
  }

  @Test
  void givenFileThatCannotBeReadForAMoment_thenWhatItSaidLastIsTold() throws IOException {
    Path uptime = folder.resolve("uptime");
    Files.writeString(uptime, "100.50 180.00\n");
    Ticker suspended = SuspendedTime.from(uptime);
    long before = suspended.nanos();

    Files.writeString(uptime, "");
    assertThat(suspended.nanos()).isEqualTo(before);
    Files.delete(uptime);
    assertThat(suspended.nanos()).isEqualTo(before);
  }

  @Test
  void givenFileThatIsNotThereOrSaysNothing_thenNoTimeIsTold() throws IOException {
    Path empty = Files.createFile(folder.resolve("empty"));

    assertThat(SuspendedTime.from(empty).nanos()).isZero();
    assertThat(SuspendedTime.from(folder.resolve("missing")).nanos()).isZero();
  }
}
