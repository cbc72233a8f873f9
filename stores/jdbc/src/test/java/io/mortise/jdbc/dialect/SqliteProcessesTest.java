package io.mortise.jdbc.dialect;

import static org.assertj.core.api.Assertions.assertThat;

import io.mortise.Lease;
import io.mortise.LockClient;
import io.mortise.jdbc.LockProcess;
import io.mortise.testkit.RerunIfPaused;
import java.nio.file.Files;
import java.nio.file.Path;
import java.sql.Connection;
import java.sql.DriverManager;
import java.sql.ResultSet;
import java.sql.Statement;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Random;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.LockSupport;
import org.awaitility.Awaitility;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.condition.EnabledOnOs;
import org.junit.jupiter.api.condition.OS;
import org.junit.jupiter.api.io.TempDir;

/** Several processes on one file, some of them killed. */
class SqliteProcessesTest {
  private static final Duration TTL = Duration.ofSeconds(10);

  @TempDir Path directory;

  private String url() {
    return "jdbc:sqlite:" + directory.resolve("locks.db");
  }

  @Test
  void givenProcesses_whenEachCountsUnderTheLock_thenNoCountIsLost() throws Exception {
    Path counter = Files.writeString(directory.resolve("counter"), "0");
    List<LockProcess> children = new ArrayList<>();
    try {
      for (int i = 0; i < 3; i++) {
        children.add(LockProcess.start("count", url(), TTL, counter.toString(), "300"));
      }
      for (LockProcess child : children) {
        assertThat(child.await()).isZero();
      }
    } finally {
      children.forEach(LockProcess::close);
    }
    assertThat(Files.readString(counter)).isEqualTo("900");
  }

  @Test
  @RerunIfPaused
  void givenHolderKilled_whenAnotherWaits_thenItGetsTheLockSoonAfterTheTtlWithAHigherToken()
      throws Exception {
    Duration ttl = Duration.ofSeconds(2);
    try (LockProcess child = LockProcess.start("hold", url(), ttl);
        LockClient locks = LockClient.connect(url())) {
      long token = Long.parseLong(child.line());
      assertThat(locks.lock("held").tryAcquire()).isEmpty();
      child.kill();
      long killed = System.nanoTime();
      try (Lease lease = locks.lock("held").acquireWithin(Duration.ofSeconds(20))) {
        assertThat(lease.token()).isGreaterThan(token);
      }
      assertThat(Duration.ofNanos(System.nanoTime() - killed)).isLessThan(ttl.plusSeconds(10));
    }
  }

  @Test
  void givenProcessesKilledAtAnyInstant_whenOthersGoOn_thenFileAndCounterAreWhole()
      throws Exception {
    Path counter = Files.writeString(directory.resolve("counter"), "0");
    Random random = new Random(42);
    Duration ttl = Duration.ofMillis(400);
    try (LockClient locks = LockClient.connect(url())) {
      long ours = 0;
      for (int i = 0; i < 6; i++) {
        try (LockProcess child =
            LockProcess.start("count", url(), ttl, counter.toString(), "1000000")) {
          assertThat(child.line()).isEqualTo("ready");
          LockSupport.parkNanos(TimeUnit.MILLISECONDS.toNanos(50 + random.nextInt(250)));
          child.kill();
        }
        try (Lease lease = locks.lock("counter").acquireWithin(Duration.ofSeconds(20))) {
          if (Files.size(counter) == 0) {
            // Killed between truncating and writing: not the lock's fault.
            Files.writeString(counter, "0");
          }
          LockProcess.increment(counter);
          ours++;
          lease.ensureValid();
        }
      }
      assertThat(Long.parseLong(Files.readString(counter))).isGreaterThanOrEqualTo(1);
      assertThat(ours).isEqualTo(6);
    }
    try (Connection connection = DriverManager.getConnection(url());
        Statement statement = connection.createStatement();
        ResultSet row = statement.executeQuery("PRAGMA integrity_check")) {
      row.next();
      assertThat(row.getString(1)).isEqualTo("ok");
    }
  }

  @Test
  @EnabledOnOs(OS.LINUX) // System.nanoTime is the same in both processes there.
  void givenWaiterInAnotherProcess_whenReleased_thenItIsWokenSoonAndIdlesCheaply()
      throws Exception {
    int rounds = 100;
    long[] latencies = new long[rounds];
    Lease lease = null;
    try (LockClient locks = LockClient.connect(url())) {
      lease = locks.lock("echo").acquireWithin(TTL);
      try (LockProcess child = LockProcess.start("echo", url(), TTL, Integer.toString(rounds))) {
        for (int i = 0; i < rounds; i++) {
          child.go();
          Awaitility.await()
              .atMost(Duration.ofSeconds(30))
              .pollInterval(Duration.ofMillis(1))
              .until(() -> !locks.admin().find("echo").orElseThrow().waiters().isEmpty());
          if (i == rounds / 2) {
            Duration before = child.cpu();
            LockSupport.parkNanos(TimeUnit.SECONDS.toNanos(3));
            Duration used = child.cpu().minus(before);
            System.out.println("CPU of a waiter in 3 s: " + used.toMillis() + " ms");
            assertThat(used).isLessThan(Duration.ofMillis(600));
          }
          long released = System.nanoTime();
          lease.close();
          latencies[i] = Long.parseLong(child.line()) - released;
          lease = locks.lock("echo").acquireWithin(TTL);
        }
        lease.close();
        assertThat(child.await()).isZero();
      }
    }
    Arrays.sort(latencies);
    System.out.printf(
        "Wake-up in another process: median %.2f ms, p90 %.2f ms%n",
        latencies[rounds / 2] / 1e6, latencies[rounds * 9 / 10] / 1e6);
    // On a busy machine most have to wait until they are let run; a poller is never so soon.
    assertThat(Duration.ofNanos(latencies[rounds / 10])).isLessThan(Duration.ofMillis(25));
  }
}
