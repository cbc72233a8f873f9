package io.mortise.cli;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;
import static org.junit.jupiter.api.Assumptions.assumeFalse;

import java.io.IOException;
import java.io.OutputStream;
import java.lang.ProcessBuilder.Redirect;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.condition.DisabledOnOs;
import org.junit.jupiter.api.condition.OS;

/**
 * {@code mortise run} as a real process, with real commands and signals; only the store is fake.
 */
@DisabledOnOs(value = OS.WINDOWS, disabledReason = "needs sh")
class RunCommandTest extends RunCommandHarness {
  @Test
  void givenCommand_whenItEnds_thenToolEndsWithItsStatus() throws Exception {
    try (CliProcess tool = run("job", "exit 3")) {
      assertThat(tool.status()).isEqualTo(3);
      assertThat(tool.err()).isEmpty();
      assertNothingLeft();
    }
  }

  @Test
  void givenStatus75_thenALineTellsThatOfTheToolFromThatOfTheCommand() throws Exception {
    try (CliProcess tool = run("taken", "echo never", "--wait", "0", "--quiet")) {
      assertThat(tool.status()).isEqualTo(ExitStatus.NOT_HAD);
      assertThat(tool.err()).contains("Lock 'taken' was not had");
    }
    try (CliProcess tool = run("job", "exit 75", "--wait", "0", "--quiet")) {
      assertThat(tool.status()).isEqualTo(ExitStatus.NOT_HAD);
      assertThat(tool.err()).isEmpty();
    }
    // As on the page about cron.
    try (CliProcess tool = run("job", "sh -c 'exit 75' || exit 1", "--wait", "0")) {
      assertThat(tool.status()).isEqualTo(1);
    }
  }

  @Test
  void givenCommand_whenSignalEndsIt_thenStatusIs128AndItsNumber() throws Exception {
    try (CliProcess tool = run("job", "kill -KILL $$")) {
      assertThat(tool.status()).isEqualTo(128 + 9);
    }
  }

  @Test
  void givenStoreInAFile_thenTheCommandGetsThatFile_byItsWholePath() throws Exception {
    Path file = Files.writeString(folder.resolve("store"), "redis://:s3cret@cache:6379\n");
    for (Map<String, String> variables :
        List.of(Map.of("MORTISE_STORE", "@" + file), Map.of("MORTISE_STORE", "fake:"))) {
      String[] option =
          variables.containsValue("fake:")
              ? new String[] {"--store", "@" + Path.of("").toAbsolutePath().relativize(file)}
              : new String[0];
      String[] args =
          Stream.of(
                  Stream.of("run"),
                  Stream.of(option),
                  Stream.of("job", "--", "sh", "-c", "echo $MORTISE_STORE"))
              .flatMap(words -> words)
              .toArray(String[]::new);
      try (CliProcess tool = tool(NO_INPUT, variables, args)) {
        assertThat(tool.status()).isZero();
        Path told = Path.of(tool.out().strip().substring(1));
        assertThat(told).isAbsolute();
        assertThat(Files.isSameFile(told, file)).isTrue();
      }
    }
  }

  @Test
  void givenInputFromPipe_whenCommandReads_thenItGetsEveryByte() throws Exception {
    try (CliProcess tool = tool(Redirect.PIPE, Map.of(), "run", "job", "--", "cat")) {
      try (OutputStream in = tool.process().getOutputStream()) {
        in.write("line\n\0no newline".getBytes(UTF_8));
      }
      assertThat(tool.status()).isZero();
      assertThat(tool.out()).isEqualTo("line\n\0no newline");
    }
  }

  @Test
  void givenInputFromFile_whenCommandReads_thenItReadsOnWhereOthersStopped() throws Exception {
    Path input = Files.writeString(folder.resolve("input"), "first\nsecond\n");
    String java =
        String.join(" ", CliProcess.words(FakeCliMain.class, "run", "-q", "job", "--", "cat"));
    Process shell =
        new ProcessBuilder("sh", "-c", "read line; " + java)
            .redirectInput(input.toFile())
            .redirectErrorStream(true)
            .start();
    assertThat(new String(shell.getInputStream().readAllBytes(), UTF_8)).isEqualTo("second\n");
    assertThat(shell.waitFor()).isZero();
  }

  @Test
  void givenStoreWithPassword_whenCommandLooksAround_thenItSeesTokenButNoSecret() throws Exception {
    Map<String, String> variables =
        Map.of("MORTISE_STORE", "redis://me:hun@ter2@cache:6379", "with.dot", "kept");
    try (CliProcess tool = tool(NO_INPUT, variables, "run", "job", "--", "env")) {
      assertThat(tool.status()).isZero();
      assertThat(tool.out()).containsPattern("\nMORTISE_PID=\\d+\n");
      assertThat(tool.out())
          .contains("MORTISE_LOCK=job\n", "MORTISE_TOKEN=917\n", "with.dot=kept\n")
          .contains("MORTISE_STORE=redis://me:***@cache:6379\n");
      assertThat(tool.out() + tool.err()).doesNotContain("hun").doesNotContain("ter2");
    }
  }

  @Test
  void givenVariableThatIsNoShellName_whenCommandRuns_thenItsValueIsInNoCommandLine()
      throws Exception {
    String value = "s3cret\n two  lines\n";
    Map<String, String> variables =
        Map.of("MORTISE_STORE", "fake:", "spring.datasource.password", value);
    try (CliProcess tool = tool(NO_INPUT, variables, "run", "job", "--", "sleep", "100")) {
      await().atMost(LONG).until(() -> sleeps(tool).findAny().isPresent());
      assertThat(commandLines()).contains("lifeline.sh").doesNotContain("s3cret");
      long command = sleeps(tool).findAny().orElseThrow().pid();
      assertThat(Files.readString(Path.of("/proc/" + command + "/environ")).split("\0"))
          .contains("spring.datasource.password=" + value);
    }
  }

  @Test
  void givenNoShellThatHandsOnSuchVariables_whenCommandRuns_thenItLacksThemAndThatIsSaid()
      throws Exception {
    assumeFalse(handsOnDots("/bin/sh"), "Every shell here hands on what has dots in its name.");
    Path programs = Files.createDirectory(folder.resolve("bin"));
    for (String program : List.of("mkfifo", "rm")) {
      Path way = programs.resolve(program);
      Files.writeString(way, "#!/bin/sh\nPATH=/bin:/usr/bin exec " + program + " \"$@\"\n");
      assertThat(way.toFile().setExecutable(true)).isTrue();
    }
    Map<String, String> variables =
        Map.of("MORTISE_STORE", "fake:", "PATH", programs.toString(), "with.dot", "s3cret");
    String env = Files.isExecutable(Path.of("/usr/bin/env")) ? "/usr/bin/env" : "/bin/env";
    try (CliProcess tool = tool(NO_INPUT, variables, "run", "job", "--", env)) {
      assertThat(tool.status()).isZero();
      assertThat(tool.out()).contains("MORTISE_LOCK=job\n").doesNotContain("s3cret");
      assertThat(tool.err())
          .startsWith("mortise: The command does not see the variables '")
          .contains("'with.dot'")
          .hasLineCount(1)
          .doesNotContain("s3cret");
    }
  }

  @Test
  void givenCommandThatWaitsForItsChildren_whenRun_thenItFindsNoneThatItDidNotStart()
      throws Exception {
    String script =
        "for s in /proc/[0-9]*/stat; do read -r p n st pp r <$s; [ $pp = $$ ] && echo $n; done";
    try (CliProcess tool = run("job", script)) {
      tool.status();
      assertThat(tool.out()).isEmpty();
    }
  }

  @Test
  void givenRunningCommand_whenToolIsTold_thenCommandIsToldAndAllThatItStarted() throws Exception {
    try (CliProcess tool =
        run(
            "job",
            "trap 'echo told; exit 5' TERM; sh -c 'trap : TERM; sleep 100; sleep 100' & echo $!;"
                + " while :; do sleep 0.1; done")) {
      long grandchild = awaitPid(tool);
      tool.signal("TERM");
      assertThat(tool.status()).isEqualTo(5);
      assertThat(tool.out()).endsWith("told\n");
      assertThat(CliProcess.isAlive(grandchild)).isFalse();
      assertNothingLeft();
    }
  }

  @Test
  void givenRunningCommand_whenToolIsInterrupted_thenStatusIs130() throws Exception {
    CliProcess.needsInterrupts();
    try (CliProcess tool = run("job", "echo $$; exec sleep 100")) {
      awaitPid(tool);
      tool.signal("INT");
      assertThat(tool.status()).isEqualTo(130);
    }
  }

  @Test
  void givenRunningCommand_whenToolIsStoppedAndContinued_thenCommandStopsAndContinues()
      throws Exception {
    try (CliProcess tool = run("job", "echo $$; exec sleep 100")) {
      long command = awaitPid(tool);
      tool.signal("TSTP");
      await()
          .atMost(LONG)
          .until(
              () -> state(command).startsWith("T") && state(tool.process().pid()).startsWith("T"));
      tool.signal("CONT");
      await().atMost(LONG).until(() -> !state(command).startsWith("T"));
      tool.signal("TERM");
      assertThat(tool.status()).isEqualTo(128 + 15);
    }
  }

  @Test
  void givenRunningCommand_whenToolIsKilled_thenCommandAndGrandchildEnd() throws Exception {
    try (CliProcess tool =
        run(
            "job",
            "sh -c 'trap : TERM; sleep 100; sleep 100' & echo $!; exec sleep 100",
            "--ttl",
            "12s",
            "--grace",
            "1s")) {
      long grandchild = awaitPid(tool);
      long child = tool.process().children().findFirst().orElseThrow().pid();
      tool.process().destroyForcibly();
      await()
          .atMost(Duration.ofSeconds(12))
          .until(() -> !CliProcess.isAlive(child) && !CliProcess.isAlive(grandchild));
      await().atMost(LONG).untilAsserted(this::assertNothingLeft);
    }
  }

  @Test
  void givenRoundsThatTakeLong_whenToolIsKilled_thenDeafCommandIsKilledWhenTheGraceIsOver()
      throws Exception {
    // As long as on a machine with many processes.
    Path programs = Files.createDirectory(folder.resolve("bin"));
    Path slow = Files.writeString(programs.resolve("sleep"), "#!/bin/sh\nexec /bin/sleep 2\n");
    assertThat(slow.toFile().setExecutable(true)).isTrue();
    Map<String, String> variables =
        Map.of("MORTISE_STORE", "fake:", "PATH", programs + ":" + System.getenv("PATH"));
    String deaf = "trap '' TERM; echo $$; while :; do /bin/sleep 0.1; done";
    try (CliProcess tool =
        tool(NO_INPUT, variables, "run", "--grace", "1s", "job", "--", "sh", "-c", deaf)) {
      long command = awaitPid(tool);
      tool.process().destroyForcibly();
      // Ten rounds would take twenty seconds.
      await().atMost(Duration.ofSeconds(10)).until(() -> !CliProcess.isAlive(command));
      await().atMost(LONG).untilAsserted(this::assertNothingLeft);
    }
  }

  @Test
  void givenLeaseThatIsNotRenewed_whenGraceBegins_thenCommandIsToldAndMayEndInTime()
      throws Exception {
    try (CliProcess tool =
        run(
            "unrenewed",
            "trap 'echo told; exit 0' TERM; while :; do sleep 0.1; done",
            "--at-most",
            "1h", // far away: this lease ends otherwise
            "--grace",
            "4s")) { // half of its validity: half for the start, half for the end
      assertThat(tool.status()).isEqualTo(ExitStatus.LOST);
      assertThat(tool.out()).isEqualTo("told\n");
      assertThat(tool.err())
          .contains(
              "Lock 'unrenewed' could not be kept: its renewal was overdue. The command was ended"
                  + " (status 0)");
    }
  }

  @Test
  void givenAtMostTime_whenItIsNearlyOver_thenCommandIsEndedForThatReason() throws Exception {
    String atMost = FakeClient.UNRENEWED.toSeconds() + "s";
    try (CliProcess tool =
        run("unrenewed", "exec sleep 100", "--at-most", atMost, "--grace", "3s")) {
      assertThat(tool.status()).isEqualTo(ExitStatus.LOST);
      assertThat(tool.err())
          .contains("Lock 'unrenewed' could not be kept: its at-most time is over.");
    }
  }

  @Test
  void givenDeafCommand_whenLeaseIsNotRenewed_thenItIsKilledBeforeValidityEnds() throws Exception {
    String deaf =
        "trap '' TERM; (while :; do date +%s%3N >>" + folder + "/alive; sleep 0.02; done) & wait";
    long lived = Long.MAX_VALUE;
    // A pause of the machine delays the tool too.
    for (int i = 0; i < 3 && lived > FakeClient.UNRENEWED.toMillis(); i++) {
      try (CliProcess tool =
          run("unrenewed", "date +%s%3N >" + folder + "/start; " + deaf, "--grace", "500ms")) {
        assertThat(tool.status()).isEqualTo(ExitStatus.LOST);
        long start = Long.parseLong(Files.readString(folder.resolve("start")).strip());
        lived = lastLine(folder.resolve("alive")) - start;
        assertNothingLeft();
      }
    }
    assertThat(lived)
        .isBetween(
            FakeClient.UNRENEWED.minusSeconds(3).toMillis(), FakeClient.UNRENEWED.toMillis());
  }

  @Test
  void givenEvictedLock_whenCommandRuns_thenItIsEnded() throws Exception {
    try (CliProcess tool = run("evicted", "exec sleep 100")) {
      assertThat(tool.status()).isEqualTo(ExitStatus.LOST);
      assertThat(tool.err())
          .contains(
              "Lock 'evicted' was lost while the command ran: an operator evicted it; the command",
              "may overlap",
              "with token 917");
    }
  }

  @Test
  void givenEvictedLockThatTheStoreKeepsShut_whenCommandIsEnded_thenNobodyOverlaps()
      throws Exception {
    try (CliProcess tool = run("shut", "exec sleep 100")) {
      assertThat(tool.status()).isEqualTo(ExitStatus.LOST);
      assertThat(tool.err())
          .contains(
              "Lock 'shut' was lost while the command ran: an operator evicted it; the command was"
                  + " ended (status 143) before anybody else could have the lock.")
          .doesNotContain("overlap");
    }
  }

  @Test
  void givenToolThatStoodStillSinceTheGrant_whenItGoesOn_thenCommandIsNotStarted()
      throws Exception {
    try (CliProcess tool = run("outdated", "echo never")) {
      assertThat(tool.status()).isEqualTo(ExitStatus.LOST);
      assertThat(tool.out()).isEmpty();
      assertThat(tool.err()).contains("was lost before the command began").hasLineCount(1);
    }
  }

  @Test
  void givenTakenLock_whenInterruptedWhileWaiting_thenStatusIs130() throws Exception {
    CliProcess.needsInterrupts();
    try (CliProcess tool = run("taken", "echo never")) {
      await().atMost(LONG).until(() -> tool.err().contains(FakeClient.WAITS));
      tool.signal("INT");
      assertThat(tool.status()).isEqualTo(130);
      assertThat(tool.out()).isEmpty();
    }
  }

  @Test
  void givenCommandThatCannotBeStarted_thenTheLockIsOpened_andNoAtLeastTimeKeepsItShut()
      throws Exception {
    Map<String, String> variables =
        Map.of("MORTISE_STORE", "fake:", "PATH", folder.toString()); // without mkfifo
    try (CliProcess tool =
        tool(NO_INPUT, variables, "run", "--at-least", "1h", "job", "--", "/bin/sh")) {
      assertThat(tool.status()).isEqualTo(ExitStatus.FAILED);
      assertThat(tool.err()).contains(FakeClient.SHUT_FOR + "PT0.001S\n", "could not be started");
    }
  }

  @Test
  void givenNoTemporaryFolder_thenItIsNamedBeforeTheWaitForTheLock() throws Exception {
    Map<String, String> variables =
        Map.of("MORTISE_STORE", "fake:", "TMPDIR", folder.resolve("gone").toString());
    try (CliProcess tool = tool(NO_INPUT, variables, "run", "taken", "--", "/bin/sh")) {
      assertThat(tool.status()).isEqualTo(ExitStatus.FAILED);
      assertThat(tool.err())
          .contains("could not be started", "Name another in TMPDIR")
          .doesNotContain(FakeClient.WAITS);
    }
  }

  @Test
  void givenTakenLock_whenTimeIsOver_thenStatusIs75() throws Exception {
    try (CliProcess tool = run("taken", "echo never", "--wait", "200ms")) {
      assertThat(tool.status()).isEqualTo(ExitStatus.NOT_HAD);
      assertThat(tool.err()).contains("Lock 'taken' was not had within 200ms");
      assertThat(tool.out()).isEmpty();
    }
  }

  @Test
  void givenStoreThatWarns_whenRun_thenTerminalDoesNotObeyAndQuietHidesIt() throws Exception {
    try (CliProcess tool = run("warned", "true")) {
      assertThat(tool.status()).isZero();
      assertThat(tool.err())
          .contains("Server says: \\x1b]0;evil\\x07 password=***")
          .hasLineCount(1);
    }
    try (CliProcess tool = run("warned", "true", "--quiet")) {
      assertThat(tool.status()).isZero();
      assertThat(tool.err()).isEmpty();
    }
  }

  /** Processes adopted by the tool. */
  private static Stream<ProcessHandle> sleeps(CliProcess tool) {
    return tool.process()
        .children()
        .filter(child -> child.info().command().orElse("").endsWith("/sleep"));
  }

  /** The command lines of all processes, which all users can read. */
  private static String commandLines() throws IOException {
    Process ps = new ProcessBuilder("ps", "-A", "-ww", "-o", "args=").start();
    return new String(ps.getInputStream().readAllBytes(), UTF_8);
  }

  private static boolean handsOnDots(String shell) throws IOException {
    ProcessBuilder builder = new ProcessBuilder(shell, "-c", "exec env");
    builder.environment().put("with.dot", "handed on");
    return new String(builder.start().getInputStream().readAllBytes(), UTF_8)
        .contains("with.dot=handed on");
  }

  private static String state(long pid) throws IOException {
    Process ps = new ProcessBuilder("ps", "-o", "stat=", "-p", Long.toString(pid)).start();
    return new String(ps.getInputStream().readAllBytes(), UTF_8);
  }

  /** SIGTERM is never ignored, not even in the background. */
  private static long lastLine(Path file) throws IOException {
    var lines = Files.readAllLines(file);
    return Long.parseLong(lines.get(lines.size() - 1));
  }
}
