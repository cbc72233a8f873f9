package io.mortise.cli;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import io.mortise.testkit.TestPrerequisites;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.condition.EnabledOnOs;
import org.junit.jupiter.api.condition.OS;

/**
 * The fate of a command when {@code mortise run}, its process group or its watcher is killed or
 * stopped.
 */
@EnabledOnOs(value = OS.LINUX, disabledReason = "needs setsid, timeout and /proc")
class RunCommandKillTest extends RunCommandHarness {
  /** Below the TTL of 12 s, so that no process is left when the lock is free again. */
  private static final Duration SOON = Duration.ofSeconds(11);

  /** A command that ignores SIGTERM, as do its children. */
  private static final String DEAF = "trap '' TERM; echo $$; while :; do sleep 0.1; done";

  @Test
  void givenTimeoutThatKillsAtOnce_whenItsTimeIsOver_thenCommandEnds() throws Exception {
    try (CliProcess timeout = startBy(List.of("timeout", "-s", "KILL", "1h"), "sleep 100")) {
      long command = awaitPid(timeout);
      timeout.signal("ALRM"); // like its timer, which kills the whole process group
      assertThat(timeout.status()).isEqualTo(128 + 9);
      awaitEnd(command, SOON);
      assertNothingLeft();
    }
  }

  @Test
  void givenTimeoutThatKillsLater_whenCommandIgnoresSigterm_thenItEnds() throws Exception {
    try (CliProcess timeout = startBy(List.of("timeout", "-k", "1s", "1h"), DEAF)) {
      long command = awaitPid(timeout);
      timeout.signal("ALRM");
      assertThat(timeout.status()).isEqualTo(128 + 9);
      awaitEnd(command, SOON);
      assertNothingLeft();
    }
  }

  @Test
  void givenProcessGroup_whenItIsKilled_thenCommandAndWhatItStartedEnd() throws Exception {
    String parent = "sh -c \"" + DEAF.replace("$", "\\$") + "\" & exec sleep 100";
    try (CliProcess tool = startBy(List.of("setsid"), parent)) {
      long grandchild = awaitPid(tool);
      long command = tool.process().children().findFirst().orElseThrow().pid();
      CliProcess.signal("KILL", -tool.process().pid());
      awaitEnd(command, SOON);
      awaitEnd(grandchild, SOON);
      assertNothingLeft();
    }
  }

  @Test
  void givenPerlInsteadOfSetsid_whenToolIsKilled_thenWatcherInItsOwnSessionEndsTheCommand()
      throws Exception {
    Map<String, String> variables = new HashMap<>();
    boolean found = programs(variables, "mkfifo", "rm", "sleep", "perl");
    TestPrerequisites.required(Optional.of("perl").filter(program -> found), "The program perl");
    try (CliProcess tool =
        CliProcess.startBy(
            List.of("setsid"),
            folder,
            FakeCliMain.class,
            variables,
            NO_INPUT,
            "run",
            "--grace",
            "1s",
            "job",
            "--",
            "/bin/sh",
            "-c",
            DEAF)) {
      long command = awaitPid(tool);
      assertThat(watcher(tool.process().pid())).isPresent();
      tool.signal("KILL");
      awaitEnd(command, LONG);
    }
  }

  @Test
  void givenTemporaryFolderThatIsCleaned_whenCommandIsEnded_thenLockIsKeptUntilItsChildrenEnd()
      throws Exception {
    String parent =
        "sh -c \""
            + DEAF.replace("$", "\\$")
            + "\" & trap 'exit 0' TERM; while :; do sleep 0.1; done";
    try (CliProcess tool = start("unrenewed", "1500ms", parent)) {
      long child = awaitPid(tool);
      clean();
      assertThat(tool.status()).isEqualTo(ExitStatus.LOST);
      assertThat(CliProcess.isAlive(child)).isFalse();
      assertThat(tool.err()).contains("ommand was ended (status 0)");
    }
  }

  @Test
  void givenWatcherThatWasKilled_whenToolIsTold_thenCommandEndsAllTheSame() throws Exception {
    try (CliProcess tool = start("job", "1s", "echo $$; exec sleep 100")) {
      long command = awaitPid(tool);
      CliProcess.signal("KILL", watcher(tool.process().pid()).orElseThrow());
      await().atMost(LONG).until(() -> tool.err().contains("was killed"));
      tool.signal("TERM");
      assertThat(tool.status()).isEqualTo(128 + 15);
      assertThat(CliProcess.isAlive(command)).isFalse();
      assertThat(tool.err()).hasLineCount(1).contains("would work on without the lock");
    }
  }

  @Test
  void givenToolThatIsStopped_whenValidityIsOver_thenCommandHasEndedAndThatIsTold()
      throws Exception {
    try (CliProcess tool = start("unrenewed", "1s", DEAF)) {
      long command = awaitPid(tool);
      long granted = System.nanoTime();
      tool.signal("STOP");
      awaitEnd(command, LONG);
      assertThat(ps("stat=", tool.process().pid())).startsWith("T");
      // The command ends before the validity does.
      await().until(() -> System.nanoTime() - granted > FakeClient.UNRENEWED.toNanos());
      tool.signal("CONT");
      assertThat(tool.status()).isEqualTo(ExitStatus.LOST);
      assertThat(tool.err()).contains("Lock 'unrenewed' was lost while the command ran");
    }
  }

  @Test
  void givenToolThatIsStoppedForAWhile_whenItGoesOn_thenCommandGoesOn() throws Exception {
    Path go = folder.resolve("go");
    assertThat(new ProcessBuilder("mkfifo", go.toString()).start().waitFor()).isZero();
    try (CliProcess tool = start("job", "1s", "echo $$; read line <" + go + "; exit 7")) {
      awaitPid(tool);
      tool.signal("STOP");
      await().atMost(LONG).until(() -> ps("stat=", tool.process().pid()).startsWith("T"));
      tool.signal("CONT");
      Files.writeString(go, "on\n");
      assertThat(tool.status()).isEqualTo(7);
      assertThat(tool.err()).isEmpty();
    }
  }

  private CliProcess startBy(List<String> program, String script) throws IOException {
    return CliProcess.startBy(
        program,
        folder,
        FakeCliMain.class,
        Map.of("MORTISE_STORE", "fake:"),
        NO_INPUT,
        "run",
        "--ttl",
        "12s",
        "--grace",
        "1s",
        "job",
        "--",
        "sh",
        "-c",
        script.startsWith("sleep") ? "echo $$; exec " + script : script);
  }

  private CliProcess start(String name, String grace, String script) throws IOException {
    return CliProcess.start(
        folder,
        FakeCliMain.class,
        Map.of("MORTISE_STORE", "fake:"),
        NO_INPUT,
        "run",
        "--grace",
        grace,
        name,
        "--",
        "sh",
        "-c",
        script);
  }

  /** Sets variables for a tool that finds only these programs; false if one is missing. */
  private boolean programs(Map<String, String> variables, String... names) throws IOException {
    Path programs = Files.createDirectory(folder.resolve("bin"));
    for (String name : names) {
      Path file =
          Stream.of("/usr/bin", "/bin")
              .map(where -> Path.of(where, name))
              .filter(Files::isExecutable)
              .findFirst()
              .orElse(null);
      if (file == null) {
        return false;
      }
      Files.createSymbolicLink(programs.resolve(name), file);
    }
    variables.put("PATH", programs.toString());
    variables.put("MORTISE_STORE", "fake:");
    return true;
  }

  /** Deletes old files, like a cleanup of the temporary folder. */
  private void clean() throws IOException {
    try (Stream<Path> files = Files.walk(folder)) {
      for (Path file :
          files
              .filter(path -> folder.relativize(path).toString().startsWith("mortise-"))
              .sorted((a, b) -> b.compareTo(a))
              .toList()) {
        Files.deleteIfExists(file);
      }
    }
  }

  private static String ps(String column, long pid) throws IOException {
    Process ps = new ProcessBuilder("ps", "-o", column, "-p", Long.toString(pid)).start();
    return new String(ps.getInputStream().readAllBytes(), UTF_8).strip();
  }

  private static void awaitEnd(long pid, Duration within) {
    await().atMost(within).until(() -> !CliProcess.isAlive(pid));
  }
}
