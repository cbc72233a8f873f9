package io.mortise.cli;

import static org.assertj.core.api.Assertions.assertThat;

import com.fasterxml.jackson.jr.ob.JSON;
import io.mortise.StoreUnavailableException;
import io.mortise.StoreUnfitException;
import io.mortise.UnsupportedByStoreException;
import io.mortise.console.view.OutputSanitizer;
import io.mortise.spi.StoreUrl;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFilePermissions;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.condition.DisabledOnOs;
import org.junit.jupiter.api.condition.OS;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

/** Commands that need no separate process: inspection, eviction and refusals. */
class CommandsTest extends CommandHarness {
  @ParameterizedTest
  @CsvSource(
      delimiter = '|',
      quoteCharacter = '^',
      value = {
        "^^                                 | No command given",
        "bogus                              | There is no command 'bogus'.",
        "lss                                | Did you mean: mortise ls",
        "unlock job                         | Did you mean: mortise evict",
        "watch                              | Did you mean: mortise ls --watch",
        "top                                | mortise ls --sort trouble --watch",
        "show job another                   | 'another' is one word too many.",
        "ls --limit 0                       | from 1 on",
        "ls --watch --json                  | does not go with --json",
        "ls --watch=0                       | a duration above 0",
        "ls --state gone,foo                | expected one of [held, waited, gone, shut, free]",
        "ls --sort foo                      | expected one of [name, held, waiting, trouble]",
        "ls --store mem:                    | the memory of one process",
        "run --store quorum:redis://a,mem:b,mem:c job -- true | the memory of one process",
        "man bogus                          | There is no command 'bogus'",
        "completion csh                     | expected one of [bash, zsh, fish]",
        "run                                | Missing required parameter: 'NAME'",
        "run job                            | Write: mortise run job -- COMMAND",
        "run job true                       | like: mortise run NAME -- COMMAND",
        "run --wait 3 job -- true           | '3' is not a duration",
        "run --wait=-1s job -- true         | '-1s' is not a duration",
        "run --bogus job -- true            | '--bogus'",
        "run --ttl 4s --grace 2s job -- true| Raise --ttl or lower --grace",
        "run --at-most 1s --grace 1s job -- true | Raise --ttl and --at-most or lower --grace",
        "run --at-most 1s --at-least 2s job -- true | longer than the at-most time",
        "run --store nonsense job -- true   | 'nonsense' is not a store URL",
        "evict job                          | Add --yes",
        "evict --yes --attempt short job    | Not an attempt id",
        "guarantees redis://host            | say: mortise doctor --store URL",
        "show                               | Missing required parameter: 'NAME'",
        "torture --faults kill              | must include 'pause'",
        "torture --faults pause,flood       | no fault 'flood'",
        "torture --servers oracle           | no server 'oracle'",
        "torture --servers redis --store x: | either --store or --servers",
        "torture --report pom.xml/page      | Give another --report",
      })
  void givenWrongUsage_whenExecuted_thenStatusIs64AndMessageHelps(String words, String message) {
    assertThat(execute(words.isEmpty() ? new String[0] : words.split(" ", -1)))
        .isEqualTo(ExitStatus.USAGE);
    assertThat(err()).contains(message).contains("mortise: ");
    assertThat(out()).isEmpty();
  }

  @Test
  void givenStoreAndFlagsBeforeTheCommand_thenTheyCountAllTheSame() {
    client.views.add(SampleLocks.held("taken"));
    assertThat(execute("--quiet", "--store", "other:", "ls", "--json", "tak")).isZero();
    assertThat(out()).contains("taken");
    assertThat(execute("--store=third:", "ls")).isZero();
    assertThat(urls).containsExactly("other:", "third:");
  }

  @Test
  void givenStories_whenListed_thenTheirTitlesStandInOneColumn() {
    assertThat(execute("hazards", "list")).isZero();
    assertThat(out().lines().map(line -> line.indexOf("  ", line.indexOf(' '))).distinct())
        .as("a name and at least two blanks")
        .doesNotContain(-1);
    assertThat(out().lines().map(line -> line.replaceFirst("^\\S+ +", "").length() - line.length()))
        .containsOnly(-out().lines().mapToInt(line -> line.indexOf(' ')).max().orElseThrow() - 2);
  }

  @Test
  void givenStory_whenShown_thenBothLocksAreTold_andNothingIsStarted() {
    assertThat(execute("hazards", "show", "failover-forgets")).isZero();
    assertThat(out().lines().map(line -> line.split("  ", 2)[0]))
        .contains("naive lock", "Mortise", "fault", "told by", "needs");
    assertThat(out()).contains("Asynchronous failover").doesNotContain("chapter");
    assertThat(execute("hazards", "show", "fire")).isEqualTo(ExitStatus.USAGE);
    assertThat(err()).contains("There is no story 'fire'");
    assertThat(urls).isEmpty();
  }

  @Test
  void givenOldStore_whenItIsTheSame_orHasToStayShutAfterACrash_thenStatusIs64() {
    assertThat(execute("run", "--also", "fake:", "job", "--", "true")).isEqualTo(ExitStatus.USAGE);
    assertThat(execute("run", "--also", "mem:old", "--hold-on-crash", "1h", "job", "--", "true"))
        .isEqualTo(ExitStatus.USAGE);
    assertThat(urls).isEmpty();
  }

  @Test
  void givenLockNameWithControlCharacter_whenExecuted_thenStatusIs64() {
    assertThat(execute("run", "a\nb", "--", "true")).isEqualTo(ExitStatus.USAGE);
    assertThat(err()).contains("control character U+000A").hasLineCount(1);
  }

  @Test
  void givenStoreThatIsDown_whenExecuted_thenStatusIs69AndPasswordIsHidden() {
    int status =
        executeFailing(
            new StoreUnavailableException("No answer from redis://me:hun@ter2@cache:6379."),
            "--verbose",
            "ls");
    assertThat(status).isEqualTo(ExitStatus.STORE);
    assertThat(err()).contains("redis://me:***@cache:6379").doesNotContain("ter2");
    assertThat(err()).contains("at io.mortise");
  }

  @Test
  void givenServerThatAnswersWithEscapes_whenTraceIsShown_thenTerminalDoesNotObey() {
    RuntimeException cause =
        new IllegalStateException("\u001b]0;evil\u0007\u202e\u009b password=x");
    executeFailing(new StoreUnavailableException("No answer.", cause), "--verbose", "ls");
    assertThat(err())
        .contains("\n\tat io.mortise")
        .contains("Caused by: ", "\\x1b]0;evil\\x07\\u{202e}\\x9b password=***\n")
        .doesNotContainPattern("[\\p{Cc}\\p{Cf}&&[^\n\t]]");
  }

  @Test
  void givenNamesWithPowerOverTerminals_whenListedAsJson_thenTheyAreEscapedAndStayTheSame()
      throws Exception {
    String label = "\u202eevil\u009b2J\u007f\u2028\udb40\udc01 é";
    client.views.add(SampleLocks.labelled("job", label));
    assertThat(execute("ls", "--json")).isZero();
    assertThat(out())
        .contains("\\u202Eevil\\u009B2J\\u007F\\u2028\\uDB40\\uDC01 é")
        .doesNotContainPattern("[\\p{Cc}\\p{Cf}\\p{Zl}&&[^\n]]");
    assertThat(JSON.std.listFrom(out()).toString()).contains("label=" + label);
  }

  @Test
  void givenTrouble_whenExecuted_thenOneLineAndItsStatus() {
    assertThat(executeFailing(new StoreUnfitException("Too old."), "ls"))
        .isEqualTo(ExitStatus.STORE);
    assertThat(executeFailing(new UnsupportedByStoreException("No queue."), "ls"))
        .isEqualTo(ExitStatus.USAGE);
    assertThat(executeFailing(new IllegalStateException("boom"), "ls"))
        .isEqualTo(ExitStatus.DEFECT);
    assertThat(err()).hasLineCount(3);
  }

  @Test
  void givenEmptyCommand_whenRun_thenStatusIs64AndItIsSaid() {
    assertThat(execute("run", "job", "--", "")).isEqualTo(ExitStatus.USAGE);
    assertThat(err()).contains("The command is an empty word", "mortise run job -- COMMAND");
    assertThat(urls).isEmpty();
  }

  @Test
  void givenMissingProgram_whenRun_thenShellStatusAndStoreIsNotAsked() {
    assertThat(execute("run", "job", "--", "no-such-program")).isEqualTo(ExitStatus.NOT_FOUND);
    assertThat(execute("run", "job", "--", "/no/such/program")).isEqualTo(ExitStatus.NOT_FOUND);
    assertThat(execute("run", "job", "--", "/")).isEqualTo(ExitStatus.NOT_EXECUTABLE);
    assertThat(urls).isEmpty();
  }

  @Test
  void givenTakenLock_whenTriedOnce_thenStatusIs75AndHolderIsTold() {
    client.views.add(SampleLocks.held("taken"));
    assertThat(execute("run", "--wait", "0", "taken", "--", "true")).isEqualTo(ExitStatus.NOT_HAD);
    assertThat(err())
        .isEqualTo(
            "mortise: Lock 'taken' was not had: held by db1:4711 for 3m (report.sh), 1 waiting. Try later, or give a"
                + " longer --wait.\n");
    assertThat(client.done).containsExactly("close");
  }

  @Test
  @DisabledOnOs(OS.WINDOWS)
  void givenNoStore_whenRun_thenPrivateFileOfThisHostIsUsed_andSaidWhileItIsNew(@TempDir Path home)
      throws Exception {
    variables.remove("MORTISE_STORE");
    variables.put("HOME", home.toString());
    String[] tryTaken = {"run", "--wait", "0", "taken", "--", "true"};
    assertThat(execute(tryTaken)).isEqualTo(ExitStatus.NOT_HAD);
    Path file = home.resolve(".local/state/mortise/locks.db");
    assertThat(urls).containsExactly("jdbc:sqlite:" + file);
    assertThat(Files.getPosixFilePermissions(file.getParent()))
        .isEqualTo(PosixFilePermissions.fromString("rwx------"));
    assertThat(err()).contains("Other hosts do not see them");

    err.reset();
    Files.createFile(file);
    execute(tryTaken);
    assertThat(err()).doesNotContain("Other hosts");
    execute("run", "--verbose", "--wait", "0", "taken", "--", "true");
    assertThat(err()).contains("Other hosts do not see them");
  }

  @Test
  void givenNoStore_whenLooking_thenNothingIsMade_andItIsSaidWhere(@TempDir Path home) {
    variables.remove("MORTISE_STORE");
    variables.put("HOME", home.toString());
    assertThat(execute("ls")).isZero();
    assertThat(execute("show", "x")).isZero();
    assertThat(execute("evict", "--yes", "x")).isZero();
    assertThat(execute("waits")).isZero();
    assertThat(urls).as("a store that is empty").containsOnly("mem:");
    assertThat(home).isEmptyDirectory();
    assertThat(err()).contains("no lock is held or waited for on this host (in '" + home);
    err.reset();
    assertThat(execute("ls", "--quiet")).isZero();
    assertThat(err()).isEmpty();
  }

  @Test
  void givenFileThatIsNotThere_whenLooking_thenItIsNotMade(@TempDir Path folder) {
    Path file = folder.resolve("typo.db");
    for (String command : List.of("ls", "show job", "waits", "doctor", "evict --yes job")) {
      err.reset();
      List<String> words = new ArrayList<>(List.of(command.split(" ", -1)));
      words.add("--store=jdbc:sqlite:" + file + "?namespace=a");
      assertThat(execute(words.toArray(String[]::new))).isEqualTo(ExitStatus.STORE);
      assertThat(err()).contains("There is no lock file '" + file + "'");
    }
    assertThat(folder).isEmptyDirectory();
    assertThat(urls).isEmpty();
  }

  @Test
  void givenDatabase_whenLooking_thenItsTablesAreNotMade() {
    execute("ls", "--store", "jdbc:postgresql://h/db?user=a");
    execute("ls", "--store", "jdbc:postgresql://h/db");
    execute("ls", "--store", "jdbc:postgresql://h/db?create=true");
    execute("run", "--wait", "0", "--store", "jdbc:postgresql://h/db", "taken", "--", "true");
    assertThat(urls)
        .containsExactly(
            "jdbc:postgresql://h/db?user=a&create=false",
            "jdbc:postgresql://h/db?create=false",
            "jdbc:postgresql://h/db?create=true",
            "jdbc:postgresql://h/db");
    assertThat(
            executeFailing(
                new StoreUnfitException(
                    "Table 'x' is missing, and create=false forbids to make it."),
                "ls",
                "--store=jdbc:postgresql://h/db?password=s3cret"))
        .isEqualTo(ExitStatus.STORE);
    assertThat(err())
        .contains("has no tables for locks, and looking makes none")
        .doesNotContain("s3");
  }

  @ParameterizedTest
  @ValueSource(strings = {"", "relative"})
  @DisabledOnOs(OS.WINDOWS)
  void givenHomeThatIsNoAbsolutePath_whenExecuted_thenItCountsAsMissing(
      String home, @TempDir Path known) {
    variables.remove("MORTISE_STORE");
    variables.put("HOME", home);
    String before = System.setProperty("user.home", known.toString());
    try {
      execute("run", "--wait", "0", "taken", "--", "true");
      assertThat(urls)
          .containsExactly("jdbc:sqlite:" + known.resolve(".local/state/mortise/locks.db"));
      System.setProperty("user.home", "?"); // of a user without an entry
      assertThat(execute("ls")).isEqualTo(ExitStatus.USAGE);
      assertThat(err()).contains("HOME is empty or relative", "MORTISE_STORE");
      assertThat(urls).hasSize(1);
    } finally {
      System.setProperty("user.home", before);
    }
  }

  @Test
  void givenStoreInFile_whenExecuted_thenItIsRead(@TempDir Path folder) throws Exception {
    Path file = Files.writeString(folder.resolve("url"), "redis://:secret@cache\n");
    assertThat(execute("ls", "--store", "@" + file)).isZero();
    assertThat(urls).containsExactly("redis://:secret@cache");
    assertThat(execute("ls", "--store", "@" + folder.resolve("none"))).isEqualTo(ExitStatus.USAGE);
  }

  @Test
  void givenVersionOrHelp_whenAsked_thenItIsOnStandardOutput() {
    assertThat(execute("--version")).isZero();
    assertThat(execute("run", "--help")).isZero();
    assertThat(execute("help", "run")).isZero();
    assertThat(out()).contains("mortise ", "Not covered:");
    assertThat(err()).isEmpty();
  }

  @Test
  void givenStoriesOfHazards_whenHelpIsAsked_thenTheirOptionsAreShown() {
    assertThat(execute("hazards", "run", "--help")).isZero();
    assertThat(out()).contains("--store=URL", "Exit status: 0 if it happened as told");
    out.reset();
    assertThat(execute("hazards", "list", "-h")).isZero();
    assertThat(out()).contains("List the stories.").doesNotContain("gc-pause");
    assertThat(err()).isEmpty();
  }

  @Test
  void givenHelp_whenItTellsOfStores_thenItSaysWhatTheCommandDoes() {
    assertThat(execute("torture", "--help")).isZero();
    assertThat(words(out()))
        .contains("Default: none, whatever MORTISE_STORE says")
        .doesNotContain("else a file for this host only");
    out.reset();
    assertThat(execute("doctor", "--help")).isZero();
    assertThat(words(out()))
        .contains("It makes what a server lacks to be opened, such as tables, but no file")
        .contains("MORTISE_STORE, else a file for this host only");
  }

  @Test
  void givenText_whenMadeSafe_thenControlsBecomeEscapes() {
    assertThat(OutputSanitizer.text("a\u001b\u0085\u202eé\u2028"))
        .isEqualTo("a\\x1b\\x85\\u{202e}é\\u{2028}");
    assertThat(OutputSanitizer.hide("jdbc:x?user=a&password=b&c=d"))
        .isEqualTo("jdbc:x?user=a&password=***&c=d");
    assertThat(OutputSanitizer.hide("'jdbc:x?password=***'. Known"))
        .isEqualTo("'jdbc:x?password=***'. Known");
    String advice = "Write ?user=…&password=…: not every driver";
    assertThat(OutputSanitizer.hide(advice)).isEqualTo(advice);
  }

  @ParameterizedTest
  @ValueSource(
      strings = {
        "redis://u:s3cret@host",
        "redis://s3cret@host",
        "redis:u:s3cret@host",
        "redis:/u:s3cret@host",
        "redis://u:p/s3cret@host/1",
        "jdbc:postgresql://h/db?user=a&sslpassword=s3cret",
        "jdbc:mysql://h/db?keyStorePassword=s3cret",
        "redis://h?client-secret=s3cret",
        "redis://h?auth.token=s3cret&x=1",
        "jdbc:mysql://h/db;PWD=s3cret"
      })
  void givenTextWithAUrl_whenHidden_thenAsMuchAsInTheUrlItself(String url) {
    assertThat(StoreUrl.parse(url).toString()).doesNotContain("s3cret");
    assertThat(OutputSanitizer.hide("Cannot reach " + url + " now.")).doesNotContain("s3cret");
    assertThat(OutputSanitizer.hide("store='" + url + "', attempts=3")).doesNotContain("s3cret");
  }

  @Test
  void givenTextWithoutSecrets_whenHidden_thenItStaysAsItIs() {
    for (String text :
        new String[] {
          "Lease on lock 'a' was lost (token=917, lease=30 s).",
          "mortise: console on http://127.0.0.1:7420/#token=abc (read-only)",
          "at 12:30:15 vm:4711 held 'a@b' for 3s",
          "redis:127.0.0.1:6379",
          "jdbc:sqlite:/var/lib/locks.db",
          "//***@host"
        }) {
      assertThat(OutputSanitizer.hide(text)).isEqualTo(text);
    }
  }

  @Test
  void givenUnknownHostOfZooKeeper_whenExecuted_thenErrorIsOneLine(@TempDir Path folder)
      throws Exception {
    try (CliProcess ls =
        CliProcess.start(
            folder,
            Main.class,
            Map.of(),
            ProcessBuilder.Redirect.INHERIT,
            "ls",
            "--store",
            "zk://nohost.invalid?timeout=1s")) {
      assertThat(ls.status()).isEqualTo(ExitStatus.STORE);
      assertThat(ls.err()).contains("nohost.invalid").hasLineCount(1);
    }
  }
}
