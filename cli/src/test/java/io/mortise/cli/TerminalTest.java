package io.mortise.cli;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import java.io.IOException;
import java.io.InputStream;
import java.io.OutputStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Objects;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** {@code mortise run} at a terminal, which a Python script provides. */
class TerminalTest {
  @TempDir private Path folder;

  @BeforeEach
  void needsPython() {
    assumeTrue(
        runs("python3", "-c", "import pty"), "no python3 with pty: terminals are not tested");
  }

  @Test
  void givenTerminal_whenCommandReads_thenItReadsWhatIsTyped() throws Exception {
    TerminalResult result =
        atTerminal(
            "run job -- sh -c",
            "echo ready; read a; echo got $a",
            "await ready",
            "type hello\\n",
            "await got hello");
    assertThat(result.status()).isZero();
  }

  @Test
  void givenTerminal_whenControlC_thenCommandIsInterruptedOnce() throws Exception {
    TerminalResult result =
        atTerminal(
            "run job -- sh -c",
            "trap 'echo int; n=$((n+1))' INT; n=0; echo ready; while [ $n -eq 0 ]; do sleep 0.1;"
                + " done; sleep 0.5; echo n=$n",
            "await ready",
            "type \\x03",
            "await int",
            "await n=1");
    assertThat(result.status()).isZero();
  }

  @Test
  void givenTerminal_whenToolIsKilled_thenCommandAndGrandchildEnd() throws Exception {
    Path pid = folder.resolve("pid");
    TerminalResult result =
        atTerminal(
            "run --ttl 2s job -- sh -c",
            "sh -c 'trap : TERM HUP; echo $$ >"
                + pid
                + "; sleep 100; sleep 100' & sleep 0.2; echo ready; wait",
            "await ready",
            "kill KILL",
            "gone " + pid);
    assertThat(result.status()).isEqualTo(128 + 9);
  }

  @Test
  void givenTerminal_whenToolAloneIsStoppedAndContinued_thenCommandStopsAndContinues()
      throws Exception {
    Path pid = folder.resolve("pid");
    TerminalResult result =
        atTerminal(
            "run job -- sh -c",
            "echo $$ >" + pid + "; echo ready; read a; echo got $a",
            "await ready",
            "kill TSTP",
            "stopped " + pid,
            "kill CONT",
            "type hello\\n",
            "await got hello");
    assertThat(result.status()).isZero();
  }

  @Test
  void givenTakenLock_whenWaiting_thenTerminalIsTold() throws Exception {
    TerminalResult result =
        atTerminal("run taken -- true", null, "await waiting for lock 'taken'", "type \\x03");
    assertThat(result.status()).isEqualTo(130);
  }

  @Test
  void givenTerminal_whenEvicting_thenItAsks() throws Exception {
    TerminalResult result =
        atTerminal(
            "evict held",
            null,
            "await db1:4711 has held lock 'held' for 3m (report.sh).",
            "await It is told to let go. Until it does, the lock stays shut: for 11s at most",
            "await Next is db2:4711; 1 waits.",
            "await Evict it? [y/N]",
            "type n\\n",
            "await Nothing was done");
    assertThat(result.status()).isEqualTo(ExitStatus.FAILED);
  }

  @Test
  void givenTerminal_whenWatching_thenTheListIsShownAgainInItsPlace() throws Exception {
    TerminalResult result =
        atTerminal(
            "ls --watch=500ms",
            null,
            "await \\x1b[H\\x1b[Jmortise ls, each 500ms",
            "await 2 locks",
            "await \\x1b[H\\x1b[Jmortise ls, each 500ms",
            "type \\x03");
    assertThat(result.status()).isEqualTo(130);
    assertThat(result.out()).contains("held  db1:4711  exclusive");
  }

  private record TerminalResult(int status, String out) {}

  /** Runs the tool with the words, and the script as one more, and carries the orders out. */
  private TerminalResult atTerminal(String words, String script, String... orders)
      throws Exception {
    Path program = folder.resolve("terminal.py");
    try (InputStream resource = TerminalTest.class.getResourceAsStream("terminal.py")) {
      Files.write(program, Objects.requireNonNull(resource).readAllBytes());
    }
    Path out = folder.resolve("terminal");
    List<String> command = new ArrayList<>(List.of("python3", program.toString(), out.toString()));
    command.addAll(CliProcess.words(FakeCliMain.class, words.split(" ", -1)));
    if (script != null) {
      command.add(script);
    }
    ProcessBuilder builder = new ProcessBuilder(command).redirectErrorStream(true);
    builder.environment().put("TMPDIR", folder.toString());
    builder.environment().put("MORTISE_STORE", "fake:");
    Process python = builder.start();
    try (OutputStream in = python.getOutputStream()) {
      in.write((String.join("\n", orders) + "\n").getBytes(UTF_8));
    }
    String trouble = new String(python.getInputStream().readAllBytes(), UTF_8);
    assertThat(python.waitFor(90, TimeUnit.SECONDS)).isTrue();
    String shown = Files.readString(out);
    assertThat(trouble).as(shown).isEmpty();
    return new TerminalResult(python.exitValue(), shown);
  }

  private static boolean runs(String... words) {
    try {
      return new ProcessBuilder(words).start().waitFor() == 0;
    } catch (IOException e) {
      return false;
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
      return false;
    }
  }
}
