package io.mortise.testkit.contract.client;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.mortise.DistributedLock;
import io.mortise.Lease;
import io.mortise.LockClient;
import io.mortise.LockOptions;
import io.mortise.UnsupportedByStoreException;
import io.mortise.admin.Eviction;
import io.mortise.spi.Capability;
import io.mortise.testkit.BoundedWait;
import io.mortise.testkit.StoreLink;
import io.mortise.testkit.StoreUnderTest;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.Future;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.Assumptions;
import org.junit.jupiter.api.Test;

/** A sticky lock stays with its process exactly until another process wants it. */
class StickySuite extends ClientSuite {
  /** So long that a test that waits for its end fails. */
  private static final LockOptions STICKY =
      LockOptions.DEFAULTS.withSticky(LockOptions.LONGEST_STICKY);

  /** Well below the sticky time, and above any pause of a healthy machine. */
  private static final Duration SOON = Duration.ofSeconds(5);

  StickySuite(StoreUnderTest under) {
    super(under);
  }

  private static DistributedLock sticky(Peer peer) {
    return peer.lock().with(STICKY);
  }

  /** Acquires and releases; returns the token, or 0 in a store without tokens. */
  private long pass(DistributedLock lock) throws InterruptedException {
    try (Lease lease = lock.acquireWithin(LONG)) {
      return can(Capability.TOKEN) ? lease.token() : 0;
    }
  }

  @Test
  void givenNoCallBack_whenAStickyLockIsAcquired_thenItIsRefusedByName() {
    Assumptions.assumeFalse(can(Capability.CALL_BACK));
    Peer peer = peer("a");
    assertThatThrownBy(() -> sticky(peer).acquireWithin(LONG))
        .isInstanceOf(UnsupportedByStoreException.class)
        .hasMessageContaining("CALL_BACK");
    assertThat(isFree(peer.lock())).isTrue();
  }

  @Test
  void givenIdleGrant_whenItIsTakenAgain_thenNothingIsSent_andEachTokenIsGreater()
      throws Exception {
    needs(Capability.CALL_BACK);
    Peer peer = peer("a");
    long last = pass(sticky(peer));
    assertThat(holders(LOCK)).hasSize(1);
    long before = peer.link().requests();
    for (int i = 0; i < 20; i++) {
      long token = pass(sticky(peer));
      if (can(Capability.TOKEN)) {
        assertThat(token).isGreaterThan(last);
      }
      last = token;
    }
    assertThat(peer.link().requests()).isEqualTo(before);
  }

  /** Twice as many retakes as a hold has tokens on ZooKeeper. */
  @Test
  void givenManyRetakes_thenBlocksOfTokensAreReplaced_andTokensRise() throws Exception {
    needs(Capability.CALL_BACK, Capability.TOKEN);
    Peer peer = peer("a");
    long last = 0;
    for (int i = 0; i < 150_000; i++) {
      long token = pass(sticky(peer));
      assertThat(token).isGreaterThan(last);
      last = token;
    }
    long next = pass(peer("b").lock());
    assertThat(next).isGreaterThan(last);
  }

  @Test
  void givenIdleGrant_whenAnotherProcessAcquires_thenItIsCalledBackAtOnce() throws Exception {
    needs(Capability.CALL_BACK);
    Peer a = peer("a");
    Peer b = peer("b");
    long first = pass(sticky(a));
    long begin = System.nanoTime();
    long second = pass(b.lock());
    assertThat(elapsed(begin)).isLessThan(BoundedWait.scaled(SOON));
    if (can(Capability.TOKEN)) {
      assertThat(second).isGreaterThan(first);
    }
    assertNothingLeft(LOCK);
  }

  @Test
  void givenIdleGrant_whenAnotherProcessTries_thenFreeDoesNotLookBusy() throws Exception {
    needs(Capability.CALL_BACK);
    Peer a = peer("a");
    Peer b = peer("b");
    AtomicInteger tries = new AtomicInteger();
    // A pause of the machine beyond the bound may fail one try, but not each.
    BoundedWait.until(
        LONG,
        "a try has a lock whose grant is idle",
        () -> {
          String name = "try/" + tries.incrementAndGet();
          get(start(() -> pass(a.client().lock(name).with(STICKY))));
          return isFree(b.client().lock(name));
        });
    assertThat(tries.get()).isPositive();
  }

  @Test
  void givenStickyLockInUse_whenAnotherProcessTries_thenItIsBusySoon_andHasItAfterTheClose()
      throws Exception {
    needs(Capability.CALL_BACK);
    Peer b = peer("b");
    Lease lease = sticky(peer("a")).acquire();
    long begin = System.nanoTime();
    for (int i = 0; i < 3; i++) {
      assertThat(b.lock().tryAcquire()).isEmpty();
    }
    assertThat(elapsed(begin)).isLessThan(BoundedWait.scaled(SOON));
    BoundedWait.until(LONG, "no try is left in the queue", () -> waiters(LOCK).isEmpty());
    lease.close();
    assertThat(isFree(b.lock())).isTrue();
    assertNothingLeft(LOCK);
  }

  @Test
  void givenGrantThatWasCalledBackUnused_thenTheLockIsNotStickyForAWhile() throws Exception {
    needs(Capability.CALL_BACK);
    Peer a = peer("a");
    pass(sticky(a));
    pass(peer("b").lock());
    pass(sticky(a));
    assertNothingLeft(LOCK);
  }

  @Test
  void givenIdleTimeOver_thenTheStoreHasTheLockAgain() throws Exception {
    needs(Capability.CALL_BACK);
    Peer peer = peer("a");
    pass(peer.lock().with(LockOptions.DEFAULTS.withSticky(Duration.ofMillis(50))));
    assertNothingLeft(LOCK);
    pass(peer.lock());
  }

  @Test
  void givenIdleGrants_whenTheClientCloses_thenAllAreGivenBack() throws Exception {
    needs(Capability.CALL_BACK);
    Peer a = peer("a");
    for (int i = 0; i < 100; i++) {
      pass(a.client().lock("many/" + i).with(STICKY));
    }
    a.client().close();
    Peer b = peer("b");
    for (int i = 0; i < 100; i++) {
      assertThat(isFree(b.client().lock("many/" + i))).as("lock %s", i).isTrue();
    }
  }

  @Test
  void givenMoreIdleGrantsThanTheLimit_thenTheOldestIsGivenBack() throws Exception {
    needs(Capability.CALL_BACK);
    StoreLink link = new StoreLink(store());
    LockClient client =
        LockClient.builder().store(link).ttl(peerTtl()).name("few").maxIdleLocks(2).build();
    adopt(new Peer(link, client));
    for (String name : List.of("one", "two", "one", "three")) {
      pass(client.lock(name).with(STICKY));
    }
    assertNothingLeft("two");
    assertThat(holders("one")).hasSize(1);
    assertThat(holders("three")).hasSize(1);
  }

  @Test
  void givenIdleGrant_whenItsProcessAsksForTheLockOtherwise_thenItIsNotInTheWay() throws Exception {
    needs(Capability.CALL_BACK, Capability.SHARED);
    Peer peer = peer("a");
    pass(sticky(peer));
    try (Lease reader = peer.client().readWriteLock(LOCK).readLock().acquireWithin(SOON)) {
      assertThat(reader.isValid()).isTrue();
    }
    pass(sticky(peer));
    pass(peer.lock());
    assertNothingLeft(LOCK);
  }

  @Test
  void givenIdleGrant_whenAnOperatorEvictsIt_thenTheLockIsFree() throws Exception {
    needs(Capability.CALL_BACK, Capability.EVICT);
    Peer a = peer("a");
    pass(sticky(a));
    a.client().admin().evict(LOCK, holders(LOCK).get(0).attempt(), Eviction.CLOSE);
    pass(peer("b").lock());
    pass(sticky(a));
  }

  @Test
  void givenIdleGrant_whenItsSessionIsLost_thenItIsNotTakenAgain() throws Exception {
    needs(Capability.CALL_BACK);
    Peer a = mortal("a");
    long first = pass(sticky(a));
    a.link().set(StoreLink.LinkState.CUT);
    long second = pass(peer("b").lock());
    Optional<Lease> stale = Optional.empty();
    try {
      stale = sticky(a).tryAcquire(BRIEF);
    } catch (io.mortise.StoreUnavailableException expected) {
      // Without an answer of the store this is not known to be contention.
    }
    assertThat(stale).isEmpty();
    a.link().set(StoreLink.LinkState.UP);
    long third = pass(sticky(a));
    if (can(Capability.TOKEN)) {
      assertThat(List.of(first, second, third)).isSorted().doesNotHaveDuplicates();
    }
  }

  @Test
  void givenProcessesThatTakeTurns_thenOneAtATimeIsInside_andAllGetTheirTurn() throws Exception {
    needs(Capability.CALL_BACK);
    AtomicInteger inside = new AtomicInteger();
    List<Future<?>> workers = new ArrayList<>();
    for (String name : List.of("a", "b", "c")) {
      Peer peer = peer(name);
      for (int thread = 0; thread < 2; thread++) {
        workers.add(
            start(
                () -> {
                  for (int i = 0; i < 50; i++) {
                    try (Lease lease = sticky(peer).acquireWithin(LONG)) {
                      assertThat(inside.incrementAndGet()).isEqualTo(1);
                      lease.ensureValid();
                      inside.decrementAndGet();
                    }
                  }
                  return name;
                }));
      }
    }
    workers.forEach(ClientSuite::get);
    assertThat(inside).hasValue(0);
  }
}
