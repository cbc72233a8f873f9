package io.mortise.shedlock;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.mortise.Lease;
import io.mortise.LockClient;
import io.mortise.LockOptions;
import io.mortise.StoreUnavailableException;
import java.time.Duration;
import java.util.Optional;
import net.javacrumbs.shedlock.core.ClockProvider;
import net.javacrumbs.shedlock.core.LockConfiguration;
import net.javacrumbs.shedlock.core.LockProvider;
import net.javacrumbs.shedlock.core.SimpleLock;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

/** The lock of another provider around ours; the other is one of ours on a store of its own. */
class AlsoHoldingTest {
  private static final Duration HOUR = Duration.ofHours(1);

  private final LockClient oldClient = LockClient.connect("mem:old");
  private final LockClient newClient = LockClient.connect("mem:new");
  private final MortiseLockProvider old = MortiseLockProvider.over(oldClient);
  private final MortiseLockProvider both = MortiseLockProvider.over(newClient).alsoHolding(old);

  @AfterEach
  void close() {
    newClient.close();
    oldClient.close();
  }

  private static LockConfiguration job() {
    return new LockConfiguration(ClockProvider.now(), "job", HOUR, Duration.ZERO);
  }

  @Test
  void givenBoth_whenTheJobRuns_thenOldAndNewProcessesAreRefused_untilItEnds() {
    SimpleLock lock = both.lock(job()).orElseThrow();
    assertThat(old.lock(job())).isEmpty();
    assertThat(newClient.lock("job").tryAcquire()).isEmpty();
    assertThat(both.currentLease()).isPresent();
    lock.unlock();
    old.lock(job()).orElseThrow().unlock();
    newClient.lock("job").tryAcquire().orElseThrow().close();
  }

  @Test
  void givenNewHolder_whenBothAreWanted_thenTheOldLockIsFreeAgain() {
    Lease lease = newClient.lock("job").tryAcquire().orElseThrow();
    assertThat(both.lock(job())).isEmpty();
    old.lock(job()).orElseThrow().unlock();
    lease.close();
  }

  @Test
  void givenOldHolder_whenBothAreWanted_thenTheNewLockIsNotAskedFor() {
    SimpleLock held = old.lock(job()).orElseThrow();
    assertThat(both.lock(job())).isEmpty();
    newClient.lock("job").tryAcquire().orElseThrow().close();
    held.unlock();
  }

  @Test
  void givenFailureOfTheNewStore_thenTheOldLockIsFreeAgain() {
    LockProvider failing =
        configuration -> {
          throw new StoreUnavailableException("Silent.");
        };
    assertThatThrownBy(() -> NestedSimpleLock.lock(old, failing, job()))
        .isInstanceOf(StoreUnavailableException.class);
    old.lock(job()).orElseThrow().unlock();
  }

  @Test
  void givenExtension_thenBothAreExtended_andWhatWasExtendedAloneIsUnlocked() {
    SimpleLock extended = both.lock(job()).orElseThrow().extend(HOUR, Duration.ZERO).orElseThrow();
    assertThat(old.lock(job())).isEmpty();
    extended.unlock();
    old.lock(job()).orElseThrow().unlock();

    SimpleLock half =
        NestedSimpleLock.lock(old, configuration -> Optional.of(() -> {}), job()).orElseThrow();
    assertThatThrownBy(() -> half.extend(HOUR, Duration.ZERO))
        .isInstanceOf(UnsupportedOperationException.class);
    half.unlock();
    old.lock(job()).orElseThrow().unlock();
  }

  @Test
  void givenOuterLocks_whenTheJobHasNoAnnotation_thenTheyAreExtendedAndReleased() {
    try (LockClient client =
        LockClient.builder()
            .url("mem:third")
            .ttl(Duration.ofSeconds(3))
            .alsoHolding(ShedLockOuterLocks.of(old, HOUR))
            .build()) {
      Lease lease = client.lock("job").tryAcquire().orElseThrow();
      assertThat(old.lock(job())).isEmpty();
      lease.close();
      old.lock(job()).orElseThrow().unlock();
    }
    assertThatThrownBy(() -> ShedLockOuterLocks.of(old, Duration.ofMillis(10)))
        .isInstanceOf(IllegalArgumentException.class);
  }

  @Test
  void givenAtLeastTime_whenTheClientIsClosed_thenTheOldLockStaysShutForTheRest() throws Exception {
    try (LockClient client =
        LockClient.builder()
            .url("mem:third")
            .alsoHolding(ShedLockOuterLocks.of(old, Duration.ofSeconds(2)))
            .build()) {
      client.lock("job", LockOptions.DEFAULTS.withAtLeast(HOUR)).acquire().close();
    }
    assertThat(old.lock(job())).isEmpty();
  }
}
