package io.mortise.cli;

import static org.assertj.core.api.Assertions.assertThat;

import io.mortise.admin.LockInfo;
import java.util.List;
import org.junit.jupiter.api.Test;

/** Looking at locks, and ending holds. */
class LookingTest extends CommandHarness {
  @Test
  void givenLocks_whenListed_thenTableHasNothingThatTerminalObeys() {
    client.views.addAll(
        List.of(
            SampleLocks.held("invoice/42"),
            SampleLocks.shared("readers"),
            SampleLocks.shut("shut")));
    assertThat(execute("ls")).isZero();
    assertThat(out())
        .isEqualTo(
            """
            NAME        HOLDER          CLIENT   MODE       AGE  WAITING  TOKEN             LABEL
            invoice/42  db1:4711        mortise  exclusive  3m   1        9007199254740993  report.sh
            readers     db1:4711 +1     mortise  shared     5s   0        11
            shut        (shut for 40s)  -        -          -    0        -
            """);
  }

  @Test
  void givenLock_whenShown_thenWaiterIsThereAndItsLabelIsHarmless() {
    client.views.add(SampleLocks.held("invoice/42"));
    assertThat(execute("show", "invoice/42")).isZero();
    assertThat(out())
        .contains("invoice/42: held by 1, 1 waiting\n")
        .containsPattern(
            "holder +db1:4711 +mortise +exclusive +3m +(\\S+ )?\\d\\d:\\d\\d:\\d\\d +11s left +AAAAAAAAAAAA.1 +report.sh")
        .containsPattern(
            "waiter 1 +db2:4711 +mortise +exclusive +12s .* BBBBBBBBBBBB.2 +\\\\x1b\\[2Jevil")
        .containsPattern("token +9007199254740993\n$")
        .doesNotContain("\u001b");
  }

  @Test
  void givenStickyLock_whenListedOrShown_thenItIsSaid() {
    client.views.add(SampleLocks.sticky("partition/7"));
    assertThat(execute("ls")).isZero();
    assertThat(out()).containsPattern("partition/7 +db1:4711 +mortise +exclusive, sticky +2s");
    out.reset();
    assertThat(execute("show", "partition/7")).isZero();
    assertThat(out()).containsPattern("holder +db1:4711 +mortise +exclusive, sticky +2s");
  }

  @Test
  void givenNameOfALatchOrABarrier_whenShown_thenItIsSaidWhereToLook() {
    assertThat(execute("show", "latch/release/7")).isZero();
    assertThat(out())
        .isEqualTo(
            """
            latch/release/7: no record of it
            A latch is no lock: it is a document that only its parties read. There, DistributedLatch.remaining() tells how many are missing.
            """);
    out.reset();
    assertThat(execute("show", "barrier/round")).isZero();
    assertThat(out()).endsWith("while it is there: mortise ls barrier/round/\n");
    out.reset();
    assertThat(execute("ls", "latch/")).isZero();
    assertThat(err()).contains("begins with 'latch/' is held or waited for. A latch is no lock");
    assertThat(execute("show", "--json", "latch/x")).isZero();
    assertThat(out()).doesNotContain("document");
  }

  @Test
  void givenNameWithATwinInAnotherForm_whenShown_thenTheTwinIsTold() {
    client.views.add(SampleLocks.held("cafe\u0301"));
    assertThat(execute("show", "caf\u00e9")).isZero();
    assertThat(out()).isEqualTo("caf\u00e9: no record of it\n");
    assertThat(err()).contains("there is a lock 'cafe\\u{301}', whose name looks the same");
    out.reset();
    assertThat(execute("show", "cafe\u0301")).isZero();
    assertThat(out()).startsWith("cafe\\u{301}: held by 1");
  }

  @Test
  void givenUnknownLock_whenShown_thenItIsFree() {
    assertThat(execute("show", "x")).isZero();
    assertThat(out()).isEqualTo("x: no record of it\n");
    out.reset();
    assertThat(execute("show", "--json", "x")).isZero();
    assertThat(out()).contains("\"state\" : \"free\"", "\"lastToken\" : null");
  }

  @Test
  void givenLocks_whenListedAsJson_thenTokensAreStrings() {
    client.views.add(SampleLocks.held("invoice/42"));
    assertThat(execute("ls", "--json")).isZero();
    assertThat(out())
        .startsWith("[")
        .contains("\"token\" : \"9007199254740993\"", "\"sinceMillis\" : 180000", "\"pid\" : 4711")
        .contains("\\u001B[2Jevil");
  }

  @Test
  void givenHolder_whenEvicted_thenGentlyUnlessNowIsSaid() {
    client.views.add(SampleLocks.held("invoice/42"));
    assertThat(execute("evict", "--yes", "invoice/42")).isZero();
    assertThat(err()).contains("Told db1:4711 to let go of lock 'invoice/42'");
    assertThat(execute("evict", "--yes", "--now", "invoice/42")).isZero();
    assertThat(execute("evict", "--yes", "nobody")).isZero();
    assertThat(client.done)
        .containsExactly(
            "CLOSE invoice/42 " + SampleLocks.FIRST.encoded(),
            "close",
            "BREAK invoice/42 " + SampleLocks.FIRST.encoded(),
            "close",
            "close");
  }

  @Test
  void givenWaiter_whenEvicted_thenAHoldThatItHasByNowIsNotFreedAtOnce() {
    LockInfo lock = SampleLocks.held("invoice/42");
    client.views.add(lock);
    String waiter = lock.waiters().get(0).attempt();
    assertThat(execute("evict", "--yes", "--attempt", waiter, "invoice/42")).isZero();
    assertThat(client.done).containsExactly("CLOSE invoice/42 " + waiter, "close");
  }

  @Test
  void givenLockThatIsShutAndHeldByNobody_whenEvicted_thenItIsOpenedOnlyNow() {
    client.views.add(SampleLocks.shut("import"));
    assertThat(execute("evict", "--yes", "import")).isZero();
    assertThat(err()).contains("Nobody holds lock 'import'", "shut for another 40s", "--now");
    assertThat(client.done).containsExactly("close");
    assertThat(execute("evict", "--yes", "--now", "import")).isZero();
    assertThat(err()).contains("Opened lock 'import'");
    assertThat(client.done).containsExactly("close", "reopen import", "close");
  }

  @Test
  void givenSeveralHolders_whenEvicted_thenOneMustBeChosen() {
    client.views.add(SampleLocks.shared("readers"));
    assertThat(execute("evict", "--yes", "readers")).isEqualTo(ExitStatus.USAGE);
    assertThat(err()).contains("has 2 holders");
    assertThat(execute("evict", "--yes", "--attempt", SampleLocks.SECOND.encoded(), "readers"))
        .isZero();
    assertThat(client.done).contains("CLOSE readers " + SampleLocks.SECOND.encoded());
  }

  @Test
  void givenManyLocks_whenListed_thenSortedAndChosenAndCut() {
    client.views.addAll(
        List.of(
            SampleLocks.shut("e"),
            SampleLocks.shared("d"),
            SampleLocks.gone("c", 0),
            SampleLocks.held("b"),
            SampleLocks.gone("a", 90),
            SampleLocks.held("mortise-doctor")));
    assertThat(names("ls")).containsExactly("a", "b", "c", "d", "e");
    assertThat(names("ls", "--sort", "held")).containsExactly("b", "a", "c", "d", "e");
    assertThat(names("ls", "--sort", "waiting")).startsWith("b");
    assertThat(names("ls", "--sort", "trouble")).containsExactly("a", "c", "b", "e", "d");
    assertThat(names("ls", "--state", "gone,shut")).containsExactly("a", "c", "e");
    assertThat(names("ls", "--state=waited")).containsExactly("b");
    assertThat(names("ls", "mortise-doctor")).containsExactly("mortise-doctor");
    err.reset();
    assertThat(names("ls", "--limit", "2")).containsExactly("a", "b");
    assertThat(err()).contains("the first 2 of 5.");
    execute("ls", "nosuch");
    assertThat(err()).contains("no lock whose name begins with 'nosuch' is held or waited for.");
  }

  @Test
  void givenHolderThatLooksGone_whenTroubleIsListed_thenItComesBeforeWaits_thoughItCountsAsHeld() {
    client.views.addAll(
        List.of(
            SampleLocks.shared("alive"),
            SampleLocks.held("waited"),
            SampleLocks.silent("silent"),
            SampleLocks.gone("gone", 0)));
    assertThat(names("ls", "--sort", "trouble"))
        .containsExactly("gone", "silent", "waited", "alive");
    assertThat(names("ls", "--state", "gone")).containsExactly("gone");
  }

  @Test
  void givenHolderThatLooksGone_whenOnlyThoseThatAreGoneAreListed_thenItIsMentioned() {
    client.views.addAll(List.of(SampleLocks.shared("alive"), SampleLocks.silent("silent")));
    execute("ls", "--state", "gone");
    assertThat(err())
        .contains("no lock is like that", "1 looks gone, not judged: mortise ls --sort trouble");
    err.reset();
    execute("ls", "--state", "shut");
    assertThat(err()).contains("no lock is like that").doesNotContain("looks gone");
  }

  @Test
  void givenHolderThatIsGone_thenItDoesNotReadAsHeld() {
    client.views.addAll(List.of(SampleLocks.gone("free", 0), SampleLocks.gone("shut", 90)));
    assertThat(execute("ls")).isZero();
    assertThat(out()).contains("free  (gone) ", "shut  (gone, shut for 1m30s) ");
    execute("show", "free");
    assertThat(out())
        .contains("free: its holder is gone (import.sh); it is free for the next to ask");
    execute("show", "shut");
    assertThat(out())
        .contains("shut: its holder is gone (import.sh); it stays shut for another 1m30s");
    execute("ls", "--json");
    assertThat(out()).contains("\"state\" : \"gone\"", "\"shutForMillis\" : 90000");
  }

  @Test
  void givenHolderThatIsGoneAndStillKnown_thenItIsSaidWhoItWas_andHowManyWait() {
    client.views.add(SampleLocks.goneButKnown("shut", 90));
    execute("ls");
    assertThat(out()).contains("shut  db1:4711 (gone, shut for 1m30s)  mortise ", " 1200 ");
    out.reset();
    execute("show", "shut");
    assertThat(out())
        .contains(
            "shut: its holder is gone (db1:4711, import.sh, session TTL 15s);"
                + " it stays shut for another 1m30s, 1200 waiting\n",
            " over, TTL 15s ",
            "  and 1200 more waiting\n",
            "  last end      its at-most time was over (attempt BBBBBBBBBBBB.2)\n");
    out.reset();
    execute("show", "--json", "shut");
    assertThat(out())
        .contains(
            "\"waiterCount\" : 1200",
            "\"ttlMillis\" : 15000",
            "\"cause\" : \"at_most\"",
            "\"attempt\" : \"BBBBBBBBBBBB.2\"",
            "\"attempt\" : \"AAAAAAAAAAAA.1\"");
  }

  @Test
  void givenHolderThatIsGone_whenEvicted_thenItIsNotTold_andWhatItShutStaysShut() {
    client.views.addAll(List.of(SampleLocks.gone("free", 0), SampleLocks.gone("shut", 90)));
    assertThat(execute("evict", "--yes", "free")).isZero();
    assertThat(err()).contains("Ended the hold of a process that is gone; lock 'free' is free.");
    client.done.clear();
    assertThat(execute("evict", "--yes", "shut")).isZero();
    assertThat(err()).contains("it stays shut for another 1m30s", "With --now it opens at once");
    assertThat(client.done).as("a command may have outlived its mortise").containsExactly("close");
    assertThat(execute("evict", "--yes", "--now", "shut")).isZero();
    assertThat(client.done).contains("BREAK shut " + SampleLocks.FIRST.encoded());
  }

  @Test
  void givenHolderOfAForeignClient_whenTriedOnce_thenNothingIsInvented() {
    client.views.add(SampleLocks.foreign("taken"));
    execute("run", "--wait", "0", "taken", "--", "true");
    assertThat(err()).contains("was not had: held by (another client). Try later");
  }

  @Test
  void givenAttemptInShortForm_whenEvicted_thenItIsThatOne() {
    client.views.add(SampleLocks.shared("readers"));
    execute("show", "readers");
    assertThat(out()).contains(" BBBBBBBBBBBB.2").doesNotContain("--");
    assertThat(execute("evict", "--yes", "--attempt", "BBBBBBBBBBBB.2", "readers")).isZero();
    assertThat(client.done).contains("CLOSE readers " + SampleLocks.SECOND.encoded());
    String dash = "-IBBBBBBBBBB.2";
    assertThat(execute("evict", "--yes", "--attempt=" + dash, "readers")).isZero();
    assertThat(err()).contains("Attempt " + dash + " neither holds nor waits");
  }

  @Test
  void givenTwoProcessesThatWaitForEachOther_whenWaitsIsAsked_thenItSaysSo() {
    client.views.add(SampleLocks.held("calm"));
    assertThat(execute("waits")).isZero();
    assertThat(out())
        .isEqualTo(
            """
            db1:4711 (report.sh)
              holds 'calm', for 3m
                db2:4711 (\\x1b[2Jevil) waits, for 12s
            """);
    out.reset();
    client.views.add(SampleLocks.heldInReverse("other"));
    assertThat(execute("waits")).isEqualTo(ExitStatus.FAILED);
    assertThat(out())
        .startsWith("possible deadlock:\n")
        .contains(
            "  db1:4711 waits for 'other', for 9s\n", "  db1:4711 (report.sh) holds 'calm', for 3m")
        .hasLineCount(5);
    out.reset();
    assertThat(execute("waits", "--json")).isEqualTo(ExitStatus.FAILED);
    assertThat(out()).contains("\"possibleDeadlocks\"", "\"lock\" : \"other\"");
  }

  @Test
  void givenNobodyWaits_whenWaitsIsAsked_thenItSaysSo() {
    client.views.add(SampleLocks.shared("readers"));
    assertThat(execute("waits")).isZero();
    assertThat(out()).isEmpty();
    assertThat(err())
        .contains("no process waits for another.", "Waits inside one process are not seen");
  }

  @Test
  void givenLocks_whenNamesAreCompleted_thenOnlyThoseThatCanBeTyped() {
    client.views.addAll(
        List.of(SampleLocks.held("b"), SampleLocks.held("a\u001b"), SampleLocks.held("a b")));
    assertThat(execute("ls", "--names", "--store=other:", "a")).isZero();
    assertThat(out()).isEqualTo("a b\n");
    assertThat(urls).containsExactly("other:");
  }

  /** The first words of the table's lines. */
  private List<String> names(String... words) {
    out.reset();
    assertThat(execute(words)).isZero();
    return out().lines().skip(1).map(line -> line.substring(0, line.indexOf(' '))).toList();
  }
}
