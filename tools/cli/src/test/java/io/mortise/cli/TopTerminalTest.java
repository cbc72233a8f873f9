package io.mortise.cli;

import static org.assertj.core.api.Assertions.assertThat;

import io.mortise.Lease;
import io.mortise.LockClient;
import io.mortise.testkit.TestPrerequisites;
import io.mortise.testserver.RedisServer;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.Map;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** {@code mortise top} at a terminal, which a Python script provides. */
@Tag("extended")
class TopTerminalTest {
  private static final String LEFT = "await \\x1b[?1049l";

  @TempDir private Path folder;

  @BeforeEach
  void needsPython() {
    TerminalRun.needsPython();
  }

  private TerminalRun top(Map<String, String> variables, String words, String... orders)
      throws Exception {
    return TerminalRun.of(folder, FakeCliMain.class, variables, words, null, orders);
  }

  @Test
  void givenLocks_whenOneIsEvicted_thenItAsks_andWhatWasDoneStaysBelowTheCommand()
      throws Exception {
    TerminalRun run =
        top(
            Map.of(),
            "top --allow close",
            "await \\x1b[?1049h",
            "await db1:4711",
            "type e",
            "await db1:4711 has held lock 'held' for 3m (report.sh).",
            "await Evict it? [y/N]",
            "type y",
            "await Told db1:4711 to let go of lock 'held'.",
            "type q",
            LEFT,
            "await Evictor - An operator at the terminal evicted from lock 'held' (store=",
            "await mortise: Told db1:4711 to let go of lock 'held'.",
            "sane");
    assertThat(run.status()).isZero();
    assertThat(run.out()).contains("\u001b[7m").doesNotContain("\u001b[2Jevil");
  }

  @ParameterizedTest
  @CsvSource({"type \\x03, 130", "kill TERM, 143", "kill HUP, 129"})
  void givenScreen_whenProcessIsEnded_thenTheTerminalIsAsBefore(String end, int status)
      throws Exception {
    TerminalRun run = top(Map.of(), "top", "await db1:4711", end, LEFT, "sane");
    assertThat(run.status()).isEqualTo(status);
    assertThat(run.out()).doesNotContain("defect");
  }

  @ParameterizedTest
  @CsvSource({"TERM, 143", "HUP, 129"})
  void givenStoppedOutput_whenProcessIsKilled_thenItEnds(String signal, int status)
      throws Exception {
    TerminalRun run =
        top(Map.of(), "top", "await db1:4711", "type \\x13", "kill " + signal, "sane");
    assertThat(run.status()).isEqualTo(status);
  }

  @Test
  void givenScreen_whenShown_thenLongLinesDoNotWrap_andDoSoAgainAfterwards() throws Exception {
    TerminalRun run =
        top(
            Map.of(),
            "top",
            "await \\x1b[?7l",
            "await db1:4711",
            "type q",
            "await \\x1b[?7h",
            "sane");
    assertThat(run.status()).isZero();
  }

  @ParameterizedTest
  @CsvSource({
    "type q, true, Told, 0",
    "type q, false, What came of it is not known, 0",
    "type \\x03, true, Told, 130",
    "type \\x03, false, What came of it is not known, 130"
  })
  void givenEvictionOnTheWay_whenEnded_thenItsOutcomeIsWaitedFor_butNotForLong(
      String end, boolean answered, String told, int status) throws Exception {
    try (RedisServer server =
            RedisServer.start(
                TestPrerequisites.required(RedisServer.bundled(), "The Redis server"));
        LockClient locks =
            LockClient.builder().url(server.url()).ttl(Duration.ofMinutes(2)).build()) {
      // It is evicted, so closing it would throw.
      assertThat(locks.lock("settlement").acquire().token()).isPositive();
      String goOn = "run kill -CONT " + server.info("process_id");
      TerminalRun run =
          TerminalRun.of(
              folder,
              Main.class,
              Map.of("MORTISE_STORE", server.url()),
              "top --allow close",
              null,
              "await settlement",
              "type e",
              "await Evict it? [y/N]",
              "run kill -STOP " + server.info("process_id"),
              "type y",
              // The question in the last line gives way to the request.
              "await \\x1b[24;1H\\x1b[2K",
              end,
              LEFT,
              answered ? goOn : "run true",
              "await mortise: ",
              "await " + told,
              goOn,
              "sane");
      assertThat(run.status()).isEqualTo(status);
    }
  }

  @Test
  void givenEviction_whenControlCEnds_thenWhatWasDoneIsToldAllTheSame() throws Exception {
    TerminalRun run =
        top(
            Map.of(),
            "top --allow close",
            "await db1:4711",
            "type e",
            "await Evict it? [y/N]",
            "type y",
            "await Told db1:4711",
            "type \\x03",
            LEFT,
            "await mortise: Told db1:4711 to let go of lock 'held'.",
            "sane");
    assertThat(run.status()).isEqualTo(130);
  }

  @Test
  void givenScreen_whenTerminalGetsAnotherSize_thenItIsDrawnAnew() throws Exception {
    TerminalRun run =
        top(
            Map.of(),
            "top",
            "await db1:4711",
            "resize 9 30",
            "await \\x1b[2J",
            "await \\x1b[9;1H\\x1b[2K\\x1b[2mEnter open   / filter   s ord…",
            "type q",
            LEFT,
            "sane");
    assertThat(run.status()).isZero();
  }

  @Test
  void givenNoColor_whenShown_thenThereIsNone() throws Exception {
    TerminalRun run = top(Map.of("NO_COLOR", "1"), "top", "await db1:4711", "type q", LEFT, "sane");
    assertThat(run.out()).contains("\u001b[7m").doesNotContain("\u001b[33m", "\u001b[31m");
  }

  @Test
  void givenDumbTerminal_whenAsked_thenItSaysWhatToUse() throws Exception {
    TerminalRun run = top(Map.of("TERM", "dumb"), "top", "await mortise ls --sort trouble --watch");
    assertThat(run.status()).isEqualTo(ExitStatus.USAGE);
    assertThat(run.out()).doesNotContain("\u001b");
  }

  @Test
  void givenRedis_whenItGoesAwayAndComesBack_thenBothIsShown() throws Exception {
    try (RedisServer server =
            RedisServer.start(
                TestPrerequisites.required(RedisServer.bundled(), "The Redis server"));
        LockClient locks =
            LockClient.builder().url(server.url()).ttl(Duration.ofMinutes(2)).build();
        Lease lease = locks.lock("settlement").acquire()) {
      TerminalRun run =
          TerminalRun.of(
              folder,
              Main.class,
              Map.of("MORTISE_STORE", server.url()),
              "top",
              null,
              "await settlement",
              "run kill -STOP " + server.info("process_id"),
              "await The store does not answer since",
              "run kill -CONT " + server.info("process_id"),
              // The counts replace the line of the outage.
              "await \\x1b[2;1H\\x1b[2K1 held, 0 waited for",
              "type q",
              LEFT,
              "sane");
      assertThat(run.status()).isZero();
      assertThat(lease.token()).isPositive();
    }
  }

  @Test
  void givenAnotherCommand_whenRun_thenTheLibraryOfTheScreenIsNotLoaded() throws Exception {
    Path classes = folder.resolve("classes");
    for (String command : new String[] {"ls", "--help"}) {
      try (CliProcess tool =
          CliProcess.start(
              folder,
              FakeCliMain.class,
              Map.of(
                  "MORTISE_STORE",
                  "fake:",
                  "JAVA_TOOL_OPTIONS",
                  "-Xlog:class+load:file=" + classes),
              ProcessBuilder.Redirect.PIPE,
              command)) {
        assertThat(tool.status()).isZero();
      }
      assertThat(Files.readString(classes))
          .contains("io.mortise.cli.Main")
          .doesNotContain("org.jline", "io.mortise.cli.top.TopSession");
    }
  }
}
