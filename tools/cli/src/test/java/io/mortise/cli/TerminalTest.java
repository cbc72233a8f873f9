package io.mortise.cli;

import static org.assertj.core.api.Assertions.assertThat;

import java.nio.file.Path;
import java.util.Map;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** {@code mortise run} at a terminal, which a Python script provides. */
class TerminalTest {
  @TempDir private Path folder;

  @BeforeEach
  void needsPython() {
    TerminalRun.needsPython();
  }

  @Test
  void givenTerminal_whenCommandReads_thenItReadsWhatIsTyped() throws Exception {
    TerminalRun result =
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
    TerminalRun result =
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
    TerminalRun result =
        atTerminal(
            "run --ttl 2s job -- sh -c",
            "sh -c 'trap : TERM HUP; echo $$ >"
                + pid
                + "; sleep 100; sleep 100' & until [ -s "
                + pid
                + " ]; do sleep 0.1; done; echo ready; wait",
            "await ready",
            "kill KILL",
            "gone " + pid);
    assertThat(result.status()).isEqualTo(128 + 9);
  }

  @Test
  void givenTerminal_whenToolAloneIsStoppedAndContinued_thenCommandStopsAndContinues()
      throws Exception {
    Path pid = folder.resolve("pid");
    TerminalRun result =
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
    TerminalRun result =
        atTerminal("run taken -- true", null, "await waiting for lock 'taken'", "type \\x03");
    assertThat(result.status()).isEqualTo(130);
  }

  @Test
  void givenTerminal_whenEvicting_thenItAsks() throws Exception {
    TerminalRun result =
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
    TerminalRun result =
        atTerminal(
            "ls --watch=500ms",
            null,
            "await \\x1b[H\\x1b[Jmortise ls, each 500ms",
            "await 2 locks",
            "await \\x1b[H\\x1b[Jmortise ls, each 500ms",
            "type \\x03");
    assertThat(result.status()).isEqualTo(130);
    assertThat(result.out()).contains("held  db1:4711  mortise  exclusive");
  }

  @Test
  void givenDumbTerminal_whenWatching_thenTheTablesFollowEachOther() throws Exception {
    TerminalRun result =
        TerminalRun.of(
            folder,
            FakeCliMain.class,
            Map.of("TERM", "dumb"),
            "ls --watch=500ms",
            null,
            "await 2 locks",
            "await 2 locks",
            "type \\x03");
    assertThat(result.status()).isEqualTo(130);
    assertThat(result.out()).doesNotContain("\u001b");
  }

  private TerminalRun atTerminal(String words, String script, String... orders) throws Exception {
    return TerminalRun.of(folder, FakeCliMain.class, Map.of(), words, script, orders);
  }
}
