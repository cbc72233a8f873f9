package io.mortise.testkit.contract.client;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.mortise.Lease;
import io.mortise.LeaseLostException;
import io.mortise.LockOptions;
import io.mortise.StoreUnavailableException;
import io.mortise.admin.Eviction;
import io.mortise.admin.LockParticipant.Access;
import io.mortise.event.LeaseEnd;
import io.mortise.event.LockListener;
import io.mortise.event.LockListener.AcquireCall;
import io.mortise.event.LockListener.AcquireEnded;
import io.mortise.event.LockListener.AcquireOutcome;
import io.mortise.event.LockListener.AcquireQueued;
import io.mortise.event.LockListener.AcquireStarted;
import io.mortise.event.LockListener.LeaseEnded;
import io.mortise.event.LockListener.RenewalOutcome;
import io.mortise.event.LockListener.SessionChanged;
import io.mortise.event.LockListener.SessionRenewed;
import io.mortise.event.LockListener.SessionState;
import io.mortise.spi.Capability;
import io.mortise.testkit.BoundedWait;
import io.mortise.testkit.PauseDetector;
import io.mortise.testkit.RerunIfPaused;
import io.mortise.testkit.StoreLink;
import io.mortise.testkit.StoreUnderTest;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.CancellationException;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.Future;
import java.util.concurrent.TimeUnit;
import java.util.function.Predicate;
import java.util.stream.IntStream;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

/** Events that a client reports to its listeners. */
class ListenerSuite extends ClientSuite {
  private RecordingListener told = new RecordingListener();

  ListenerSuite(StoreUnderTest under) {
    super(under);
  }

  /** Discards events of a previous run of the test. */
  @BeforeEach
  void listenAnew() {
    told = new RecordingListener();
  }

  /** A process that reports to {@link #told}. */
  private Peer watched(Duration ttl) {
    return peer("watched", ttl, told);
  }

  private Peer watched() {
    return watched(peerTtl());
  }

  private SessionChanged awaitState(SessionState state) {
    Predicate<SessionChanged> is = event -> event.state() == state;
    BoundedWait.until(
        LONG,
        "a session was told as " + state + ", only " + told.all(SessionChanged.class),
        () -> told.all(SessionChanged.class).stream().anyMatch(is));
    return told.all(SessionChanged.class).stream().filter(is).findFirst().orElseThrow();
  }

  private LeaseEnded lastLease(int count) {
    return told.await(LeaseEnded.class, count).get(count - 1);
  }

  private List<AcquireOutcome> outcomes() {
    return told.all(AcquireEnded.class).stream().map(AcquireEnded::outcome).toList();
  }

  @Test
  void givenAcquireAndRelease_thenBothAreToldInOrder_beforeTheCallsReturn() throws Exception {
    Peer a = watched();
    Lease lease = a.client().lock(LOCK, LockOptions.DEFAULTS.withLabel("nightly")).acquire();
    AcquireStarted started = told.all(AcquireStarted.class).get(0);
    AcquireEnded granted = told.all(AcquireEnded.class).get(0);
    AcquireCall call = started.call();
    assertThat(call.lock()).isEqualTo(LOCK);
    assertThat(call.label()).isEqualTo("nightly");
    assertThat(call.access()).isEqualTo(Access.EXCLUSIVE);
    assertThat(call.store()).isEqualTo(store().profile().display());
    assertThat(granted.call()).isEqualTo(call);
    assertThat(granted.outcome()).isEqualTo(AcquireOutcome.GRANTED);
    assertThat(granted.waited()).isBetween(Duration.ZERO, BoundedWait.scaled(LONG));
    if (can(Capability.TOKEN)) {
      assertThat(granted.token()).hasValue(lease.token());
    } else {
      assertThat(granted.token()).isEmpty();
    }
    assertThat(told.all(LeaseEnded.class)).isEmpty();

    lease.close();
    lease.close();
    assertThat(told.all(LeaseEnded.class))
        .singleElement()
        .satisfies(
            ended -> {
              assertThat(ended.call()).isEqualTo(call);
              assertThat(ended.end()).isEqualTo(LeaseEnd.RELEASED);
              assertThat(ended.token()).isEqualTo(granted.token());
              assertThat(ended.held()).isBetween(Duration.ZERO, BoundedWait.scaled(LONG));
              assertThat(ended.reason()).isEmpty();
            });
    isFree(a.lock());
    assertThat(told.all(AcquireStarted.class).get(1).call().id()).isNotEqualTo(call.id());
  }

  @Test
  void givenReleaseThatNobodyWaitsFor_thenItIsToldOnce() throws Exception {
    Peer a = watched();
    a.client().lock(LOCK, LockOptions.DEFAULTS.withReleaseAsync(true)).acquire().close();
    assertThat(lastLease(1).end()).isEqualTo(LeaseEnd.RELEASED);
    Lease next =
        a.lock().acquireAsync().get(BoundedWait.scaled(LONG).toMillis(), TimeUnit.MILLISECONDS);
    assertThat(outcomes()).containsExactly(AcquireOutcome.GRANTED, AcquireOutcome.GRANTED);
    assertThat(next.releaseAsync()).succeedsWithin(LONG);
    assertThat(next.releaseAsync()).succeedsWithin(LONG);
    assertThat(lastLease(2).end()).isEqualTo(LeaseEnd.RELEASED);
    a.client().close();
    awaitState(SessionState.CLOSED);
    assertThat(told.all(LeaseEnded.class)).hasSize(2);
  }

  @Test
  void givenLockThatIsHeld_thenEachWayToFailIsToldAsItself() throws Exception {
    Peer holder = peer("holder");
    Peer a = watched();
    Lease held = holder.lock().acquire();
    assertThat(a.lock().tryAcquire()).isEmpty();
    assertThat(a.lock().tryAcquire(BRIEF)).isEmpty();
    CompletableFuture<Lease> cancelled = a.lock().acquireAsync();
    cancelled.cancel(true);
    assertThatThrownBy(cancelled::join).isInstanceOf(CancellationException.class);
    a.lock().acquireAsync().complete(null);
    assertThatThrownBy(
            () -> a.lock().acquireAsync(BRIEF).get(LONG.toMillis(), TimeUnit.MILLISECONDS))
        .isInstanceOf(ExecutionException.class);
    CompletableFuture<Thread> waiter = new CompletableFuture<>();
    Future<Lease> interrupted =
        start(
            () -> {
              waiter.complete(Thread.currentThread());
              return a.lock().acquire();
            });
    Thread thread = get(waiter);
    BoundedWait.until(LONG, "it waits", () -> isWaiting(thread));
    thread.interrupt();
    assertThat(failure(interrupted)).isInstanceOf(InterruptedException.class);

    assertThat(outcomes())
        .containsExactly(
            AcquireOutcome.BUSY,
            AcquireOutcome.TIMEOUT,
            AcquireOutcome.CANCELLED,
            AcquireOutcome.CANCELLED,
            AcquireOutcome.TIMEOUT,
            AcquireOutcome.INTERRUPTED);
    assertThat(told.all(AcquireEnded.class).stream().map(AcquireEnded::call))
        .as("each start has its end")
        .containsExactlyElementsOf(
            told.all(AcquireStarted.class).stream().map(AcquireStarted::call).toList());
    assertThat(told.all(AcquireEnded.class).get(1).waited()).isGreaterThanOrEqualTo(BRIEF);
    held.close();
    assertNothingLeft(LOCK);
    assertThat(told.all(LeaseEnded.class)).isEmpty();
  }

  @Test
  void givenSelfWait_thenItIsToldAsRefused() throws Exception {
    Peer a = watched();
    try (Lease lease = a.lock().acquire()) {
      assertThatThrownBy(() -> a.lock().acquire()).isInstanceOf(IllegalStateException.class);
      lease.ensureValid();
    }
    assertThat(outcomes()).containsExactly(AcquireOutcome.GRANTED, AcquireOutcome.REFUSED);
    assertThat(told.all(AcquireEnded.class).get(1).reason()).contains("already holds");
  }

  @Test
  void givenSharedAndPermits_thenTheAccessIsTold() throws Exception {
    needs(Capability.SHARED, Capability.PERMITS);
    Peer a = watched();
    a.client().readWriteLock(LOCK).readLock().acquire().close();
    a.client().semaphore("permits", 3).permits(2).acquire().close();
    assertThat(told.all(AcquireStarted.class).stream().map(event -> event.call().access()))
        .containsExactly(Access.SHARED, Access.PERMITS);
  }

  @Test
  void givenQueue_thenThePlaceInItIsTold_andTheWaitThatEndsInAGrant() throws Exception {
    needs(Capability.QUEUE);
    Peer holder = peer("holder");
    Peer a = watched();
    Lease held = holder.lock().acquire();
    Future<Lease> waiting = acquiring(a.lock());
    AcquireQueued queued = told.await(AcquireQueued.class, 1).get(0);
    assertThat(queued.ahead()).isBetween(0, 1);
    assertThat(queued.call()).isEqualTo(told.all(AcquireStarted.class).get(0).call());
    assertThat(outcomes()).isEmpty();
    held.close();
    get(waiting).close();
    assertThat(outcomes()).containsExactly(AcquireOutcome.GRANTED);
  }

  @Test
  void givenThreadsOfOneProcess_thenEachHoldIsToldFromItsGrantToItsRelease() {
    Peer a = watched();
    List<Future<Boolean>> threads =
        IntStream.range(0, 4)
            .mapToObj(
                thread ->
                    start(
                        () -> {
                          for (int i = 0; i < 10; i++) {
                            a.lock().acquireWithin(LONG).close();
                          }
                          return true;
                        }))
            .toList();
    threads.forEach(ClientSuite::get);
    assertThat(told.all(LeaseEnded.class)).hasSize(40);
    for (LeaseEnded ended : told.all(LeaseEnded.class)) {
      assertThat(told.all().stream().filter(event -> isAbout(event, ended.call().id())))
          .satisfiesExactly(
              event -> assertThat(event).isInstanceOf(AcquireStarted.class),
              event -> assertThat(event).isInstanceOf(AcquireEnded.class),
              event -> assertThat(event).isEqualTo(ended));
    }
  }

  private static boolean isAbout(Record event, long id) {
    return (event instanceof AcquireStarted started && started.call().id() == id)
        || (event instanceof AcquireEnded ended && ended.call().id() == id)
        || (event instanceof LeaseEnded lease && lease.call().id() == id);
  }

  @Test
  @RerunIfPaused
  void givenAtMost_whenItIsOver_thenTheLossIsToldAsThat() throws Exception {
    Peer a = watched();
    Duration most = PauseDetector.stretched(Duration.ofMillis(400));
    Lease lease = a.client().lock(LOCK, LockOptions.DEFAULTS.withAtMost(most)).acquire();
    LeaseEnded ended = lastLease(1);
    assertThat(ended.end()).isEqualTo(LeaseEnd.AT_MOST);
    assertThat(ended.end().isLoss()).isTrue();
    assertThat(ended.held()).isBetween(most.dividedBy(2), BoundedWait.scaled(LONG));
    assertThat(ended.reason()).contains("at-most");
    assertThatThrownBy(lease::close).isInstanceOf(LeaseLostException.class);
    assertThat(told.all(LeaseEnded.class)).as("once").hasSize(1);
  }

  @Test
  void givenOperatorWhoEvicts_thenTheLossIsToldAsThat() throws Exception {
    needs(Capability.EVICT);
    Peer a = watched();
    Peer operator = peer("operator");
    Lease lease = a.lock().acquire();
    String attempt = holders(LOCK).get(0).attempt();
    operator.client().admin().evict(LOCK, attempt, Eviction.CLOSE);
    assertThat(lastLease(1).end()).isEqualTo(LeaseEnd.EVICTED);
    assertThatThrownBy(lease::close).isInstanceOf(LeaseLostException.class);
    assertThat(told.all(LeaseEnded.class)).hasSize(1);
  }

  @Test
  void givenClientThatIsClosed_thenItsLeasesAndItsSessionAreToldAsClosed() throws Exception {
    Peer a = watched();
    Lease lease = a.lock().acquire();
    a.client().close();
    assertThat(lastLease(1).end()).isEqualTo(LeaseEnd.CLIENT_CLOSED);
    assertThat(awaitState(SessionState.CLOSED).session().id())
        .isEqualTo(awaitState(SessionState.OPENED).session().id());
    assertThatThrownBy(lease::close).isInstanceOf(LeaseLostException.class);
  }

  @Test
  @RerunIfPaused
  void givenStoreThatCannotBeReached_thenTheOutage_theLossAndTheSessionAreTold() throws Exception {
    Peer a = watched(mortalTtl());
    Lease lease = a.lock().acquire();
    SessionChanged opened = awaitState(SessionState.OPENED);
    assertThat(opened.session().ttl()).isEqualTo(mortalTtl());
    assertThat(opened.session().client()).contains("watched");
    SessionRenewed renewed =
        told.await(SessionRenewed.class, 2).stream()
            .filter(event -> event.outcome() == RenewalOutcome.RENEWED)
            .findFirst()
            .orElseThrow();
    assertThat(renewed.remaining()).isBetween(Duration.ZERO, mortalTtl());
    assertThat(renewed.session()).isEqualTo(opened.session());

    a.link().set(StoreLink.LinkState.REFUSING);
    assertThatThrownBy(() -> a.client().lock("other").tryAcquire())
        .isInstanceOf(StoreUnavailableException.class);
    assertThat(outcomes()).endsWith(AcquireOutcome.UNAVAILABLE);
    assertThat(awaitState(SessionState.UNANSWERED).leases()).isEqualTo(1);
    LeaseEnded ended = lastLease(1);
    assertThat(ended.end()).isEqualTo(LeaseEnd.NOT_RENEWED);
    assertThat(ended.reason()).isNotEmpty();
    SessionChanged lost = awaitState(SessionState.LOST);
    assertThat(lost.remaining()).isZero();
    // The votes of a quorum may have run out before the session did.
    assertThat(lost.leases()).isBetween(0, 1);
    assertThat(told.all(SessionRenewed.class))
        .anyMatch(event -> event.outcome() == RenewalOutcome.UNANSWERED);
    a.link().set(StoreLink.LinkState.UP);
    assertThatThrownBy(lease::close).isInstanceOf(LeaseLostException.class);
  }

  @Test
  void givenListenerThatThrows_thenLocksAreServedAllTheSame() throws Exception {
    Peer a =
        peer(
            "a",
            peerTtl(),
            new LockListener() {
              @Override
              public void onAcquireStarted(AcquireStarted event) {
                throw new IllegalStateException("started");
              }

              @Override
              public void onAcquireEnded(AcquireEnded event) {
                throw new AssertionError("ended");
              }

              @Override
              public void onLeaseEnded(LeaseEnded event) {
                throw new IllegalStateException("lease");
              }

              @Override
              public void onSessionChanged(SessionChanged event) {
                throw new IllegalStateException("session");
              }
            },
            told);
    try (Lease lease = a.lock().acquire()) {
      lease.ensureValid();
    }
    assertThat(lastLease(1).end()).as("the next listener is told").isEqualTo(LeaseEnd.RELEASED);
    awaitState(SessionState.OPENED);
    assertNothingLeft(LOCK);
  }

  @Test
  @RerunIfPaused
  void givenListenerThatBlocks_thenLeasesAreRenewedAllTheSame() throws Exception {
    CountDownLatch end = new CountDownLatch(1);
    Peer a =
        peer(
            "a",
            mortalTtl(),
            new LockListener() {
              @Override
              public void onSessionRenewed(SessionRenewed event) {
                try {
                  end.await();
                } catch (InterruptedException e) {
                  Thread.currentThread().interrupt();
                }
              }
            });
    try (Lease lease = a.lock().acquire()) {
      BoundedWait.pass(mortalTtl().multipliedBy(2));
      assertThat(lease.isValid()).isTrue();
    } finally {
      end.countDown();
    }
  }
}
