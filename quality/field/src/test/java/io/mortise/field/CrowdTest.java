package io.mortise.field;

import static org.assertj.core.api.Assertions.assertThat;

import io.mortise.Lease;
import io.mortise.LockClient;
import io.mortise.testkit.BoundedWait;
import io.mortise.testserver.RedisServer;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/** Many waiters, and many contended names. */
@Tag("long")
class CrowdTest {
  private static final int WAITERS = 100;
  private static final int NAMES = 200;

  @ParameterizedTest
  @EnumSource(FieldStore.class)
  @Report({
    "redisson/redisson#2714",
    "apache/curator#600",
    "apache/curator#726",
  })
  void givenWaitersThatAreInterruptedAgainAndAgain_thenNothingOfThemIsLeft(FieldStore store) {
    String url = store.newUrl();
    try (LockClient holder = LockClient.connect(url);
        LockClient client = LockClient.connect(url)) {
      Lease lease = holder.lock("x").tryAcquire().orElseThrow();
      AtomicInteger interrupted = new AtomicInteger();
      List<Thread> waiters = new ArrayList<>();
      for (int i = 0; i < WAITERS; i++) {
        Thread waiter =
            new Thread(
                () -> {
                  try {
                    client.lock("x").acquire().close();
                  } catch (InterruptedException e) {
                    interrupted.incrementAndGet();
                  }
                });
        waiters.add(waiter);
        waiter.start();
        if (i % 2 == 0) {
          waiter.interrupt();
        }
      }
      BoundedWait.until(
          Trial.LONG,
          "all interrupted waiters end",
          () -> {
            waiters.forEach(Thread::interrupt);
            return waiters.stream().noneMatch(Thread::isAlive);
          });
      assertThat(interrupted).hasValue(WAITERS);
      assertThat(lease.isValid()).isTrue();
      lease.close();
      BoundedWait.until(
          Trial.LONG,
          "the lock is free for others",
          () -> holder.lock("x").tryAcquire().isPresent());
      BoundedWait.until(
          Trial.LONG,
          "nobody waits any more",
          () -> holder.admin().find("x").orElseThrow().waiters().isEmpty());
    }
  }

  @ParameterizedTest
  @EnumSource(FieldStore.class)
  @Report({
    "redisson/redisson#3577",
    "redisson/redisson#1847",
    "redisson/redisson#4064",
  })
  void givenManyNamesThatAreWaitedForAtOnce_thenEachIsHandedOver(FieldStore store) {
    String url = store.newUrl();
    try (LockClient holder = LockClient.connect(url);
        LockClient client = LockClient.connect(url)) {
      List<Lease> held = new ArrayList<>();
      List<CompletableFuture<Lease>> waiting = new ArrayList<>();
      for (int i = 0; i < NAMES; i++) {
        held.add(BoundedWait.join(holder.lock("n" + i).acquireAsync()));
      }
      for (int i = 0; i < NAMES; i++) {
        waiting.add(client.lock("n" + i).acquireAsync());
      }
      List<CompletableFuture<Void>> released = held.stream().map(Lease::releaseAsync).toList();
      List<Lease> granted = waiting.stream().map(BoundedWait::join).toList();
      assertThat(granted).allMatch(Lease::isValid);
      released.forEach(BoundedWait::join);
    }
  }

  @Test
  @Report({
    "redisson/redisson#3577",
    "redisson/redisson#1847",
    "redisson/redisson#4064",
  })
  void givenManyNamesThatAreWaitedFor_thenRedisHasOneChannelForEachProcess() {
    RedisServer server = (RedisServer) FieldStore.REDIS.start();
    try (server;
        LockClient holder = LockClient.connect(server.url());
        LockClient client = LockClient.connect(server.url())) {
      List<CompletableFuture<Lease>> waiting = new ArrayList<>();
      for (int i = 0; i < 1000; i++) {
        assertThat(holder.lock("n" + i).tryAcquire()).isPresent();
        waiting.add(client.lock("n" + i).acquireAsync());
      }
      assertThat(server.ask("PUBSUB", "CHANNELS").size()).isLessThanOrEqualTo(4);
      waiting.forEach(wait -> wait.cancel(true));
    }
  }
}
