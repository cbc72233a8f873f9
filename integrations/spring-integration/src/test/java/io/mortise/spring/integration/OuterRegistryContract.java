package io.mortise.spring.integration;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.awaitility.Awaitility.await;

import io.mortise.DistributedLock;
import io.mortise.Lease;
import io.mortise.LeaseLostException;
import io.mortise.LockClient;
import io.mortise.OuterLocks;
import io.mortise.event.LeaseEnd;
import java.time.Duration;
import java.util.Map;
import java.util.UUID;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.Lock;
import java.util.function.Supplier;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.springframework.integration.support.locks.RenewableLockRegistry;

/**
 * A client that also holds the locks of one of Spring's registries, as the page
 * from-spring-integration.md tells. The test itself is the process with the old registry alone.
 */
@Timeout(value = 120, threadMode = Timeout.ThreadMode.SEPARATE_THREAD)
@SuppressWarnings("LockNotBeforeTry") // Steps of the tests lie between.
abstract class OuterRegistryContract {
  private static final Duration MINUTE = Duration.ofMinutes(1);
  private static final Duration LONG = Duration.ofSeconds(60);

  private final String url = "mem:outer-" + UUID.randomUUID();
  private LockClient locks;

  /** A registry of a process. Those of the same process are equal owners. */
  abstract Supplier<RenewableLockRegistry<?>> process(Duration timeToLive);

  /** Removes the lock from the server, as the end of its time to live does. */
  abstract void expire(String key);

  /** The end of the lock's time to live, in milliseconds of some epoch. */
  abstract long end(String key);

  @AfterEach
  void closesClient() {
    if (locks != null) {
      locks.close();
    }
  }

  private LockClient alsoHolding(OuterLocks outer) {
    locks = LockClient.builder().url(url).ttl(Duration.ofSeconds(3)).alsoHolding(outer).build();
    return locks;
  }

  /** As on the page. */
  private static OuterLocks renewed(Supplier<RenewableLockRegistry<?>> process) {
    Map<String, RenewableLockRegistry<?>> registries = new ConcurrentHashMap<>();
    return name -> {
      RenewableLockRegistry<?> registry = registries.computeIfAbsent(name, key -> process.get());
      return OuterLocks.checked(
          registry.obtain(name),
          () -> {
            try {
              registry.renewLock(name);
              return true;
            } catch (IllegalStateException lost) {
              return false;
            }
          });
    };
  }

  @Test
  void givenHolderOfEitherLibrary_thenTheOtherIsRefusedUntilTheRelease() throws Exception {
    Lock old = process(MINUTE).get().obtain("a");
    DistributedLock lock = alsoHolding(renewed(process(MINUTE))).lock("a");
    // Any thread may close it, though the registry's lock belongs to one.
    Lease lease = lock.acquireAsync().join();
    assertThat(old.tryLock()).isFalse();
    lease.close();
    assertThat(old.tryLock()).isTrue();
    assertThat(lock.tryAcquire()).isEmpty();
    CompletableFuture<Lease> waiting = lock.acquireAsync(LONG);
    old.unlock();
    waiting.get().close();
    assertThat(old.tryLock()).isTrue();
    old.unlock();
  }

  @Test
  void givenCancelledWait_whenTheOldHolderReleases_thenTheLockIsFree() throws Exception {
    Lock old = process(MINUTE).get().obtain("a");
    CountDownLatch waits = new CountDownLatch(1);
    OuterLocks outer = renewed(process(MINUTE));
    DistributedLock lock =
        alsoHolding(name -> new NotingLock(outer.exclusive(name), waits)).lock("a");
    old.lock();
    CompletableFuture<Lease> waiting = lock.acquireAsync(LONG);
    waits.await();
    waiting.cancel(false);
    locks.close();
    old.unlock();
    assertThat(old.tryLock()).isTrue();
    old.unlock();
  }

  /** Notes that a wait begins. */
  private record NotingLock(Lock theirs, CountDownLatch waits) implements OuterLocks.Checked {
    @Override
    public boolean isHeld() {
      return true;
    }

    @Override
    public boolean tryLock() {
      return theirs.tryLock();
    }

    @Override
    public boolean tryLock(long time, TimeUnit unit) throws InterruptedException {
      waits.countDown();
      return theirs.tryLock(time, unit);
    }

    @Override
    public void unlock() {
      theirs.unlock();
    }
  }

  @Test
  void givenNoRenewal_whenTheTimeToLiveIsOver_thenAnOldProcessGetsTheLockOfAValidLease()
      throws Exception {
    Supplier<RenewableLockRegistry<?>> process = process(Duration.ofMillis(200));
    Lease lease = alsoHolding(name -> process.get().obtain(name)).lock("a").acquire();
    Lock old = process(MINUTE).get().obtain("a");
    await().atMost(LONG).pollInSameThread().until(old::tryLock);
    assertThat(lease.isValid()).isTrue();
    old.unlock();
    lease.close();
  }

  @Test
  void givenRenewal_thenTheTimeToLiveBeginsAnew() throws Exception {
    try (Lease lease = alsoHolding(renewed(process(MINUTE))).lock("a").acquire()) {
      long first = end("a");
      await().atMost(LONG).until(() -> end("a") > first);
      assertThat(lease.isValid()).isTrue();
    }
  }

  @Test
  void givenLossOfTheOldLock_thenTheLeaseIsLost_andTheNextAcquireTakesBothAnew() throws Exception {
    DistributedLock lock = alsoHolding(renewed(process(MINUTE))).lock("a");
    Lease lease = lock.acquire();
    CompletableFuture<LeaseLostException> lost = new CompletableFuture<>();
    lease.onLost(lost::complete);
    expire("a");
    assertThat(lost.get(LONG.toSeconds(), TimeUnit.SECONDS).end()).isEqualTo(LeaseEnd.OUTER_LOST);
    assertThatThrownBy(lease::close).isInstanceOf(LeaseLostException.class);
    Lock old = process(MINUTE).get().obtain("a");
    try (Lease next = lock.acquireWithin(LONG)) {
      assertThat(old.tryLock()).isFalse();
      assertThat(next.isValid()).isTrue();
    }
  }

  /** The registries have 256 local locks, whatever the names. */
  @Test
  void givenOneRegistryForAllNames_whenTwoNamesShareALocalLock_thenTheSecondIsNotGranted()
      throws Exception {
    RenewableLockRegistry<?> registry = process(MINUTE).get();
    LockClient single = alsoHolding(registry::obtain);
    Lease lease = single.lock("a").acquire();
    String twin = "";
    for (int i = 0; twin.isEmpty() && i < 5000; i++) {
      Lock lock = registry.obtain("name-" + i);
      if (lock.tryLock()) {
        lock.unlock();
      } else {
        twin = "name-" + i;
      }
    }
    assertThat(single.lock(twin).tryAcquire()).isEmpty();
    lease.close();
    single.close();
    LockClient apart = alsoHolding(renewed(process(MINUTE)));
    try (Lease first = apart.lock("a").acquire();
        Lease second = apart.lock(twin).tryAcquire().orElseThrow()) {
      assertThat(first.isValid() && second.isValid()).isTrue();
    }
  }
}
