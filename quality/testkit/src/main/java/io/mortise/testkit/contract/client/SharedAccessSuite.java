package io.mortise.testkit.contract.client;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.mortise.DistributedLock;
import io.mortise.DistributedReadWriteLock;
import io.mortise.DistributedSemaphore;
import io.mortise.GroupLease;
import io.mortise.Lease;
import io.mortise.LockException;
import io.mortise.LockGroup;
import io.mortise.LockTimeoutException;
import io.mortise.UnsupportedByStoreException;
import io.mortise.spi.Capability;
import io.mortise.testkit.BoundedWait;
import io.mortise.testkit.StoreLink;
import io.mortise.testkit.StoreUnderTest;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.Future;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.locks.ReadWriteLock;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/** Readers and writers, permits, and several locks at once. */
@SuppressWarnings("LockNotBeforeTry") // a test that fails closes the client
class SharedAccessSuite extends ClientSuite {
  SharedAccessSuite(StoreUnderTest under) {
    super(under);
  }

  private static DistributedReadWriteLock of(Peer process) {
    return process.client().readWriteLock(LOCK);
  }

  @Test
  @Tag("exclusion")
  void givenReadersOfTwoProcesses_thenTheyShare_andAWriterWaitsForAll() throws Exception {
    needs(Capability.SHARED);
    Peer a = peer("a");
    Peer b = peer("b");
    Lease first = of(a).readLock().acquire();
    Lease second = of(b).readLock().acquire();
    Lease third = get(start(() -> of(a).readLock().acquire()));
    assertThat(of(b).writeLock().tryAcquire()).isEmpty();
    assertThat(b.lock().tryAcquire()).as("the plain lock is the write side").isEmpty();
    Future<Lease> writer = acquiring(of(b).writeLock());
    first.close();
    third.close();
    BoundedWait.pass(Duration.ofMillis(50));
    assertThat(writer).isNotDone();
    assertThat(second.isValid()).isTrue();
    second.close();
    Lease writing = get(writer);
    assertThat(of(a).readLock().tryAcquire()).isEmpty();
    writing.close();
    assertNothingLeft(LOCK);
  }

  @Test
  void givenWaitingWriter_thenReadersThatComeLaterWaitBehindIt_andWakeTogether() throws Exception {
    needs(Capability.SHARED, Capability.QUEUE);
    Peer a = peer("a");
    Peer b = peer("b");
    Peer c = peer("c");
    Lease reader = of(a).readLock().acquire();
    Future<Lease> writer = acquiring(of(b).writeLock());
    awaitWaiters(LOCK, 1);
    assertThat(of(c).readLock().tryAcquire()).isEmpty();
    Future<Lease> later = acquiring(of(c).readLock());
    Future<Lease> latest = acquiring(of(a).readLock());
    BoundedWait.until(LONG, "both wait in the store", () -> waiters(LOCK).size() >= 3);
    reader.close();
    Lease writing = get(writer);
    assertThat(later).isNotDone();
    assertThat(latest).isNotDone();
    writing.close();
    Lease one = get(later);
    Lease two = get(latest);
    assertThat(one.isValid() && two.isValid()).isTrue();
    one.close();
    two.close();
    assertNothingLeft(LOCK);
  }

  @Test
  void givenWriter_whenItDowngrades_thenWaitingReadersEnterThen_andItKeepsItsToken()
      throws Exception {
    needs(Capability.SHARED, Capability.QUEUE, Capability.DOWNGRADE);
    Peer a = peer("a");
    Peer b = peer("b");
    Lease writer = of(a).writeLock().acquire();
    long token = can(Capability.TOKEN) ? writer.token() : 0;
    Future<Lease> reader = acquiring(of(b).readLock());
    awaitWaiters(LOCK, 1);
    writer.downgrade();
    Lease reading = get(reader);
    assertThat(writer.isValid()).isTrue();
    if (can(Capability.TOKEN)) {
      assertThat(writer.token()).isEqualTo(token);
    }
    writer.downgrade();
    assertThat(of(b).writeLock().tryAcquire()).isEmpty();
    writer.close();
    reading.close();
    assertNothingLeft(LOCK);
  }

  @Test
  void givenHoldThatOthersMayShare_thenItHasNoFencingToken() throws Exception {
    needs(Capability.SHARED, Capability.DOWNGRADE, Capability.PERMITS, Capability.TOKEN);
    Peer a = peer("a");
    try (Lease writer = of(a).writeLock().acquire()) {
      assertThat(writer.fencingToken().value()).isEqualTo(writer.token());
      writer.downgrade();
      assertThatThrownBy(writer::fencingToken).isInstanceOf(IllegalStateException.class);
    }
    try (Lease reader = of(a).readLock().acquire()) {
      assertThatThrownBy(reader::fencingToken).isInstanceOf(IllegalStateException.class);
    }
    try (Lease permits = a.client().semaphore("all three", 3).permits(3).acquire()) {
      assertThatThrownBy(permits::fencingToken).isInstanceOf(IllegalStateException.class);
    }
  }

  @Test
  void givenJavaView_thenAWriterMayReadAndThenLetGoOfWriting_butAReaderCannotWrite() {
    needs(Capability.SHARED, Capability.DOWNGRADE);
    Peer a = peer("a");
    Peer b = peer("b");
    ReadWriteLock lock = of(a).asJavaReadWriteLock();
    lock.writeLock().lock();
    lock.readLock().lock();
    assertThat(of(b).readLock().tryAcquire()).isEmpty();
    lock.writeLock().unlock();
    BoundedWait.until(LONG, "readers enter", () -> isFree(of(b).readLock()));
    assertThat(of(b).writeLock().tryAcquire()).isEmpty();
    assertThatThrownBy(() -> lock.writeLock().lock())
        .isInstanceOf(IllegalMonitorStateException.class);
    assertThatThrownBy(() -> lock.writeLock().unlock())
        .isInstanceOf(IllegalMonitorStateException.class);
    lock.readLock().unlock();
    assertThatThrownBy(() -> lock.readLock().unlock())
        .isInstanceOf(IllegalMonitorStateException.class);
    awaitFree(of(b).writeLock());
    assertNothingLeft(LOCK);
  }

  @Test
  void givenJavaView_whenAWriteLockCannotBeNarrowed_thenItStaysExclusive_andUnlockSucceeds() {
    needs(Capability.SHARED);
    Peer a = peer("a");
    Peer b = peer("b");
    ReadWriteLock lock = of(a).asJavaReadWriteLock();
    lock.writeLock().lock();
    lock.readLock().lock();
    a.link().set(StoreLink.LinkState.REFUSING);
    lock.writeLock().unlock();
    a.link().set(StoreLink.LinkState.UP);
    if (!can(Capability.DOWNGRADE)) {
      assertThat(of(b).readLock().tryAcquire()).isEmpty();
    }
    lock.readLock().unlock();
    awaitFree(of(b).writeLock());
    assertNothingLeft(LOCK);
  }

  @Test
  void givenJavaView_thenEachModeCountsItsOwnReentries() {
    needs(Capability.SHARED);
    Peer a = peer("a");
    Peer b = peer("b");
    ReadWriteLock lock = of(a).asJavaReadWriteLock();
    lock.readLock().lock();
    lock.readLock().lock();
    lock.readLock().unlock();
    assertThat(of(b).writeLock().tryAcquire()).isEmpty();
    lock.readLock().unlock();
    awaitFree(of(b).writeLock());
    lock.writeLock().lock();
    lock.writeLock().lock();
    lock.writeLock().unlock();
    assertThat(of(b).readLock().tryAcquire()).isEmpty();
    lock.writeLock().unlock();
    awaitFree(of(b).writeLock());
  }

  @Test
  void givenStoreWithoutReadersOrPermits_thenItIsSaid() {
    Peer a = peer("a");
    if (!can(Capability.SHARED)) {
      assertThatThrownBy(() -> of(a).readLock().tryAcquire())
          .isInstanceOf(UnsupportedByStoreException.class);
    }
    if (!can(Capability.PERMITS)) {
      assertThatThrownBy(() -> a.client().semaphore(LOCK, 3).permit().tryAcquire())
          .isInstanceOf(UnsupportedByStoreException.class);
    }
    assertThat(holders(LOCK)).isEmpty();
  }

  @Test
  @Tag("exclusion")
  void givenPermits_thenNeverMoreAreHeldThanThereAre_andSeveralAreTakenTogetherOrNotAtAll()
      throws Exception {
    needs(Capability.PERMITS);
    DistributedSemaphore a = peer("a").client().semaphore(LOCK, 3);
    DistributedSemaphore b = peer("b").client().semaphore(LOCK, 3);
    assertThat(a.permits()).isEqualTo(3);
    Lease two = a.permits(2).acquire();
    assertThat(b.permits(2).tryAcquire()).isEmpty();
    Lease one = b.permit().tryAcquire().orElseThrow();
    assertThat(a.permit().tryAcquire()).isEmpty();
    Future<Lease> waiting = acquiring(b.permits(2));
    two.close();
    Lease again = get(waiting);
    assertThat(a.permit().tryAcquire()).isEmpty();
    again.close();
    one.close();
    assertNothingLeft(LOCK);
  }

  @Test
  void givenSemaphore_whenAnotherNumberOfPermitsIsUsed_thenItIsRefused() throws Exception {
    needs(Capability.PERMITS);
    Peer a = peer("a");
    Lease lease = a.client().semaphore(LOCK, 3).permit().acquire();
    assertThatThrownBy(() -> a.client().semaphore(LOCK, 4).permit().acquire())
        .isInstanceOf(LockException.class)
        .hasMessageContaining("3 permits");
    assertThatThrownBy(() -> a.lock().tryAcquire()).isInstanceOf(LockException.class);
    assertThat(holders(LOCK)).hasSize(1);
    lease.close();
  }

  @Test
  void givenGroup_thenAllAreHeldOrNone() throws Exception {
    Peer a = peer("a");
    Peer b = peer("b");
    LockGroup group = a.client().allOf("z", "x", "y");
    GroupLease all = group.acquire();
    assertThat(all.leases()).extracting(Lease::name).containsExactly("x", "y", "z");
    assertThat(all.isValid()).isTrue();
    assertThat(all.lease("y").isValid()).isTrue();
    assertThat(all.remaining()).isPositive();
    assertThatThrownBy(() -> all.lease("w")).isInstanceOf(IllegalArgumentException.class);
    for (String name : List.of("x", "y", "z")) {
      assertThat(b.client().lock(name).tryAcquire()).isEmpty();
    }
    all.close();
    assertNothingLeft("x", "y", "z");

    Lease other = b.client().lock("y").acquire();
    assertThat(group.tryAcquire()).isEmpty();
    assertThatThrownBy(() -> group.acquireWithin(BRIEF)).isInstanceOf(LockTimeoutException.class);
    assertNothingLeft("x", "z");
    other.close();
    assertThatThrownBy(() -> a.client().allOf()).isInstanceOf(IllegalArgumentException.class);
    assertThatThrownBy(() -> a.client().allOf("x", "x"))
        .isInstanceOf(IllegalArgumentException.class);
  }

  @Test
  void givenGroup_whenItIsAcquiredWithoutBlocking_thenAllAreHeldOrNone() throws Exception {
    Peer a = peer("a");
    Peer b = peer("b");
    LockGroup group = a.client().allOf("z", "x", "y");
    GroupLease all = get(group.acquireAsync());
    assertThat(all.isValid()).isTrue();
    assertThat(b.client().lock("z").tryAcquire()).isEmpty();
    get(all.releaseAsync());
    assertNothingLeft("x", "y", "z");
    List<String> seen = new ArrayList<>();
    get(
        group.withLocksAsync(
            held -> {
              held.leases().forEach(lease -> seen.add(lease.name()));
              return CompletableFuture.completedFuture(true);
            }));
    assertThat(seen).containsExactly("x", "y", "z");
    assertNothingLeft("x", "y", "z");

    Lease other = b.client().lock("y").acquire();
    assertThat(failure(group.acquireAsync(BRIEF))).isInstanceOf(LockTimeoutException.class);
    assertNothingLeft("x", "z");
    CompletableFuture<GroupLease> cancelled = group.acquireAsync();
    BoundedWait.until(LONG, "x was taken", () -> holders("x").size() == 1);
    assertThat(cancelled.cancel(true)).isTrue();
    assertNothingLeft("x", "z");
    other.close();
    assertThat(a.client().lock("y").acquireWithin(LONG)).satisfies(Lease::close);
    assertNothingLeft("x", "y", "z");
  }

  @Test
  void givenGroupThatWaits_thenItHoldsWhatLiesBefore_andNothingBehind() throws Exception {
    Peer a = peer("a");
    Peer b = peer("b");
    LockGroup group = a.client().allOf("z", "x", "y");
    Lease held = b.client().lock("y").acquire();
    Future<GroupLease> waits = start(group::acquire);
    CompletableFuture<GroupLease> cancelled = group.acquireAsync();
    BoundedWait.until(LONG, "x was taken", () -> holders("x").size() == 1);
    Lease behind = b.client().lock("z").acquireWithin(LONG);
    cancelled.cancel(true);
    held.close();
    BoundedWait.until(LONG, "y was taken", () -> holders("y").size() == 1);
    assertThat(b.client().lock("x").tryAcquire()).isEmpty();
    behind.close();
    GroupLease all = get(waits);
    assertThat(all.leases()).extracting(Lease::name).containsExactly("x", "y", "z");
    all.close();
    assertNothingLeft("x", "y", "z");
  }

  @Test
  void givenTask_thenItRunsUnderAllLocksOfAGroup() throws Exception {
    Peer a = peer("a");
    Peer b = peer("b");
    LockGroup group = a.client().allOf("x", "y");
    DistributedLock one = b.client().lock("y");
    assertThat(group.<Boolean, RuntimeException>withLocks(() -> one.tryAcquire().isEmpty()))
        .isTrue();
    group.withLocks(LONG, () -> assertThat(one.tryAcquire()).isEmpty());
    assertThat(group.tryWithLocks(() -> assertThat(one.tryAcquire()).isEmpty())).isTrue();
    try (Lease held = one.acquire()) {
      assertThat(group.tryWithLocks(() -> assertThat(held).isNull())).isFalse();
      assertThatThrownBy(() -> group.withLocks(BRIEF, () -> assertThat(held).isNull()))
          .isInstanceOf(LockTimeoutException.class);
    }
    assertNothingLeft("x", "y");
  }

  @Test
  void givenTenContendersForTheSameLocksInAnyOrder_thenExactlyOneWinsAtATime() throws Exception {
    Peer a = peer("a");
    Peer b = peer("b");
    AtomicInteger inside = new AtomicInteger();
    AtomicInteger most = new AtomicInteger();
    List<Future<?>> contenders = new ArrayList<>();
    for (int i = 0; i < 10; i++) {
      List<String> names = new ArrayList<>(List.of("x", "y", "z"));
      Collections.rotate(names, i);
      LockGroup group = (i % 2 == 0 ? a : b).client().allOf(names.toArray(new String[0]));
      contenders.add(
          start(
              () -> {
                GroupLease all = group.acquireWithin(LONG);
                most.accumulateAndGet(inside.incrementAndGet(), Math::max);
                BoundedWait.pass(Duration.ofMillis(5));
                inside.decrementAndGet();
                all.close();
                return true;
              }));
    }
    contenders.forEach(ClientSuite::get);
    assertThat(most.get()).isEqualTo(1);
    assertNothingLeft("x", "y", "z");
  }
}
