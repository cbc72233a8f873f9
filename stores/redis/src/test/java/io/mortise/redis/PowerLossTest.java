package io.mortise.redis;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.awaitility.Awaitility.await;

import io.mortise.Lease;
import io.mortise.LeaseLostException;
import io.mortise.LockClient;
import io.mortise.LockException;
import io.mortise.testkit.server.LossyDisk;
import io.mortise.testserver.RedisServer;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.ConcurrentLinkedQueue;
import org.junit.jupiter.api.Assumptions;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;
import org.junit.jupiter.params.provider.EnumSource.Mode;

/** A server that after a power cut finds only the fsynced data on its disk. */
class PowerLossTest {
  private static final Duration TTL = Duration.ofSeconds(20);
  private static final Duration LONG = Duration.ofSeconds(40);

  private enum Setting {
    ALWAYS("yes", "always", ""),
    ALWAYS_AND_STRICT("yes", "always", "?strict-expiry=true"),
    /** As {@code everysec}, between two fsyncs. */
    NO("yes", "no", ""),
    SNAPSHOTS("no", "no", "");

    private final String log;
    private final String fsync;
    private final String parameters;

    Setting(String log, String fsync, String parameters) {
      this.log = log;
      this.fsync = fsync;
      this.parameters = parameters;
    }

    RedisServer start(LossyDisk disk) {
      List<String> arguments = new ArrayList<>(List.of("--appendonly", log));
      arguments.addAll(List.of("--appendfsync", fsync, "--dir", disk.folder().toString()));
      return RedisServers.any(arguments.toArray(String[]::new));
    }

    LockClient client(RedisServer server) {
      return LockClient.builder().url(server.url() + parameters).ttl(TTL).build();
    }
  }

  /** One lock that is on the disk, and one taken just now. */
  private static void afterPowerCut(Setting setting, SurvivalCheck survivalCheck) throws Exception {
    Optional<LossyDisk> mounted = LossyDisk.mount();
    Assumptions.assumeTrue(mounted.isPresent(), "SKIPPED: it needs root that may mount a disk.");
    try (LossyDisk disk = mounted.orElseThrow();
        RedisServer server = setting.start(disk);
        LockClient holder = setting.client(server);
        LockClient other = setting.client(server)) {
      Lease early = holder.lock("early").acquireWithin(LONG);
      other.lock("warm").acquireWithin(LONG).close();
      if (setting == Setting.SNAPSHOTS) {
        server.ask("SAVE");
      }
      disk.settle();
      Lease late = holder.lock("late").acquireWithin(LONG);
      long token = late.token();
      disk.cutPower(server, () -> {});
      survivalCheck.run(other, early, late, token);
    }
  }

  @FunctionalInterface
  private interface SurvivalCheck {
    void run(LockClient other, Lease early, Lease late, long token) throws Exception;
  }

  @ParameterizedTest
  @EnumSource(names = "ALWAYS.*", mode = Mode.MATCH_ALL)
  void givenLogThatIsForced_whenThePowerFails_thenLeasesAreConfirmed_andNobodyElseIsGranted(
      Setting setting) throws Exception {
    afterPowerCut(
        setting,
        (other, early, late, token) -> {
          ConcurrentLinkedQueue<LeaseLostException> lost = losses(early, late);
          for (Lease lease : List.of(early, late)) {
            await().atMost(LONG).until(lease::isValid);
          }
          assertThat(tryAgain(other, "late", Duration.ZERO)).isEmpty();
          late.close();
          early.close();
          assertThat(lost).isEmpty();
          try (Lease next = other.lock("late").acquireWithin(LONG)) {
            assertThat(next.token()).isGreaterThan(token);
          }
        });
  }

  @ParameterizedTest
  @EnumSource(names = "ALWAYS.*", mode = Mode.MATCH_NONE)
  void givenGrantThatIsNotOnTheDisk_whenThePowerFails_thenItIsGivenAgain_andItsHolderIsTold(
      Setting setting) throws Exception {
    afterPowerCut(
        setting,
        (other, early, late, token) -> {
          try (Lease next = tryAgain(other, "late", LONG).orElseThrow()) {
            assertThat(next.token()).isGreaterThan(token);
          }
          await().atMost(LONG).until(() -> late.state() == Lease.State.LOST);
          assertThatThrownBy(late::close).isInstanceOf(LeaseLostException.class);
          await().atMost(LONG).until(early::isValid);
          early.close();
        });
  }

  private static ConcurrentLinkedQueue<LeaseLostException> losses(Lease... leases) {
    ConcurrentLinkedQueue<LeaseLostException> losses = new ConcurrentLinkedQueue<>();
    for (Lease lease : leases) {
      lease.onLost(losses::add);
    }
    return losses;
  }

  /** The server may still be starting. */
  private static Optional<Lease> tryAgain(LockClient client, String lock, Duration within) {
    return await()
        .atMost(LONG)
        .ignoreExceptionsInstanceOf(LockException.class)
        .until(() -> client.lock(lock).tryAcquire(within), answer -> true);
  }
}
