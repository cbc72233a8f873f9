package io.mortise.field;

import static org.assertj.core.api.Assertions.assertThat;

import io.mortise.JavaLock;
import io.mortise.Lease;
import io.mortise.LockClient;
import io.mortise.LockException;
import io.mortise.testkit.BoundedWait;
import io.mortise.testkit.server.FaultInjectionProxy;
import io.mortise.testkit.server.LocalServer;
import io.mortise.verification.log.RecordedLog;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.locks.Lock;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/** Locks that belong to threads. */
@Tag("long")
@SuppressWarnings("LockNotBeforeTry") // The tests are about locks released wrongly, or not at all.
class JavaLockTest {

  private static void lockAndEnd(Lock lock) throws InterruptedException {
    Thread thread = new Thread(lock::lock, "forgetful");
    thread.start();
    thread.join();
  }

  @ParameterizedTest
  @EnumSource(names = {"REDIS", "H2", "ZOOKEEPER"})
  @Report({
    "redisson/redisson#3521",
    "redisson/redisson#2590",
    "redisson/redisson#6198",
  })
  void givenThreadThatEndsWithoutUnlocking_thenItIsLogged_thoughTheLockIsKept(FieldStore store)
      throws InterruptedException {
    for (boolean shared : new boolean[] {false, true}) {
      try (LockClient client = LockClient.connect(store.newUrl())) {
        String name = "forgotten-" + store + "-" + shared;
        Lock lock =
            shared
                ? client.readWriteLock(name).asJavaReadWriteLock().readLock()
                : client.lock(name).asJavaLock();
        lockAndEnd(lock);
        BoundedWait.until(
            Trial.LONG,
            "the log tells of the thread",
            () -> {
              System.gc();
              return RecordedLog.linesWith("Thread 'forgetful' has ended").stream()
                  .anyMatch(line -> line.contains(name));
            });
        assertThat(client.admin().find(name).orElseThrow().holders()).hasSize(1);
        assertThat(lock.toString()).contains(name);
      }
    }
  }

  @Test
  void givenThreadThatUnlocks_whenItEnds_thenNothingIsLogged() throws InterruptedException {
    try (LockClient client = LockClient.connect(FieldStore.REDIS.newUrl())) {
      JavaLock lock = client.lock("remembered").asJavaLock();
      Thread thread =
          new Thread(
              () -> {
                lock.lock();
                lock.lock();
                lock.unlock();
                lock.unlock();
              },
              "mindful");
      thread.start();
      thread.join();
      try (LockClient other = LockClient.connect(FieldStore.REDIS.newUrl())) {
        JavaLock control = other.lock("control").asJavaLock();
        lockAndEnd(control);
        BoundedWait.until(
            Trial.LONG,
            "the log tells of the other thread",
            () -> {
              System.gc();
              return !RecordedLog.linesWith("'control'").isEmpty();
            });
        assertThat(control.isLocked()).isTrue();
      }
      assertThat(RecordedLog.linesWith("remembered")).isEmpty();
    }
  }

  @ParameterizedTest
  @EnumSource(names = {"REDIS", "POSTGRESQL", "ETCD"})
  @Report("redisson/redisson#6144")
  void givenUnlockThatTheStoreDoesNotHear_thenTheThreadHoldsNothing_andItsNextHoldIsNew(
      FieldStore store) {
    LocalServer server = store.shared();
    String direct = store.newUrl(server);
    try (FaultInjectionProxy proxy = FaultInjectionProxy.to(server.port());
        LockClient client = LockClient.connect(FieldStore.through(proxy, server, direct));
        LockClient other = LockClient.connect(direct)) {
      JavaLock lock = client.lock("x").asJavaLock();
      lock.lock();
      long token = lock.lease().orElseThrow().token();
      proxy.cut();
      try {
        lock.unlock();
      } catch (LockException | IllegalMonitorStateException e) {
        // It may report the outage.
      }
      assertThat(lock.getHoldCount()).isZero();
      proxy.lead(server.port());
      CompletableFuture<Lease> next = other.lock("x").acquireAsync();
      BoundedWait.join(next).close();
      BoundedWait.until(Trial.LONG, "the thread may lock again", lock::tryLock);
      assertThat(lock.getHoldCount()).isOne();
      assertThat(lock.lease().orElseThrow().token()).isGreaterThan(token);
      lock.unlock();
    }
  }
}
