package io.mortise.cli;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import java.io.File;
import java.io.IOException;
import java.lang.ProcessBuilder.Redirect;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.regex.Pattern;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.condition.DisabledOnOs;
import org.junit.jupiter.api.condition.OS;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** The tool as users run it, on a store of the subclass's choice. */
@DisabledOnOs(value = OS.WINDOWS, disabledReason = "needs sh")
abstract class EndToEnd {
  /** Some stores know its client and its session's TTL, too. */
  private static final Pattern DEAD_HOLDER =
      Pattern.compile("job: its holder is gone \\(.*sh.*\\); it stays shut for another 4m");

  private static final int PROCESSES = 8;
  private static final int RUNS = 3;
  private static final int INCREMENTS = 5;

  @TempDir Path folder;

  /** The URL of the store. */
  abstract String url();

  @Test
  @Timeout(240)
  void givenManyProcesses_whenEachIncrementsUnderTheLock_thenNoIncrementIsLostAndTokensRise()
      throws Exception {
    Path counter = Files.writeString(folder.resolve("counter"), "0\n");
    Path tokens = folder.resolve("tokens");
    String increment =
        "echo $MORTISE_TOKEN >>%s; for i in %s; do read n <%s; echo $((n+1)) >%s; done"
            .formatted(tokens, "x ".repeat(INCREMENTS), counter, counter);
    String java =
        String.join(" ", CliProcess.words(Main.class, "run", "-q", "counter", "--", "sh", "-c"));
    String loop =
        "for r in %s; do %s '%s' || exit 1; done".formatted("x ".repeat(RUNS), java, increment);
    List<Process> shells = new ArrayList<>();
    try {
      for (int i = 0; i < PROCESSES; i++) {
        ProcessBuilder builder =
            new ProcessBuilder("sh", "-c", loop).redirectOutput(folder.resolve("log" + i).toFile());
        builder.redirectErrorStream(true).environment().putAll(variables());
        shells.add(builder.start());
      }
      for (int i = 0; i < PROCESSES; i++) {
        int status = shells.get(i).waitFor();
        assertThat(Files.readString(folder.resolve("log" + i))).isEmpty();
        assertThat(status).isZero();
      }
    } finally {
      shells.forEach(shell -> shell.descendants().forEach(ProcessHandle::destroyForcibly));
      shells.forEach(Process::destroyForcibly);
    }
    assertThat(Files.readString(counter).strip())
        .isEqualTo(Integer.toString(PROCESSES * RUNS * INCREMENTS));
    assertThat(Files.readAllLines(tokens).stream().map(Long::valueOf).toList())
        .hasSize(PROCESSES * RUNS)
        .isSorted()
        .doesNotHaveDuplicates();
    assertOnlyTheStoreIsLeft();
  }

  @Test
  void givenHolderAndWaiter_whenHolderIsKilled_thenWaiterHasTheLockWithinTheTtl() throws Exception {
    try (CliProcess holder =
            tool(
                "run",
                "--ttl",
                "12s",
                "--label",
                "night job",
                "job",
                "--",
                "sh",
                "-c",
                "echo $MORTISE_TOKEN; exec sleep 100");
        CliProcess waiter =
            startAfter(holder, "run", "job", "--", "sh", "-c", "echo $MORTISE_TOKEN")) {
      long holderPid = holder.process().pid();
      await()
          .atMost(Duration.ofSeconds(60))
          .untilAsserted(
              () -> {
                try (CliProcess ls = tool("ls")) {
                  assertThat(ls.status()).isZero();
                  assertThat(ls.out().lines().skip(1))
                      .singleElement()
                      .asString()
                      .matches(
                          "job +\\S+:"
                              + holderPid
                              + " +mortise +exclusive +\\S+ +1 +"
                              + holder.out().strip()
                              + " +night job");
                }
              });
      holder.process().destroyForcibly();
      long killed = System.nanoTime();
      assertThat(waiter.status()).isZero();
      assertThat(Duration.ofNanos(System.nanoTime() - killed)).isLessThan(Duration.ofSeconds(25));
      assertThat(Long.parseLong(waiter.out().strip()))
          .isGreaterThan(Long.parseLong(holder.out().strip()));
    }
  }

  @Test
  void givenLeaders_whenTheFirstIsKilled_thenTheNextStartsItsCommandAfterTheTtl() throws Exception {
    String command = "echo $MORTISE_TOKEN; exec sleep 100";
    Duration ttl = Duration.ofSeconds(5);
    String[] words = {
      "run", "--leader", "--ttl", "5s", "--grace", "1s", "job", "--", "sh", "-c", command
    };
    try (CliProcess first = tool(words);
        CliProcess next = startAfter(first, words)) {
      await().atMost(Duration.ofSeconds(60)).until(() -> show().contains("waiter 1"));
      assertThat(next.out()).isEmpty();
      first.process().destroyForcibly();
      long killed = System.nanoTime();
      await().atMost(Duration.ofSeconds(60)).until(() -> next.out().endsWith("\n"));
      Duration passed = Duration.ofNanos(System.nanoTime() - killed);
      // Renewed up to a third of the TTL ago; a slow machine needs a moment to start a command.
      assertThat(passed).isBetween(ttl.dividedBy(2), ttl.plusSeconds(10));
      assertThat(Long.parseLong(next.out().strip()))
          .isGreaterThan(Long.parseLong(first.out().strip()));
      try (CliProcess third = startAfter(next, words)) {
        await().atMost(Duration.ofSeconds(60)).until(() -> show().contains("waiter 1"));
        next.signal("TERM");
        assertThat(next.status()).isEqualTo(128 + 15);
        await().atMost(Duration.ofSeconds(60)).until(() -> third.out().endsWith("\n"));
        third.signal("TERM");
        assertThat(third.status()).isEqualTo(128 + 15);
      }
    }
  }

  @Test
  void givenHolder_whenEvicted_thenItsCommandEndsAndTheLockIsFree() throws Exception {
    try (CliProcess holder =
        tool("run", "--ttl", "15s", "job", "--", "sh", "-c", "echo on; exec sleep 100")) {
      await().atMost(Duration.ofSeconds(60)).until(() -> !holder.out().isEmpty());
      try (CliProcess evict = tool("evict", "--yes", "job")) {
        assertThat(evict.status()).isZero();
        assertThat(evict.err()).contains("to let go of lock 'job'");
      }
      assertThat(holder.status()).isEqualTo(ExitStatus.LOST);
      assertThat(holder.err())
          .as("the tool's own line alone")
          .contains(
              "Lock 'job' was lost while the command ran: an operator evicted it; the command was"
                  + " ended (status 143) before anybody else could have the lock.")
          .doesNotContain("overlap")
          .doesNotContain("Lost lease on lock");
      try (CliProcess next = tool("run", "--wait", "60s", "job", "--", "true")) {
        assertThat(next.status()).isZero();
      }
    }
  }

  @Test
  void givenHoldOnCrash_whenToolIsKilled_thenCommandLivesAndLockStaysShutUntilItIsOpened()
      throws Exception {
    try (CliProcess holder =
        tool(
            "run",
            "--ttl",
            "8s",
            "--hold-on-crash",
            "5m",
            "job",
            "--",
            "sh",
            "-c",
            "echo $$; exec sleep 100")) {
      await().atMost(Duration.ofSeconds(60)).until(() -> holder.out().endsWith("\n"));
      long command = Long.parseLong(holder.out().strip());
      try {
        holder.process().destroyForcibly();
        await().atMost(Duration.ofSeconds(60)).until(() -> DEAD_HOLDER.matcher(show()).find());
        try (CliProcess evict = tool("evict", "--yes", "job")) {
          assertThat(evict.status()).isZero();
          assertThat(evict.err()).contains("it stays shut for another 4m", "With --now it opens");
        }
        try (CliProcess next = tool("run", "--wait", "15s", "job", "--", "true")) {
          assertThat(next.status()).isEqualTo(ExitStatus.NOT_HAD);
          assertThat(next.err()).contains("shut for another ");
        }
        assertThat(CliProcess.isAlive(command)).isTrue();
        try (CliProcess evict = tool("evict", "--yes", "--now", "job")) {
          assertThat(evict.status()).isZero();
          assertThat(evict.err()).contains("Opened lock 'job'");
        }
        try (CliProcess next = tool("run", "--wait", "60s", "job", "--", "true")) {
          assertThat(next.status()).isZero();
        }
      } finally {
        CliProcess.signal("KILL", command);
      }
    }
  }

  @Test
  void givenOldStoreAsWell_whenTheCommandRuns_thenNobodyHasTheLockThere() throws Exception {
    String old = "jdbc:sqlite:" + folder.resolve("old.db");
    try (CliProcess holder =
        tool("run", "--also", old, "job", "--", "sh", "-c", "echo up; exec sleep 100")) {
      await().atMost(Duration.ofSeconds(60)).until(() -> holder.out().endsWith("\n"));
      try (CliProcess other = tool("run", "--store", old, "--wait", "0", "job", "--", "true")) {
        assertThat(other.status()).isEqualTo(ExitStatus.NOT_HAD);
      }
      holder.signal("TERM");
      holder.status();
    }
    try (CliProcess next = tool("run", "--store", old, "--wait", "60s", "job", "--", "true")) {
      assertThat(next.status()).isZero();
    }
  }

  @Test
  void givenOldStore_whenTheNewOneIsTheFileOfThisHost_thenThatIsMade() throws Exception {
    try (CliProcess run =
        CliProcess.start(
            folder,
            Main.class,
            Map.of("HOME", folder.toString(), "TMPDIR", folder.toString()),
            Redirect.from(new File("/dev/null")),
            "run",
            "--also",
            "jdbc:sqlite:" + folder.resolve("former.db"),
            "job",
            "--",
            "true")) {
      assertThat(run.status()).as(run.err()).isZero();
    }
    assertThat(folder.resolve(".local/state/mortise/locks.db")).exists();
  }

  @Test
  void givenHoldOnCrash_whenCommandEnds_thenLockIsFreeAtOnce() throws Exception {
    try (CliProcess first = tool("run", "--hold-on-crash", "1h", "job", "--", "true")) {
      assertThat(first.status()).isZero();
      assertThat(first.err()).isEmpty();
    }
    try (CliProcess next = tool("run", "--wait", "60s", "job", "--", "true")) {
      assertThat(next.status()).isZero();
    }
  }

  @ParameterizedTest
  @ValueSource(strings = {"--hold-on-crash", "--at-least"})
  void givenTimeThatKeepsTheLockShut_whenCommandCannotBeStarted_thenLockIsFreeAtOnce(String option)
      throws Exception {
    Map<String, String> variables = new HashMap<>(variables());
    variables.put("PATH", folder.resolve("missing").toString()); // without mkfifo
    try (CliProcess first =
        CliProcess.start(
            folder,
            Main.class,
            variables,
            Redirect.from(new File("/dev/null")),
            "run",
            option,
            "1h",
            "job",
            "--",
            "/bin/sh")) {
      assertThat(first.status()).isEqualTo(ExitStatus.FAILED);
      assertThat(first.err()).contains("could not be started", "mkfifo");
    }
    try (CliProcess next = tool("run", "--wait", "20s", "job", "--", "true")) {
      assertThat(next.status()).as(next.err()).isZero();
    }
  }

  @Test
  void givenWaiter_whenInterrupted_thenNothingOfItStaysInTheQueue() throws Exception {
    CliProcess.needsInterrupts();
    try (CliProcess holder = tool("run", "job", "--", "sh", "-c", "echo on; exec sleep 100");
        CliProcess waiter = startAfter(holder, "run", "job", "--", "true")) {
      await().atMost(Duration.ofSeconds(60)).until(() -> show().contains("waiter 1"));
      waiter.signal("INT");
      assertThat(waiter.status()).isEqualTo(130);
      assertThat(show()).contains("held by 1, 0 waiting");
      holder.signal("TERM");
      assertThat(holder.status()).isEqualTo(128 + 15);
      assertThat(show()).startsWith("job: free");
    }
  }

  private CliProcess startAfter(CliProcess holder, String... args) throws IOException {
    await().atMost(Duration.ofSeconds(60)).until(() -> !holder.out().isEmpty());
    return tool(args);
  }

  private String show() throws Exception {
    try (CliProcess show = tool("show", "job")) {
      assertThat(show.status()).isZero();
      return show.out();
    }
  }

  private CliProcess tool(String... args) throws IOException {
    return CliProcess.start(
        folder, Main.class, variables(), Redirect.from(new File("/dev/null")), args);
  }

  private Map<String, String> variables() {
    return Map.of("MORTISE_STORE", url(), "TMPDIR", folder.toString());
  }

  private void assertOnlyTheStoreIsLeft() {
    await()
        .atMost(Duration.ofSeconds(60))
        .untilAsserted(
            () -> {
              try (Stream<Path> files = Files.list(folder)) {
                assertThat(files.map(file -> file.getFileName().toString()))
                    .allMatch(name -> name.matches("locks\\.db.*|counter|tokens|log\\d"));
              }
            });
  }
}
