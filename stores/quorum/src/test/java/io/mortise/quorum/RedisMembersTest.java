package io.mortise.quorum;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.awaitility.Awaitility.await;

import io.mortise.Lease;
import io.mortise.LockClient;
import io.mortise.StoreUnavailableException;
import io.mortise.UnsupportedByStoreException;
import io.mortise.admin.StoreInfo.Feature;
import io.mortise.spi.LockStore;
import io.mortise.spi.StoreReport;
import io.mortise.testkit.BoundedWait;
import io.mortise.testkit.RerunIfPaused;
import java.time.Duration;
import java.util.EnumSet;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.locks.LockSupport;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** Real Redis servers as members that die, pause or forget. */
class RedisMembersTest {
  private static final Duration LONG = Duration.ofSeconds(30);

  /** Longer than a pause of this machine; no test waits for it. */
  private static final String PATIENT = "member-timeout=3s&quarantine=0s";

  private RedisMembers members;

  private LockClient client(String parameters, Duration ttl) {
    return LockClient.builder().url(members.url(parameters)).ttl(ttl).build();
  }

  @AfterEach
  void closeMembers() {
    if (members != null) {
      members.close();
    }
  }

  @Test
  void givenThreeServers_thenOneHolds_tokensRise_readersShare_andPermitsAreRefused()
      throws Exception {
    members = new RedisMembers(3);
    try (LockClient a = client(PATIENT, LONG);
        LockClient b = client(PATIENT, LONG)) {
      assertThat(a.admin().store().features())
          .isEqualTo(
              EnumSet.complementOf(
                  EnumSet.of(Feature.QUEUE, Feature.PERMITS, Feature.DOWNGRADE, Feature.STICKY)));
      long last = 0;
      for (int i = 0; i < 20; i++) {
        LockClient holder = i % 2 == 0 ? a : b;
        LockClient other = i % 2 == 0 ? b : a;
        Lease lease = holder.lock("x").acquireWithin(LONG);
        assertThat(other.lock("x").tryAcquire()).isEmpty();
        assertThat(lease.token()).isGreaterThan(last);
        last = lease.token();
        lease.close();
      }
      Lease reader = a.readWriteLock("rw").readLock().acquireWithin(LONG);
      Lease second = b.readWriteLock("rw").readLock().acquireWithin(LONG);
      assertThat(b.readWriteLock("rw").writeLock().tryAcquire()).isEmpty();
      reader.close();
      second.close();
      assertThatThrownBy(() -> a.semaphore("s", 2).permits(1).tryAcquire())
          .isInstanceOf(UnsupportedByStoreException.class);
      await().atMost(LONG).until(() -> a.admin().find("x").orElseThrow().holders().isEmpty());
      try (LockStore store = members.open(PATIENT)) {
        StoreReport report = BoundedWait.join(store.examine());
        assertThat(report.mode()).isEqualTo("quorum");
        assertThat(report.findings())
            .anySatisfy(
                found -> {
                  assertThat(found.id()).isEqualTo("quarantine");
                  assertThat(found.grade()).isEqualTo(StoreReport.Grade.WEAK);
                });
      }
    }
  }

  @Test
  @RerunIfPaused
  void givenProcessThatReacquiresAtOnce_whenAnotherWaits_thenItGetsTheLockAgainAndAgain()
      throws Exception {
    members = new RedisMembers(3);
    AtomicBoolean over = new AtomicBoolean();
    try (LockClient hog = client(PATIENT, LONG);
        LockClient other = client(PATIENT, LONG)) {
      other.lock("warm").acquireWithin(LONG).close();
      CompletableFuture<Integer> holds =
          CompletableFuture.supplyAsync(() -> hold(hog, Duration.ofMillis(20), over));
      try {
        await().atMost(LONG).until(() -> hog.admin().find("x").isPresent());
        for (int i = 0; i < 20; i++) {
          other.lock("x").acquireWithin(Duration.ofSeconds(10)).close();
        }
      } finally {
        over.set(true);
      }
      assertThat(holds.get(30, TimeUnit.SECONDS)).isGreaterThanOrEqualTo(5);
    }
  }

  /** Takes a lock again and again, without a pause; returns how many times. */
  private static int hold(LockClient client, Duration each, AtomicBoolean over) {
    int holds = 0;
    while (!over.get()) {
      Lease lease = client.lock("x").acquireAsync().join();
      holds++;
      LockSupport.parkNanos(each.toNanos());
      lease.close();
    }
    return holds;
  }

  @ParameterizedTest
  @RerunIfPaused
  @CsvSource({"3, 1", "5, 2"})
  void givenMinorityThatDies_thenLeasesStand_andLocksAreTakenAndGivenBack(int count, int dying)
      throws Exception {
    members = new RedisMembers(count);
    try (LockClient a = client(PATIENT, Duration.ofSeconds(6));
        LockClient b = client(PATIENT, LONG)) {
      Lease held = a.lock("held").acquireWithin(LONG);
      for (int i = 0; i < dying; i++) {
        members.server(i).kill();
      }
      for (int i = 0; i < 10; i++) {
        Lease lease = (i % 2 == 0 ? a : b).lock("x").acquireWithin(LONG);
        assertThat(lease.isValid()).isTrue();
        lease.close();
      }
      // Longer than the TTL: the lease depends on the remaining members.
      await()
          .pollDelay(Duration.ofSeconds(7))
          .atMost(LONG)
          .until(() -> b.lock("held").tryAcquire().isEmpty());
      assertThat(held.isValid()).isTrue();
      held.close();
      b.lock("held").acquireWithin(LONG).close();
    }
  }

  @Test
  void givenMajorityThatDies_thenItIsAnOutage_andTheLeaseIsLostInTime() throws Exception {
    members = new RedisMembers(3);
    try (LockClient a = client(PATIENT, Duration.ofSeconds(4))) {
      Lease lease = a.lock("x").acquireWithin(LONG);
      CompletableFuture<Throwable> told = new CompletableFuture<>();
      lease.onLost(told::complete);
      members.server(0).kill();
      members.server(1).kill();
      assertThatThrownBy(() -> a.lock("y").tryAcquire())
          .isInstanceOf(StoreUnavailableException.class);
      assertThat(told.get(20, TimeUnit.SECONDS)).isNotNull();
      assertThat(lease.isValid()).isFalse();
    }
  }

  @Test
  void givenServersThatStandStill_whenAnAcquireIsNotAnswered_thenNothingIsLeftAfterwards()
      throws Exception {
    members = new RedisMembers(3);
    try (LockClient a = client("member-timeout=1s&quarantine=0s", Duration.ofSeconds(20));
        LockClient b = client(PATIENT, LONG)) {
      a.lock("warm").acquireWithin(LONG).close();
      b.lock("warm").acquireWithin(LONG).close();
      members.server(0).pause();
      members.server(1).pause();
      assertThatThrownBy(() -> a.lock("x").tryAcquire())
          .isInstanceOf(StoreUnavailableException.class);
      members.server(0).resume();
      members.server(1).resume();
      // A request that arrives late there is released, though its client's session lives on.
      b.lock("x").acquireWithin(LONG).close();
    }
  }

  @Test
  @RerunIfPaused
  void givenServersThatWereStartedJustNow_thenTheyHaveNoVoteUntilTheQuarantineIsOver()
      throws Exception {
    members = new RedisMembers(3);
    try (LockClient a = client("member-timeout=2s&quarantine=10s", Duration.ofSeconds(8))) {
      assertThatThrownBy(() -> a.lock("x").tryAcquire())
          .isInstanceOf(StoreUnavailableException.class)
          .hasMessageMatching(
              "(?s).*no vote for \\S+s more \\(started \\S+s ago, quarantine 10s\\).*");
      // A wait that is long enough waits for the end of it.
      a.lock("x").acquireWithin(LONG).close();
    }
  }

  @Test
  @RerunIfPaused
  void givenMemberThatIsDownAtTheStart_thenItJoinsLater() throws Exception {
    members = new RedisMembers(3);
    members.server(0).kill();
    try (LockClient a = client(PATIENT, Duration.ofSeconds(6))) {
      a.lock("x").acquireWithin(LONG).close();
      members.server(0).restart();
      members.server(1).kill();
      Lease lease = a.lock("x").acquireWithin(LONG);
      assertThat(lease.isValid()).isTrue();
      lease.close();
    }
    members.server(0).kill();
    assertThatThrownBy(() -> members.open(PATIENT)).isInstanceOf(StoreUnavailableException.class);
  }
}
