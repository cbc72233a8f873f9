package io.mortise.testkit.contract.client;

import static org.assertj.core.api.Assertions.assertThat;

import io.mortise.DistributedLock;
import io.mortise.Lease;
import io.mortise.LockOptions;
import io.mortise.admin.LockParticipant;
import io.mortise.spi.Capability;
import io.mortise.testkit.BoundedWait;
import io.mortise.testkit.StoreLink;
import io.mortise.testkit.StoreUnderTest;
import java.time.Duration;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Collections;
import java.util.Deque;
import java.util.List;
import java.util.Objects;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.Future;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;

/** First come, first served, over processes. */
class FairnessSuite extends ClientSuite {
  /** So long that no test waits for its end. */
  private static final Duration WHOLE = Duration.ofSeconds(60);

  /** The session TTL of a process that waits and holds nothing. */
  private static final Duration SHORT = Duration.ofSeconds(3);

  FairnessSuite(StoreUnderTest under) {
    super(under);
  }

  @Test
  void givenQueueOfProcesses_thenTheyAreServedInTheOrderInWhichTheyCame() throws Exception {
    needs(Capability.QUEUE);
    Lease lease = peer("first").lock().acquire();
    List<String> order = Collections.synchronizedList(new ArrayList<>());
    List<Future<?>> waits = new ArrayList<>();
    for (int i = 0; i < 4; i++) {
      Peer next = peer("p" + i);
      String name = "p" + i;
      waits.add(
          start(
              () -> {
                Lease own = next.lock().acquireWithin(LONG);
                order.add(name);
                own.close();
                return name;
              }));
      awaitWaiters(LOCK, i + 1);
    }
    lease.close();
    waits.forEach(ClientSuite::get);
    assertThat(order).containsExactly("p0", "p1", "p2", "p3");
    assertNothingLeft(LOCK);
  }

  @Test
  void givenFairThreadsOfTwoProcesses_thenTheyAreServedInTheOrderInWhichTheyCame()
      throws Exception {
    needs(Capability.QUEUE);
    Peer a = peer("a");
    Peer b = peer("b");
    LockOptions fair = LockOptions.DEFAULTS.withFair(true);
    // Not granted yet: threads of the holder's process that queued before the note go first.
    Lease lease = peer("c").client().lock(LOCK, fair).acquire();
    List<Integer> order = Collections.synchronizedList(new ArrayList<>());
    List<Future<?>> waits = new ArrayList<>();
    for (int i = 0; i < 6; i++) {
      int number = i;
      Peer process = i % 2 == 0 ? b : a;
      waits.add(
          start(
              () -> {
                Lease own = process.client().lock(LOCK, fair).acquireWithin(LONG);
                order.add(number);
                own.close();
                return number;
              }));
      awaitWaiters(LOCK, i + 1);
    }
    lease.close();
    waits.forEach(ClientSuite::get);
    assertThat(order).containsExactly(0, 1, 2, 3, 4, 5);
    assertNothingLeft(LOCK);
  }

  @Test
  void givenHolderThatKnowsOfAnotherProcess_thenItsOwnFairThreadsComeAfterThatOne()
      throws Exception {
    // Without pushes a waiting process is noticed a little later.
    needs(Capability.QUEUE, Capability.PUSH);
    DistributedLock own = peer("a").client().lock(LOCK, LockOptions.DEFAULTS.withFair(true));
    Lease lease = own.acquire();
    CompletableFuture<Lease> other = peer("b").lock().acquireAsync();
    awaitWaiters(LOCK, 1);
    Deque<CompletableFuture<Lease>> later = new ArrayDeque<>();
    BoundedWait.until(
        LONG,
        "a thread of the holder's process stood in the store's queue",
        () -> {
          later.add(own.acquireAsync());
          BoundedWait.pass(Duration.ofMillis(50));
          // A waiter from before the note waits within its process, and would go first.
          return waiters(LOCK).size() == 2 || !later.getLast().cancel(true);
        });
    lease.close();
    get(other).close();
    get(later.getLast()).close();
    assertNothingLeft(LOCK);
  }

  @Test
  void givenACrowdOfTwoProcesses_whenSomeGiveUp_thenAllOthersAreServed_andNothingIsLeft()
      throws Exception {
    needs(Capability.QUEUE);
    Peer a = peer("a", WHOLE);
    Peer b = peer("b", WHOLE);
    LockOptions fair = LockOptions.DEFAULTS.withFair(true);
    Lease lease = a.client().lock(LOCK, fair).acquire();
    List<CompletableFuture<Lease>> waits = new ArrayList<>();
    int many = can(Capability.PUSH) ? 120 : 24;
    for (int i = 0; i < many; i++) {
      waits.add((i % 2 == 0 ? a : b).client().lock(LOCK, fair).acquireAsync());
    }
    // They include the waiters that poll for the others.
    for (int i = 0; i < many; i += i < 16 ? 1 : 3) {
      assertThat(waits.get(i).cancel(true)).isTrue();
    }
    List<CompletableFuture<Void>> served = new ArrayList<>();
    for (CompletableFuture<Lease> wait : waits) {
      if (!wait.isCancelled()) {
        served.add(wait.thenCompose(Lease::releaseAsync));
      }
    }
    lease.close();
    served.forEach(ClientSuite::get);
    assertNothingLeft(LOCK);
  }

  @Test
  void givenWaiterThatGaveUp_thenTheNextIsNotDelayedByIt() throws Exception {
    needs(Capability.QUEUE);
    Peer a = peer("a");
    Peer b = peer("b");
    Peer c = peer("c");
    Lease lease = a.lock().acquire();
    CompletableFuture<Lease> impatient = b.lock().acquireAsync();
    awaitWaiters(LOCK, 1);
    Future<Lease> patient = acquiring(c.lock());
    awaitWaiters(LOCK, 2);
    assertThat(impatient.cancel(true)).isTrue();
    lease.close();
    get(patient).close();
    assertNothingLeft(LOCK);
  }

  @Test
  void givenProcessThatWaitsAndHoldsNothing_thenItsSessionIsShort_andWholeAgainBeforeItHolds()
      throws Exception {
    needs(Capability.QUEUE, Capability.VARIABLE_TTL);
    Peer a = peer("a", WHOLE);
    Peer b = peer("b", WHOLE);
    Lease lease = a.lock().acquire();
    Future<Lease> next = acquiring(b.lock());
    BoundedWait.until(
        LONG,
        "the waiter's session was short",
        () -> waiters(LOCK).stream().anyMatch(party -> sessionLeft(party).compareTo(SHORT) <= 0));
    assertThat(holders(LOCK).get(0).sessionLeft()).isGreaterThan(SHORT);
    lease.close();
    Lease own = get(next);
    assertThat(own.remaining()).isGreaterThan(SHORT);
    own.close();
    assertNothingLeft(LOCK);
  }

  @Test
  void givenHeadThatStandsStill_whenTheHolderReleases_thenTheNextHoldsWithinItsShortSession()
      throws Exception {
    needs(Capability.QUEUE, Capability.VARIABLE_TTL);
    Peer a = peer("a", WHOLE);
    Peer b = peer("b", WHOLE);
    Peer c = peer("c", WHOLE);
    Lease lease = a.lock().acquire();
    CompletableFuture<Lease> head = b.lock().acquireAsync();
    awaitWaiters(LOCK, 1);
    BoundedWait.until(
        LONG,
        "the head's session was short",
        () -> waiters(LOCK).stream().anyMatch(party -> sessionLeft(party).compareTo(SHORT) <= 0));
    Future<Lease> next = acquiring(c.lock());
    awaitWaiters(LOCK, 2);
    b.link().set(StoreLink.LinkState.SILENT);
    lease.close();
    // LONG is shorter than the TTL.
    get(next).close();
    b.link().set(StoreLink.LinkState.UP);
    head.get(1, TimeUnit.MINUTES).close();
    assertNothingLeft(LOCK);
  }

  private static Duration sessionLeft(LockParticipant party) {
    return Objects.requireNonNull(party.sessionLeft(), "a look in full tells it");
  }
}
