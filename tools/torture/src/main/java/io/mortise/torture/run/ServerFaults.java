package io.mortise.torture.run;

import io.mortise.testkit.server.LocalServer;
import io.mortise.testkit.server.LossyDisk;
import io.mortise.testserver.FakeClock;
import java.sql.Connection;
import java.sql.DriverManager;
import java.sql.SQLException;
import java.sql.Statement;
import java.time.Duration;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.ThreadLocalRandom;
import java.util.concurrent.locks.LockSupport;
import java.util.function.Supplier;

/** Faults common to several kinds of servers. */
final class ServerFaults {
  private static final List<String> TABLES = List.of("news", "wait", "hold", "lock", "session");

  /** Long, as the deletion shares no order of rows with lock steps, and may deadlock often. */
  private static final Duration RETRY_TIMEOUT = Duration.ofSeconds(60);

  private static final Duration LONGEST_PAUSE = Duration.ofMillis(200);

  private ServerFaults() {}

  /** SIGSTOP and SIGKILL of the only server. */
  static StoreDeployment only(LocalServer server, StoreDeployment storeDeployment) {
    return storeDeployment
        .can(
            InjectedFault.SERVER_PAUSE,
            (time, outage) -> {
              server.pause();
              // Until its threads are stopped.
              Thread.sleep(50);
              outage.begins();
              Thread.sleep(time.toMillis());
              outage.ends();
              server.resume();
            })
        .can(
            InjectedFault.SERVER_CRASH,
            (time, outage) -> {
              server.kill();
              outage.begins();
              // Requests not retried by then do not notice an outage.
              Thread.sleep(time.dividedBy(4).toMillis());
              outage.ends();
              server.restart();
            });
  }

  /**
   * The same for one of several servers, chosen at the injection; the others run on.
   *
   * @param convalescence how long a restarted server is useless; no other may have a fault
   *     meanwhile
   */
  static StoreDeployment one(
      Supplier<? extends LocalServer> next,
      Duration convalescence,
      StoreDeployment storeDeployment) {
    return storeDeployment
        .can(
            InjectedFault.SERVER_PAUSE,
            (time, outage) -> {
              LocalServer server = next.get();
              server.pause();
              Thread.sleep(time.toMillis());
              server.resume();
            })
        .can(
            InjectedFault.SERVER_CRASH,
            (time, outage) -> {
              LocalServer server = next.get();
              server.kill();
              Thread.sleep(time.dividedBy(2).toMillis());
              server.restart();
              Thread.sleep(convalescence.toMillis());
            });
  }

  /**
   * Steps of the time of day, forward and back by the same, for servers under this clock. A step
   * back ends when the clock shows its former time again: a loss of data before that would repeat
   * tokens, which would be two faults at a time.
   */
  static StoreDeployment clock(Optional<FakeClock> clock, StoreDeployment storeDeployment) {
    return clock(clock, Optional.empty(), storeDeployment);
  }

  /**
   * As above.
   *
   * @param processes a server whose processes read the clock separately. It is paused until all see
   *     the new time, as a host has one clock
   */
  static StoreDeployment clock(
      Optional<FakeClock> clock,
      Optional<? extends LocalServer> processes,
      StoreDeployment storeDeployment) {
    if (clock.isEmpty()) {
      String why =
          "libfaketime is not installed (Debian: faketime), or does not suit the server; it suits"
              + " no JVM";
      return storeDeployment
          .lacks(InjectedFault.CLOCK_FORWARD, why)
          .lacks(InjectedFault.CLOCK_BACK, why);
    }
    FakeClock shown = clock.get();
    long[] offset = {0};
    return storeDeployment
        .can(
            InjectedFault.CLOCK_FORWARD,
            (time, outage) -> {
              offset[0] += time.toMillis();
              step(shown, offset[0], processes, outage);
            })
        .can(
            InjectedFault.CLOCK_BACK,
            (time, outage) -> {
              offset[0] -= time.toMillis();
              step(shown, offset[0], processes, outage);
              Thread.sleep(time.toMillis());
            });
  }

  private static void step(
      FakeClock shown,
      long offset,
      Optional<? extends LocalServer> processes,
      StoreDeployment.OutageListener outage)
      throws InterruptedException {
    if (processes.isEmpty()) {
      shown.set(Duration.ofMillis(offset));
      Thread.sleep(shown.delay().toMillis());
      return;
    }
    LocalServer server = processes.get();
    server.pause();
    outage.begins();
    shown.set(Duration.ofMillis(offset));
    // The library counts full seconds.
    Thread.sleep(shown.delay().plusSeconds(1).toMillis());
    outage.ends();
    server.resume();
  }

  /** A disk that can lose unforced writes. */
  static StoreDeployment disk(
      Optional<LossyDisk> disk, LocalServer server, StoreDeployment storeDeployment) {
    if (disk.isEmpty()) {
      return storeDeployment.lacks(
          InjectedFault.POWER_CUT, "it needs root, Linux, and the right to mount a file system");
    }
    disk.get().settle();
    return storeDeployment.can(
        InjectedFault.POWER_CUT,
        (time, outage) -> {
          disk.get().cutPower(server, outage::begins);
          outage.ends();
        });
  }

  /** Deletes all rows of all tables, in one transaction. */
  static void deleteRows(String jdbcUrl) {
    long start = System.nanoTime();
    while (true) {
      try (Connection connection = DriverManager.getConnection(jdbcUrl);
          Statement statement = connection.createStatement()) {
        connection.setAutoCommit(false);
        for (String table : TABLES) {
          statement.executeUpdate("DELETE FROM mortise_" + table);
        }
        connection.commit();
        return;
      } catch (SQLException e) {
        // A deadlock, or a busy file: others write concurrently.
        if (System.nanoTime() - start > RETRY_TIMEOUT.toNanos()) {
          throw new IllegalStateException("The rows cannot be deleted: " + e.getMessage(), e);
        }
        LockSupport.parkNanos(ThreadLocalRandom.current().nextLong(LONGEST_PAUSE.toNanos()));
      }
    }
  }

  /** Executes a statement as administrator. */
  static void execute(String jdbcUrl, String sql) {
    try (Connection connection = DriverManager.getConnection(jdbcUrl);
        Statement statement = connection.createStatement()) {
      statement.execute(sql);
    } catch (SQLException e) {
      throw new IllegalStateException("Failed: " + sql, e);
    }
  }
}
