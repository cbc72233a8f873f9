package io.mortise.cli;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeSet;
import java.util.stream.Stream;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.condition.EnabledOnOs;
import org.junit.jupiter.api.condition.OS;

/** {@code mortise run} as process 1 of a container, and with lxcfs' /proc/uptime. */
@EnabledOnOs(value = OS.LINUX, disabledReason = "needs /proc")
@Tag("extended")
class RunContainerTest extends RunCommandHarness {
  /** Makes a program the parent of all orphans below it, as process 1 is. */
  private static final List<String> AS_PROCESS_1 =
      List.of(
          "python3",
          "-c",
          "import ctypes, os, sys; ctypes.CDLL(None).prctl(36, 1, 0, 0, 0);"
              + " os.execvp(sys.argv[1], sys.argv[1:])");

  @Test
  void givenToolAsProcess1_whenItsLockIsRenewed_thenItGetsNoOrphanOfItsWatcher() throws Exception {
    TerminalRun.needsPython();
    String script = "echo $$; while :; do sleep 0.1; done";
    try (CliProcess tool = start(AS_PROCESS_1, "brief", script)) {
      long command = awaitPid(tool);
      long watcher = watcher(tool.process().pid()).orElseThrow();
      Set<Long> guards = new TreeSet<>();
      await()
          .atMost(LONG)
          .until(
              () -> {
                guards.addAll(children(watcher));
                return guards.size() > 2; // the lock was renewed twice
              });
      assertThat(children(tool.process().pid())).containsExactlyInAnyOrder(command, watcher);
      tool.signal("TERM");
      assertThat(tool.status()).isEqualTo(128 + 15);
    }
  }

  @Test
  void givenUptimeWithOneDigit_whenToolIsKilledOrStopped_thenCommandEnds() throws Exception {
    Path uptime = Files.writeString(folder.resolve("uptime"), "41.0 41.0\n");
    for (String signal : List.of("KILL", "STOP")) {
      try (CliProcess tool = start(overUptime(uptime), "brief", "echo $$; exec sleep 100")) {
        long command = awaitPid(tool);
        tool.signal(signal);
        await().atMost(LONG).until(() -> !CliProcess.isAlive(command));
      }
    }
  }

  @Test
  void givenUptimeThatGoesAwayDuringTheGrace_thenTheCommandHasAllOfIt() throws Exception {
    Path uptime = Files.writeString(folder.resolve("uptime"), "41.00 41.00\n");
    Path done = folder.resolve("done");
    String script =
        "trap ': >"
            + uptime
            + "; sleep 1; : >"
            + done
            + "; exit 0' TERM; echo $$;"
            + " while :; do sleep 0.1; done";
    try (CliProcess tool = start(overUptime(uptime), "job", script, "--grace", "6s")) {
      long command = awaitPid(tool);
      tool.signal("KILL");
      await().atMost(LONG).until(() -> !CliProcess.isAlive(command));
      assertThat(done).exists();
    }
  }

  /** The clocks of a namespace restart, or continue those of a former host. */
  @Test
  void givenTimeNamespace_whenToolIsKilledOrStopped_thenTheCommandHasItsGrace_andEnds()
      throws Exception {
    for (long days : List.of(-1, 1000)) {
      List<String> words = inTimeNamespace(days);
      Path done = folder.resolve("done" + days);
      String script =
          "trap 'sleep 1; : >" + done + "; exit 0' TERM; echo $$;" + " while :; do sleep 0.1; done";
      try (CliProcess tool = start(words, "job", script, "--grace", "6s")) {
        long command = awaitPid(tool);
        tool.signal("KILL");
        await().atMost(LONG).until(() -> !CliProcess.isAlive(command));
        assertThat(done).exists();
      }
      try (CliProcess tool = start(words, "brief", "echo $$; exec sleep 100")) {
        long command = awaitPid(tool);
        tool.signal("STOP");
        await().atMost(LONG).until(() -> !CliProcess.isAlive(command));
      }
    }
  }

  /**
   * A command prefix that sets a program's clocks ahead.
   *
   * @param days less than 0: as if the host had been booted ten seconds ago
   */
  private static List<String> inTimeNamespace(long days) throws Exception {
    TerminalRun.needsPython();
    Path own = Path.of("/proc/self/ns/time");
    assumeTrue(Files.exists(own), "Linux before 5.6 has no time namespaces.");
    String script =
        """
        import ctypes, os, sys, time
        days = int(sys.argv[1])
        seconds = days * 86400 if days > 0 else 10 - int(time.clock_gettime(time.CLOCK_MONOTONIC))
        if ctypes.CDLL(None).unshare(0x80) != 0:
          sys.exit(1)
        with open('/proc/self/timens_offsets', 'w') as offsets:
          offsets.write('monotonic %d 0\\nboottime %d 0\\n' % (seconds, seconds))
        os.execvp(sys.argv[2], sys.argv[2:])
        """;
    List<String> words = List.of("python3", "-c", script, Long.toString(days));
    List<String> trial = new ArrayList<>(words);
    // Before Linux 6.3 only children enter the namespace.
    trial.addAll(
        List.of(
            "sh",
            "-c",
            "[ \"$(readlink /proc/$$/ns/time)\" != \"$0\" ]",
            Files.readSymbolicLink(own).toString()));
    assumeTrue(
        TerminalRun.runs(trial.toArray(String[]::new)), "No time namespace can be had here.");
    return words;
  }

  /** A command prefix that shows a program this file as /proc/uptime. */
  private static List<String> overUptime(Path file) throws IOException, InterruptedException {
    List<String> words =
        List.of(
            "unshare",
            "-rm",
            "sh",
            "-c",
            "mount --bind \"$0\" /proc/uptime && exec \"$@\"",
            file.toString());
    List<String> trial = new ArrayList<>(words);
    trial.add("true");
    assumeTrue(
        TerminalRun.runs(trial.toArray(String[]::new)), "No mount namespace can be had here.");
    return words;
  }

  private CliProcess start(List<String> program, String name, String script, String... options)
      throws IOException {
    return CliProcess.startBy(
        program,
        folder,
        FakeCliMain.class,
        Map.of("MORTISE_STORE", "fake:"),
        NO_INPUT,
        Stream.of(
                Stream.of("run"),
                options.length == 0 ? Stream.of("--grace", "500ms") : Stream.of(options),
                Stream.of(name, "--", "sh", "-c", script))
            .flatMap(words -> words)
            .toArray(String[]::new));
  }

  /** The children of a process, including zombies. */
  private static List<Long> children(long parent) {
    try (Stream<Path> processes = Files.list(Path.of("/proc"))) {
      return processes
          .map(folder -> folder.getFileName().toString())
          .filter(id -> id.matches("\\d+"))
          .map(Long::valueOf)
          .filter(id -> parent(id) == parent)
          .toList();
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }

  private static long parent(long id) {
    try {
      String stat = Files.readString(Path.of("/proc/" + id + "/stat"));
      return Long.parseLong(stat.substring(stat.lastIndexOf(')') + 2).split(" ", 3)[1]);
    } catch (IOException e) {
      return 0; // it has ended
    }
  }
}
