package io.mortise.cli;

import static org.assertj.core.api.Assertions.assertThat;

import io.mortise.Lease;
import io.mortise.LockClient;
import io.mortise.LockOptions;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import jdk.jfr.Recording;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class EventsCommandTest extends CommandHarness {
  @TempDir private Path folder;

  private Path recording() throws IOException, InterruptedException {
    Path file = folder.resolve("app.jfr");
    try (Recording recording = new Recording()) {
      recording.enable("io.mortise.Acquire").withThreshold(Duration.ZERO);
      recording.enable("io.mortise.Hold").withThreshold(Duration.ZERO);
      recording.start();
      try (LockClient locks = LockClient.connect("mem:")) {
        try (Lease lease =
            locks.lock("invoice/42", LockOptions.DEFAULTS.withLabel("nightly")).acquire()) {
          lease.ensureValid();
        }
        locks.lock("report").acquire().close();
      }
      recording.stop();
      recording.dump(file);
    }
    return file;
  }

  @Test
  void givenRecording_whenShown_thenEachAcquireHoldAndSessionIsALine() throws Exception {
    String file = recording().toString();
    assertThat(execute("events", file)).isZero();
    assertThat(out().lines())
        .hasSize(7)
        .first()
        .asString()
        .startsWith("TIME")
        .contains("TOKEN", "DETAIL");
    assertThat(out())
        .containsPattern("Acquire +invoice/42 .*nightly")
        .containsPattern("Hold +report ");

    out.reset();
    assertThat(execute("events", file, "--lock", "inv", "--longest", "--limit", "1")).isZero();
    assertThat(out().lines()).hasSize(2);
    assertThat(out()).contains("invoice/42").doesNotContain("report");

    out.reset();
    assertThat(execute("events", file, "--lock", "report", "--json")).isZero();
    assertThat(out()).contains("\"event\" : \"Hold\"", "\"lock\" : \"report\"");
  }

  @Test
  void givenFileThatIsNoRecording_whenShown_thenItIsSaid() throws Exception {
    Path text = Files.writeString(folder.resolve("notes.txt"), "no recording");
    assertThat(execute("events", text.toString())).isEqualTo(ExitStatus.USAGE);
    assertThat(words(err())).contains("cannot be read as a flight recording");
    assertThat(execute("events", folder.resolve("none.jfr").toString()))
        .isEqualTo(ExitStatus.USAGE);
    assertThat(words(err())).contains("There is no file");
    assertThat(execute("events", text.toString(), "--limit", "0")).isEqualTo(ExitStatus.USAGE);
  }
}
