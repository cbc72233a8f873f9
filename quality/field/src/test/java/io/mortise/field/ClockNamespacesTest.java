package io.mortise.field;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import io.mortise.Lease;
import io.mortise.LockClient;
import io.mortise.StoreUnfitException;
import io.mortise.testkit.BoundedWait;
import io.mortise.testkit.server.JvmProcess;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.sql.Connection;
import java.sql.DriverManager;
import java.sql.ResultSet;
import java.sql.Statement;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.condition.EnabledOnOs;
import org.junit.jupiter.api.condition.OS;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/**
 * Containers whose boot clocks differ from their host's: time namespaces, given to containers that
 * migrate between hosts, and lxcfs.
 */
@Tag("extended")
@EnabledOnOs(OS.LINUX)
class ClockNamespacesTest {
  private static final Duration TTL = Duration.ofSeconds(2);

  /** Stands for the offset that makes the host look booted ten seconds ago. */
  private static final long YOUNG = 0;

  /** Offsets of the monotonic clock and of the boot clock, in seconds. */
  private static final long[][] OFFSETS = {{86_400_000, YOUNG}, {YOUNG, YOUNG}};

  private static final String ENTER =
      """
      import ctypes, os, sys, time
      young = 10 - int(time.clock_gettime(time.CLOCK_MONOTONIC))
      if ctypes.CDLL(None).unshare(0x80) != 0:
        sys.exit(1)
      offsets = [int(word) or young for word in sys.argv[1:3]]
      with open('/proc/self/timens_offsets', 'w') as file:
        file.write('monotonic %d 0\\nboottime %d 0\\n' % tuple(offsets))
      os.execvp(sys.argv[3], sys.argv[3:])
      """;

  /**
   * Acquires a lock and prints its token. Prints for each byte of the input whether the lease is
   * valid, and releases.
   *
   * @param args URL, name of the lock
   */
  public static void main(String[] args) throws Exception {
    try (LockClient client = LockClient.builder().url(args[0]).ttl(TTL).build()) {
      Lease lease = client.lock(args[1]).acquireWithin(Trial.LONG);
      System.out.println(lease.token());
      while (System.in.read() >= 0) {
        System.out.println(lease.isValid());
        lease.close();
      }
    }
  }

  private static List<String> inTimeNamespace(long monotonic, long boottime) throws Exception {
    Path own = Path.of("/proc/self/ns/time");
    List<String> words =
        List.of("python3", "-c", ENTER, Long.toString(monotonic), Long.toString(boottime));
    List<String> trial = new ArrayList<>(words);
    // Before Linux 6.3 only children enter the namespace.
    trial.addAll(List.of("sh", "-c", "[ \"$(readlink /proc/$$/ns/time)\" != \"$0\" ]"));
    trial.add(Files.exists(own) ? Files.readSymbolicLink(own).toString() : "");
    assumeRuns(trial, "a time namespace");
    return words;
  }

  /** Runs in a container that lxcfs shows as started two seconds ago. */
  private static List<String> overUptime(Path folder) throws Exception {
    return over(
        Path.of("/proc/uptime"), Files.writeString(folder.resolve("uptime"), "2.00 2.00\n"));
  }

  /** Runs in a container that shows its own file in place of a kernel file. */
  private static List<String> over(Path shown, Path own) throws Exception {
    List<String> words =
        List.of(
            "unshare",
            "-rm",
            "sh",
            "-c",
            "mount --bind \"$0\" " + shown + " && exec \"$@\"",
            own.toString());
    List<String> trial = new ArrayList<>(words);
    trial.add("true");
    assumeRuns(trial, "a mount namespace");
    return words;
  }

  private static void assumeRuns(List<String> words, String what) throws Exception {
    try {
      assumeTrue(
          new ProcessBuilder(words).start().waitFor() == 0,
          "SKIPPED: " + what + " is not allowed.");
    } catch (IOException e) {
      assumeTrue(false, "SKIPPED: " + what + " needs " + words.get(0) + ".");
    }
  }

  /** Covers each way to detect the end of a session. */
  @ParameterizedTest
  @EnumSource(names = {"REDIS", "POSTGRESQL", "ZOOKEEPER", "DYNAMODB"})
  @Report({"openjdk/crac#53", "eclipse-openj9/openj9#15417", "canonical/lxd#3517"})
  void givenTimeNamespaces_thenHoldersInThemKeepTheirLocks_andDeadOnesAreFollowedInTime(
      FieldStore store) throws Exception {
    String url = store.newUrl();
    List<JvmProcess> holders = new ArrayList<>();
    try (LockClient client = Trial.client(url)) {
      List<Long> tokens = new ArrayList<>();
      for (long[] offsets : OFFSETS) {
        holders.add(
            JvmProcess.start(
                with(inTimeNamespace(offsets[0], offsets[1])),
                ClockNamespacesTest.class,
                url,
                "lock" + holders.size()));
      }
      for (JvmProcess holder : holders) {
        tokens.add(Long.parseLong(holder.line()));
      }
      BoundedWait.pass(TTL.multipliedBy(3));
      for (int i = 0; i < holders.size(); i++) {
        assertThat(client.lock("lock" + i).tryAcquire()).isEmpty();
        if (i == 0) {
          holders.get(i).close();
        } else {
          holders.get(i).goOn();
          assertThat(holders.get(i).line()).isEqualTo("true");
        }
        try (Lease next = client.lock("lock" + i).acquireWithin(Trial.LONG)) {
          assertThat(next.token()).isGreaterThan(tokens.get(i));
        }
      }
    } finally {
      holders.forEach(JvmProcess::close);
    }
  }

  private static List<String> with(List<String> prefix) {
    List<String> words = new ArrayList<>(prefix);
    words.addAll(List.of("env", "JDK_JAVA_OPTIONS=" + JvmSettingsTest.CREDENTIALS));
    return words;
  }

  @Test
  @Report({"opencontainers/runc#2345", "mkrd/DictDataBase#55"})
  void givenSqliteFileOfTwoTimeNamespaces_thenTheirProcessesExcludeEachOther(@TempDir Path folder)
      throws Exception {
    for (long[] offsets : OFFSETS) {
      assertShared(folder, inTimeNamespace(offsets[0], offsets[1]));
    }
    assertThat(clock(folder)).isEqualTo("monotonic");
  }

  @Test
  @Report({
    "lxc/lxcfs#164",
    "giampaolo/psutil#1344",
    "shirou/gopsutil#1562",
    "agentic-os-org/ANOLISA#3121"
  })
  void givenSqliteFileOfAHostAndAContainerOfLxcfs_thenTheirProcessesExcludeEachOther(
      @TempDir Path folder) throws Exception {
    assertShared(folder, overUptime(folder));
    assertThat(clock(folder)).isEqualTo("monotonic");
  }

  /** LXC and systemd-nspawn give a container a boot id, which changes with each start. */
  @Test
  void givenSqliteFileOfContainersWithBootIdsOfTheirOwn_thenNoneEndsTheOthersLease(
      @TempDir Path folder) throws Exception {
    String url = "jdbc:sqlite:" + folder.resolve("locks.db");
    List<JvmProcess> holders = new ArrayList<>();
    try {
      for (String digit : List.of("1", "2")) {
        Path id = Files.writeString(folder.resolve("boot" + digit), digit.repeat(36) + "\n");
        holders.add(
            JvmProcess.start(
                over(Path.of("/proc/sys/kernel/random/boot_id"), id),
                ClockNamespacesTest.class,
                url,
                "lock"));
        if (holders.size() == 1) {
          assertThat(Long.parseLong(holders.get(0).line())).isPositive();
        }
      }
      BoundedWait.pass(TTL.multipliedBy(3));
      holders.get(0).goOn();
      assertThat(holders.get(0).line()).isEqualTo("true");
      assertThat(Long.parseLong(holders.get(1).line())).isPositive();
      assertThatThrownBy(() -> LockClient.connect(url).close())
          .isInstanceOf(StoreUnfitException.class)
          .hasMessageContaining("wall clock");
    } finally {
      holders.forEach(JvmProcess::close);
    }
  }

  /** As when its caches are dropped, or lxcfs is restarted. */
  @ParameterizedTest
  @EnumSource(names = {"REDIS", "POSTGRESQL", "DYNAMODB"})
  @Report("lxc/lxcfs#184")
  void givenUptimeOfLxcfsThatJumps_whenNothingWasSuspended_thenNoLeaseIsLost(
      FieldStore store, @TempDir Path folder) throws Exception {
    try (JvmProcess holder =
        JvmProcess.start(
            with(overUptime(folder)), ClockNamespacesTest.class, store.newUrl(), "lock")) {
      assertThat(Long.parseLong(holder.line())).isPositive();
      for (String shown : List.of("900000.00", "3.00", "900000.00")) {
        Files.writeString(folder.resolve("uptime"), shown + " 2.00\n");
        BoundedWait.pass(TTL);
      }
      holder.goOn();
      assertThat(holder.line()).isEqualTo("true");
    }
  }

  /** The process in the namespace uses the file first. */
  private static void assertShared(Path folder, List<String> prefix) throws Exception {
    String url = "jdbc:sqlite:" + folder.resolve("locks.db");
    try (JvmProcess holder = JvmProcess.start(prefix, ClockNamespacesTest.class, url, "lock")) {
      long token = Long.parseLong(holder.line());
      try (LockClient client = LockClient.builder().url(url).ttl(TTL).build()) {
        BoundedWait.pass(TTL.multipliedBy(2));
        assertThat(client.lock("lock").tryAcquire()).isEmpty();
        holder.process().destroyForcibly().onExit().join();
        try (Lease next = client.lock("lock").acquireWithin(TTL.multipliedBy(4))) {
          assertThat(next.token()).isGreaterThan(token);
          try (JvmProcess second =
              JvmProcess.start(prefix, ClockNamespacesTest.class, url, "other")) {
            assertThat(Long.parseLong(second.line())).isPositive();
            assertThat(next.isValid()).isTrue();
          }
        }
      }
    }
  }

  private static String clock(Path folder) throws Exception {
    try (Connection connection =
            DriverManager.getConnection("jdbc:sqlite:" + folder.resolve("locks.db"));
        Statement statement = connection.createStatement();
        ResultSet row =
            statement.executeQuery("SELECT content FROM mortise_meta WHERE fact = 'clock'")) {
      row.next();
      return row.getString(1);
    }
  }
}
