package io.mortise.field;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.mortise.DistributedSemaphore;
import io.mortise.Lease;
import io.mortise.LockClient;
import io.mortise.LockTimeoutException;
import io.mortise.testkit.BoundedWait;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Random;
import java.util.concurrent.CompletableFuture;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.EnumSource;

/** Waits that other libraries forgot, let end too late, or could not end. */
@Tag("long")
class WaitTest {
  private static final int ROUNDS = 30;

  @ParameterizedTest
  @EnumSource(FieldStore.class)
  @Report({
    "redisson/redisson#5070",
    "redisson/redisson#763",
    "redisson/redisson#3891",
  })
  void givenReleaseAtAnyMomentOfAnAcquire_thenTheWaiterIsCalled(FieldStore store) {
    String url = store.newUrl();
    Random random = new Random(store.name().hashCode());
    try (LockClient one = LockClient.connect(url);
        LockClient other = LockClient.connect(url)) {
      Lease held = one.lock("x").tryAcquire().orElseThrow();
      for (int i = 0; i < ROUNDS; i++) {
        LockClient next = i % 2 == 0 ? other : one;
        CompletableFuture<Lease> waiting = next.lock("x").acquireAsync();
        BoundedWait.pass(Duration.ofNanos(random.nextInt(2_000_000)));
        held.releaseAsync().join();
        held = BoundedWait.join(waiting);
        assertThat(held.isValid()).isTrue();
      }
      held.close();
    }
  }

  @ParameterizedTest
  @EnumSource(names = {"REDIS", "POSTGRESQL", "ZOOKEEPER", "ETCD", "NATS"})
  @Report({
    "etcd-io/etcd#9921",
    "etcd-io/jetcd#291",
    "mike-marcacci/node-redlock#296",
  })
  void givenWaitThatIsLongerThanTheTtl_whenItIsGranted_thenTheLeaseIsWhole(FieldStore store) {
    Duration ttl = Duration.ofSeconds(2);
    String url = store.newUrl();
    try (LockClient holder = LockClient.connect(url);
        LockClient client = LockClient.builder().url(url).ttl(ttl).build()) {
      Lease held = holder.lock("x").tryAcquire().orElseThrow();
      CompletableFuture<Lease> waiting = client.lock("x").acquireAsync();
      BoundedWait.pass(ttl.plusMillis(500));
      assertThat(waiting).isNotDone();
      held.close();
      Lease granted = BoundedWait.join(waiting);
      granted.ensureValid();
      assertThat(granted.token()).isGreaterThan(0);
      BoundedWait.pass(ttl.plusMillis(500));
      granted.ensureValid();
      granted.close();
    }
  }

  @ParameterizedTest
  @EnumSource(names = {"REDIS", "POSTGRESQL", "H2", "ZOOKEEPER", "ETCD"})
  @Report({"redisson/redisson#4796", "kraison/vivace-graph#76"})
  void givenTwoReadersThatBothWantToWrite_thenBothWaitsEndInTime(FieldStore store)
      throws InterruptedException {
    String url = store.newUrl();
    try (LockClient one = LockClient.connect(url);
        LockClient other = LockClient.connect(url)) {
      List<CompletableFuture<Throwable>> upgrades = new ArrayList<>();
      List<Lease> readers = new ArrayList<>();
      for (LockClient client : List.of(one, other)) {
        readers.add(client.readWriteLock("x").readLock().acquire());
      }
      for (LockClient client : List.of(one, other)) {
        upgrades.add(
            client
                .readWriteLock("x")
                .writeLock()
                .acquireAsync(Duration.ofSeconds(1))
                .handle((lease, failure) -> failure));
      }
      for (CompletableFuture<Throwable> upgrade : upgrades) {
        assertThat(BoundedWait.join(upgrade)).isInstanceOf(LockTimeoutException.class);
      }
      readers.forEach(Lease::close);
      assertThat(one.readWriteLock("x").writeLock().tryAcquire(Trial.LONG)).isPresent();
    }
  }

  @ParameterizedTest
  @CsvSource({
    "REDIS, ''",
    "POSTGRESQL, ''",
    "H2, ''",
    "ETCD, ''",
    "ZOOKEEPER, ''",
    "ZOOKEEPER, curator"
  })
  @Report({"apache/curator#1112", "apache/curator#982", "redisson/redisson#2045"})
  void givenThreadsThatAreInterruptedWhileTheyTakePermits_thenAllPermitsComeBack(
      FieldStore store, String layout) throws InterruptedException {
    String url =
        layout.isEmpty()
            ? store.newUrl()
            : store.shared().url().replace("zk:", "zk+curator:") + "?base=/permits";
    try (LockClient client = LockClient.connect(url)) {
      DistributedSemaphore semaphore = client.semaphore("x", 3);
      List<Thread> threads =
          IntStream.range(0, 20)
              .mapToObj(
                  i ->
                      new Thread(
                          () -> {
                            try {
                              semaphore.permits(1 + i % 3).acquire().close();
                            } catch (InterruptedException e) {
                              Thread.currentThread().interrupt();
                            }
                          }))
              .toList();
      threads.forEach(Thread::start);
      BoundedWait.until(
          Trial.LONG,
          "all threads end",
          () -> {
            threads.stream().skip(4).forEach(Thread::interrupt);
            return threads.stream().noneMatch(Thread::isAlive);
          });
      try (Lease all = semaphore.permits(3).acquireWithin(Trial.LONG)) {
        assertThat(all.isValid()).isTrue();
        assertThatThrownBy(() -> semaphore.permits(1).acquireWithin(Duration.ofMillis(10)))
            .isInstanceOf(LockTimeoutException.class);
      }
    }
  }
}
