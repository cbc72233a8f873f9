package io.mortise.testkit.contract.client;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.mortise.Lease;
import io.mortise.LeaseLostException;
import io.mortise.LockClient;
import io.mortise.LockTimeoutException;
import io.mortise.StoreUnavailableException;
import io.mortise.event.LeaseEnd;
import io.mortise.spi.Capability;
import io.mortise.testkit.BoundedWait;
import io.mortise.testkit.RecordingConsumer;
import io.mortise.testkit.RerunIfPaused;
import io.mortise.testkit.StoreLink;
import io.mortise.testkit.StoreUnderTest;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.Future;
import org.junit.jupiter.api.Assumptions;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/** Holds and waits of a process that dies, or cannot reach its store. */
class OutageSuite extends ClientSuite {
  OutageSuite(StoreUnderTest under) {
    super(under);
  }

  /** The latest time at which a dead process's locks are free, if they have waiters. */
  private Duration afterDeath() {
    return BoundedWait.scaled(
        mortalTtl().plus(store().profile().expiryLag()).plus(Duration.ofSeconds(12)));
  }

  @Test
  @RerunIfPaused
  @Tag("deadline-before-next-grant")
  void givenHolderThatIsCutOff_whenAnotherIsGranted_thenTheHolderHadStoppedToBelieveBefore()
      throws Exception {
    Peer a = mortal("a");
    Peer b = peer("b");
    RecordingConsumer<LeaseLostException> told = new RecordingConsumer<>();
    Lease lease = a.lock().acquire();
    lease.onLost(told);
    Future<Boolean> believedWhenTheNextWasGranted =
        start(
            () -> {
              Lease next = b.lock().acquireWithin(LONG);
              boolean believes = lease.isValid();
              next.close();
              return believes;
            });
    a.link().set(StoreLink.LinkState.CUT);
    long began = System.nanoTime();
    assertThat(get(believedWhenTheNextWasGranted)).isFalse();
    assertThat(elapsed(began)).isLessThan(afterDeath());
    assertThat(told.await(1).get(0)).hasMessageContaining("'" + LOCK + "'");
    assertThatThrownBy(lease::close).isInstanceOf(LeaseLostException.class);
    assertStaysLost(lease, LeaseEnd.NOT_RENEWED);
    assertNothingLeft(LOCK);
  }

  @Test
  @RerunIfPaused
  void givenHolderWhoseRenewalIsOverdue_thenItIsSuspectBeforeItIsLost() throws Exception {
    Peer a = mortal("a");
    Lease lease = a.lock().acquire();
    a.link().set(StoreLink.LinkState.CUT);
    BoundedWait.until(LONG, "the lease was suspect", () -> lease.state() == Lease.State.SUSPECT);
    assertThat(lease.remaining()).isLessThanOrEqualTo(mortalTtl().dividedBy(2));
    BoundedWait.until(LONG, "the lease was lost", () -> lease.state() == Lease.State.LOST);
    assertThat(lease.isValid()).isFalse();
    assertThatThrownBy(lease::close).isInstanceOf(LeaseLostException.class);
  }

  /** For longer than a failover, and than a session's TTL. */
  @Test
  @RerunIfPaused
  void givenServerThatTakesNoWrites_whenItTakesThemAgain_thenWaitsHaveGoneOn() throws Exception {
    Peer a = mortal("a");
    Peer b = mortal("b");
    Lease held = a.lock().acquire();
    Future<Lease> next = acquiring(b.lock());
    if (can(Capability.QUEUE)) {
      awaitWaiters(LOCK, 1);
    }
    Future<Lease> endless = start(() -> b.client().lock("other").acquire());
    get(endless).close();
    Runnable allowWrites = under.forbidWrites().orElse(null);
    Assumptions.assumeTrue(allowWrites != null, "the server cannot be switched");
    try {
      endless = start(() -> b.client().lock("other").acquire());
      assertThatThrownBy(() -> a.client().lock("third").tryAcquire())
          .isInstanceOf(StoreUnavailableException.class);
      BoundedWait.until(LONG, "the lease was lost", () -> held.state() == Lease.State.LOST);
      BoundedWait.pass(Duration.ofSeconds(3));
      for (Peer peer : List.of(a, b)) {
        assertThatThrownBy(() -> peer.client().lock("third").tryAcquire())
            .isInstanceOf(StoreUnavailableException.class);
      }
      assertThat(forgets(a.client(), "job")).isFalse();
      assertThat(next).isNotDone();
      assertThat(endless).isNotDone();
    } finally {
      allowWrites.run();
    }
    get(next).close();
    get(endless).close();
    assertThatThrownBy(held::close).isInstanceOf(LeaseLostException.class);
  }

  /**
   * Forgets an absent result; false if the store is unavailable. A store may know the absence
   * without a write.
   */
  private static boolean forgets(LockClient client, String once) {
    try {
      return client.once(once).forget();
    } catch (StoreUnavailableException e) {
      return false;
    }
  }

  @Test
  @RerunIfPaused
  void givenOutageShorterThanTheTtl_thenTheLeaseSurvivesIt() throws Exception {
    Duration ttl = mortalTtl().multipliedBy(2);
    Peer a = peer("a", ttl);
    Lease lease = a.lock().acquire();
    for (StoreLink.LinkState linkState :
        List.of(StoreLink.LinkState.REFUSING, StoreLink.LinkState.CUT)) {
      a.link().set(linkState);
      BoundedWait.pass(ttl.dividedBy(5));
      a.link().set(StoreLink.LinkState.UP);
      BoundedWait.pass(ttl.dividedBy(2));
      assertThat(lease.isValid()).isTrue();
    }
    assertThat(peer("b").lock().tryAcquire()).isEmpty();
    lease.close();
    assertNothingLeft(LOCK);
  }

  @Test
  @RerunIfPaused
  void givenReleaseThatWasLost_whenItsProcessTriesAgain_thenItIsNotInItsOwnWay() throws Exception {
    Peer a = peer("a");
    Lease lease = a.lock().acquire();
    a.link().set(StoreLink.LinkState.REFUSING);
    lease.close();
    long before = a.link().requests();
    // By now it backs off for half a second or more.
    BoundedWait.until(LONG, "it had asked again", () -> a.link().requests() > before + 5);
    a.link().set(StoreLink.LinkState.UP);
    try (Lease again = a.lock().tryAcquire().orElseThrow()) {
      again.ensureValid();
    }
    assertNothingLeft(LOCK);
  }

  @Test
  @RerunIfPaused
  @Tag("stale-holder-changes-nothing")
  void givenLostHold_whenItsOwnerComesBackAndCloses_thenTheSuccessorKeepsTheLock()
      throws Exception {
    Peer a = mortal("a");
    Peer b = peer("b");
    Lease stale = a.lock().acquire();
    a.link().set(StoreLink.LinkState.CUT);
    Lease next = b.lock().acquireWithin(LONG);
    a.link().set(StoreLink.LinkState.UP);
    assertThatThrownBy(stale::close).isInstanceOf(LeaseLostException.class);
    assertThat(a.lock().tryAcquire(BRIEF)).isEmpty();
    assertThat(next.isValid()).isTrue();
    assertThat(holders(LOCK)).hasSize(1);
    next.close();
    try (Lease again = a.lock().acquireWithin(LONG)) {
      again.ensureValid();
    }
    assertNothingLeft(LOCK);
  }

  @Test
  @RerunIfPaused
  void givenStoreThatCannotBeReached_whenAProcessAsks_thenItIsAnException_andNeverContention()
      throws Exception {
    Peer a = peer("a");
    isFree(a.lock());
    a.link().set(StoreLink.LinkState.REFUSING);
    assertThatThrownBy(() -> a.lock().tryAcquire()).isInstanceOf(StoreUnavailableException.class);
    assertThatThrownBy(() -> a.client().admin().find(LOCK))
        .isInstanceOf(StoreUnavailableException.class);
    a.link().set(StoreLink.LinkState.CUT);
    assertThatThrownBy(() -> a.lock().tryAcquire()).isInstanceOf(StoreUnavailableException.class);
    for (StoreLink.LinkState linkState :
        List.of(StoreLink.LinkState.CUT, StoreLink.LinkState.REFUSING)) {
      a.link().set(linkState);
      // Longer than the detection of an outage takes.
      Duration wait = Duration.ofMillis(linkState == StoreLink.LinkState.CUT ? 1_500 : 600);
      long began = System.nanoTime();
      assertThatThrownBy(() -> a.lock().acquireWithin(wait))
          .isInstanceOf(StoreUnavailableException.class);
      assertThatThrownBy(() -> a.lock().tryAcquire(wait))
          .isInstanceOf(StoreUnavailableException.class);
      assertThat(elapsed(began))
          .as("waits end on time also when the store is silent")
          .isBetween(wait.multipliedBy(2).minusMillis(10), BoundedWait.scaled(LONG));
    }
    a.link().set(StoreLink.LinkState.UP);
    assertThat(isFree(peer("b").lock())).isTrue();
    assertNothingLeft(LOCK);
  }

  @Test
  void
      givenStoreThatIsSilent_whenAWaitEndsBeforeThatIsKnown_thenItIsAnException_andNeverContention()
          throws Exception {
    Peer a = peer("a");
    isFree(a.lock());
    a.link().set(StoreLink.LinkState.SILENT);
    Duration wait = Duration.ofMillis(1_300);
    assertThatThrownBy(() -> a.lock().tryAcquire(wait))
        .isInstanceOf(StoreUnavailableException.class)
        .hasMessageContaining("'" + LOCK + "'");
    assertThat(failure(a.lock().acquireAsync(wait))).isInstanceOf(StoreUnavailableException.class);
    a.link().set(StoreLink.LinkState.UP);
    assertThat(isFree(peer("b").lock())).isTrue();
    assertNothingLeft(LOCK);
  }

  @Test
  void givenWaitInTheQueue_whenTheStoreFallsSilent_thenItsEndIsAnException_andNeverContention()
      throws Exception {
    needs(Capability.QUEUE);
    Peer a = peer("a");
    Peer b = peer("b");
    Lease lease = a.lock().acquire();
    Future<Lease> parked = acquiring(b.lock());
    awaitWaiters(LOCK, 1);
    b.link().set(StoreLink.LinkState.SILENT);
    assertThatThrownBy(() -> b.lock().tryAcquire(Duration.ofMillis(1_600)))
        .isInstanceOf(StoreUnavailableException.class)
        .hasMessageContaining("'" + LOCK + "'");
    b.link().set(StoreLink.LinkState.UP);
    lease.close();
    get(parked).close();
    // Its session may have ended meanwhile: then a contender finds its leftovers.
    awaitFree(a.lock());
    assertNothingLeft(LOCK);
  }

  @Test
  void givenLockThatIsHeld_whenATimedWaitEnds_thenItIsContention() throws Exception {
    Peer a = peer("a");
    Peer b = peer("b");
    Lease lease = a.lock().acquire();
    Duration wait = Duration.ofMillis(1_300);
    CompletableFuture<Lease> other = b.lock().acquireAsync(wait);
    assertThat(b.lock().tryAcquire(wait)).isEmpty();
    assertThat(failure(other)).isInstanceOf(LockTimeoutException.class);
    lease.close();
    assertNothingLeft(LOCK);
  }

  @Test
  void givenWaitThroughAnOutage_thenItGoesOnAfterwards_andNobodyTakesItForContention() {
    Peer a = peer("a");
    isFree(a.lock());
    a.link().set(StoreLink.LinkState.REFUSING);
    Future<Lease> waiting = acquiring(a.lock());
    BoundedWait.until(
        LONG,
        "who does not wait was told of the outage, though another thread waits",
        () -> {
          try {
            assertThat(a.lock().tryAcquire()).isEmpty();
            return false;
          } catch (StoreUnavailableException e) {
            return true;
          }
        });
    assertThat(waiting).isNotDone();
    a.link().set(StoreLink.LinkState.UP);
    get(waiting).close();
    assertNothingLeft(LOCK);
  }

  @Test
  void givenWaiterInTheQueue_whenItsLinkHiccups_thenItIsNotTakenForRefusal() throws Exception {
    Peer a = peer("a");
    Peer b = peer("b");
    Lease lease = a.lock().acquire();
    Future<Lease> waiting = acquiring(b.lock());
    if (can(Capability.QUEUE)) {
      awaitWaiters(LOCK, 1);
    }
    b.link().set(StoreLink.LinkState.CUT);
    BoundedWait.pass(Duration.ofMillis(300));
    b.link().set(StoreLink.LinkState.UP);
    assertThat(waiting).isNotDone();
    lease.close();
    get(waiting).close();
    assertNothingLeft(LOCK);
  }

  @Test
  @Tag("cancelled-waiter-leaves-no-trace")
  void givenGrantWhoseAnswerWasLost_whenTheWaitEnds_thenTheLockIsGivenBack() {
    Peer a = peer("a");
    Peer b = peer("b");
    isFree(a.lock());
    a.link().set(StoreLink.LinkState.ANSWERS_LOST);
    assertThatThrownBy(() -> a.lock().tryAcquire()).isInstanceOf(StoreUnavailableException.class);
    a.link().set(StoreLink.LinkState.UP);
    awaitFree(b.lock());
    assertNothingLeft(LOCK);
  }

  @Test
  @Tag("retried-attempt-granted-once")
  void givenGrantWhoseAnswerWasLost_whenTheWaitGoesOn_thenItIsGrantedOnce() {
    Peer a = peer("a");
    isFree(a.lock());
    a.link().set(StoreLink.LinkState.ANSWERS_LOST);
    Future<Lease> waiting = acquiring(a.lock());
    BoundedWait.until(LONG, "the store granted it", () -> !holders(LOCK).isEmpty());
    a.link().set(StoreLink.LinkState.UP);
    Lease lease = get(waiting);
    assertThat(lease.isValid()).isTrue();
    assertThat(holders(LOCK)).hasSize(1);
    lease.close();
    assertNothingLeft(LOCK);
  }

  @Test
  void givenReleaseThatIsNotAnswered_thenItIsSentAgainUntilItIs() throws Exception {
    Peer a = peer("a");
    Peer b = peer("b");
    for (StoreLink.LinkState linkState :
        List.of(
            StoreLink.LinkState.CUT,
            StoreLink.LinkState.REFUSING,
            StoreLink.LinkState.ANSWERS_LOST)) {
      Lease lease = a.lock().acquireWithin(LONG);
      a.link().set(linkState);
      CompletableFuture<Void> released = lease.releaseAsync();
      BoundedWait.pass(Duration.ofMillis(250));
      a.link().set(StoreLink.LinkState.UP);
      Lease next = b.lock().acquireWithin(LONG);
      assertThat(released).succeedsWithin(LONG);
      next.close();
    }
    assertNothingLeft(LOCK);
  }

  @Test
  @RerunIfPaused
  void givenWaitersOfADeadProcess_thenTheNextIsServedAfterItsTtlAtTheLatest() throws Exception {
    needs(Capability.QUEUE);
    Peer a = peer("a");
    Peer dying = mortal("dying");
    Peer c = peer("c");
    Lease lease = a.lock().acquire();
    List<Future<Lease>> lost = new ArrayList<>();
    lost.add(acquiring(dying.lock()));
    awaitWaiters(LOCK, 1);
    Future<Lease> waiting = acquiring(c.lock());
    awaitWaiters(LOCK, 2);
    dying.link().set(StoreLink.LinkState.CUT);
    lease.close();
    long began = System.nanoTime();
    get(waiting).close();
    assertThat(elapsed(began)).isLessThan(afterDeath());
    dying.link().set(StoreLink.LinkState.UP);
    get(lost.get(0)).close();
    assertNothingLeft(LOCK);
  }

  @Test
  @RerunIfPaused
  void givenHolderAndHeadThatDieTogether_thenTheNextIsServedAllTheSame() throws Exception {
    Peer a = mortal("a");
    Peer b = mortal("b");
    Peer c = peer("c");
    Lease lost = a.lock().acquire();
    Future<Lease> head = acquiring(b.lock());
    if (can(Capability.QUEUE)) {
      awaitWaiters(LOCK, 1);
    }
    Future<Lease> waiting = acquiring(c.lock());
    if (can(Capability.QUEUE)) {
      awaitWaiters(LOCK, 2);
    }
    a.link().set(StoreLink.LinkState.CUT);
    b.link().set(StoreLink.LinkState.CUT);
    long began = System.nanoTime();
    Lease next = get(waiting);
    assertThat(elapsed(began)).isLessThan(afterDeath().multipliedBy(2));
    assertThat(lost.isValid()).isFalse();
    assertThat(head).isNotDone();
    next.close();
    b.link().set(StoreLink.LinkState.UP);
    get(head).close();
    assertNothingLeft(LOCK);
  }

  @Test
  @RerunIfPaused
  void givenReadersAndPermitsOfADeadProcess_thenTheyReturn() throws Exception {
    needs(Capability.SHARED, Capability.PERMITS);
    Peer a = mortal("a");
    Peer b = peer("b");
    Lease reader = a.client().readWriteLock(LOCK).readLock().acquire();
    Lease permits = a.client().semaphore("permits", 3).permits(2).acquire();
    Lease own = b.client().readWriteLock(LOCK).readLock().acquire();
    a.link().set(StoreLink.LinkState.CUT);
    Lease all = b.client().semaphore("permits", 3).permits(3).acquireWithin(LONG);
    assertThat(own.isValid()).isTrue();
    own.close();
    Lease writer = b.client().readWriteLock(LOCK).writeLock().acquireWithin(LONG);
    assertThat(reader.isValid() || permits.isValid()).isFalse();
    writer.close();
    all.close();
    assertNothingLeft(LOCK, "permits");
  }
}
