package io.mortise.cli;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.condition.DisabledOnOs;
import org.junit.jupiter.api.condition.OS;

/** {@code mortise run --leader} as a real process; only the store is fake. */
@DisabledOnOs(value = OS.WINDOWS, disabledReason = "needs sh")
class RunLeaderTest extends RunCommandHarness {
  @Test
  void givenLeader_whenItsLockIsEvicted_thenItsCommandEndsAndIsStartedAgain() throws Exception {
    try (CliProcess tool = run("evicted", "echo $$; exec sleep 100", "--leader")) {
      await().atMost(LONG).until(() -> tool.out().lines().count() >= 3);
      List<Long> commands = tool.out().lines().map(Long::valueOf).toList();
      assertThat(CliProcess.isAlive(commands.get(0))).isFalse();
      tool.signal("TERM");
      assertThat(tool.status()).isIn(128 + 15, ExitStatus.LOST);
      assertThat(tool.err()).contains("Lock 'evicted' was lost while the command ran");
      assertThat(tool.out().lines()).doesNotHaveDuplicates();
      assertNothingLeft();
    }
  }

  @Test
  void givenLeader_whenItsCommandEnds_thenItIsStartedAgainAfterAPause() throws Exception {
    try (CliProcess tool = run("job", "date +%s%3N; exit 3", "--leader")) {
      await().atMost(LONG).until(() -> tool.out().lines().count() >= 3);
      List<Long> starts = tool.out().lines().map(Long::valueOf).toList();
      assertThat(starts.get(1) - starts.get(0)).isGreaterThanOrEqualTo(1000);
      assertThat(starts.get(2) - starts.get(1)).isGreaterThanOrEqualTo(2000);
      assertThat(tool.err()).contains("The command has ended (status 3). ", "stands again in 1s.");
      tool.signal("TERM");
      assertThat(tool.status()).isIn(3, 128 + 15);
      assertNothingLeft();
    }
  }

  @Test
  void givenLeaderBetweenTwoTerms_whenStoppedAndContinued_thenItStandsAgain() throws Exception {
    try (CliProcess tool = run("job", "echo ran", "--leader")) {
      await().atMost(LONG).until(() -> tool.err().contains("stands again in 1s."));
      for (String signal : List.of("CONT", "TSTP", "CONT")) {
        tool.signal(signal);
      }
      await().atMost(LONG).until(() -> tool.out().lines().count() >= 2);
      tool.signal("TERM");
      assertThat(tool.status()).isIn(0, 128 + 15);
    }
  }

  @Test
  void givenLeader_whenAnOperatorEndsItsWait_thenItStandsAgain() throws Exception {
    try (CliProcess tool = run("awaited", "echo ran; exec sleep 100", "--leader")) {
      await().atMost(LONG).until(() -> tool.out().equals("ran\n"));
      assertThat(tool.err())
          .contains("The wait for lock 'awaited' was ended by an operator.", "stands again in 1s.");
      tool.signal("TERM");
      assertThat(tool.status()).isEqualTo(128 + 15);
    }
  }

  @Test
  void givenLeader_whenItsTemporaryFolderIsGoneForAWhile_thenItsCommandIsStartedAfterThat()
      throws Exception {
    Path temporary = folder.resolve("gone");
    Map<String, String> variables =
        Map.of("MORTISE_STORE", "fake:", "TMPDIR", temporary.toString());
    try (CliProcess tool =
        tool(NO_INPUT, variables, "run", "--leader", "job", "--", "echo", "ran")) {
      await().atMost(LONG).until(() -> tool.err().contains("stands again in 1s."));
      assertThat(tool.err()).contains("The command could not be started: ").contains("TMPDIR");
      Files.createDirectory(temporary);
      await().atMost(LONG).until(() -> tool.out().startsWith("ran\n"));
      tool.signal("TERM");
      assertThat(tool.status()).isIn(0, 128 + 15);
    }
  }

  @Test
  void givenLeader_whenToolIsTold_thenItsCommandIsToldAndTheToolEndsWithItsStatus()
      throws Exception {
    try (CliProcess tool =
        run(
            "job",
            "trap 'exit 5' TERM; echo $$; while :; do sleep 0.1; done",
            "--leader",
            "--quiet")) {
      awaitPid(tool);
      tool.signal("TERM");
      assertThat(tool.status()).isEqualTo(5);
      // The shell may report that its sleep was terminated.
      assertThat(tool.err()).doesNotContain("mortise:");
    }
  }

  @Test
  void givenLeaderThatWaits_whenToolIsTold_thenStatusIs143() throws Exception {
    try (CliProcess tool = run("taken", "echo never", "--leader")) {
      await().atMost(LONG).until(() -> tool.err().contains(FakeClient.WAITS));
      tool.signal("TERM");
      assertThat(tool.status()).isEqualTo(128 + 15);
      assertThat(tool.out()).isEmpty();
    }
  }

  @Test
  void givenLeaderWithOptionsOfASingleRun_thenItIsRefused() throws Exception {
    try (CliProcess tool = run("job", "echo never", "--leader", "--wait", "1s", "--shared")) {
      assertThat(tool.status()).isEqualTo(ExitStatus.USAGE);
      assertThat(tool.err()).contains("Leave out --shared, --wait, or --leader.");
      assertThat(tool.out()).isEmpty();
    }
  }
}
