package io.mortise.spring.integration;

import static io.mortise.spring.integration.RecordingCandidate.ROLE;
import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import io.mortise.LockClient;
import io.mortise.admin.Eviction;
import io.mortise.admin.LockAdmin;
import io.mortise.testserver.TestStore;
import java.io.IOException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;
import org.springframework.context.SmartLifecycle;
import org.springframework.context.support.GenericApplicationContext;
import org.springframework.integration.leader.Context;
import org.springframework.integration.leader.event.AbstractLeaderEvent;
import org.springframework.integration.leader.event.OnGrantedEvent;
import org.springframework.integration.leader.event.OnRevokedEvent;
import org.springframework.integration.support.leader.LockRegistryLeaderInitiator;

/** Leadership in Spring Integration's terms, with its own initiator and with this module's. */
class LeaderInitiatorTest {
  private static final int ROUNDS = 200;

  private final String url = TestStore.MEMORY.newUrl();
  private final List<SmartLifecycle> started = new ArrayList<>();
  private LockClient one;
  private LockClient two;

  @BeforeEach
  void connect() {
    one = LockClient.connect(url);
    two = LockClient.connect(url);
  }

  @AfterEach
  void close() {
    started.forEach(SmartLifecycle::stop);
    one.close();
    two.close();
  }

  @Test
  void givenTwoCandidates_whenTheLeaderStops_thenItIsRevokedBeforeTheOtherLeads() {
    List<String> order = new ArrayList<>();
    RecordingCandidate first =
        new RecordingCandidate("first") {
          @Override
          public void onRevoked(Context context) {
            super.onRevoked(context);
            synchronized (order) {
              order.add("first revoked");
            }
          }
        };
    RecordingCandidate second =
        new RecordingCandidate("second") {
          @Override
          public void onGranted(Context context) throws InterruptedException {
            super.onGranted(context);
            synchronized (order) {
              order.add("second granted");
            }
          }
        };
    MortiseLeaderInitiator leading = start(MortiseLeaderInitiator.over(one, first));
    // The context leads before the candidate is told.
    await().until(() -> leading.getContext().isLeader() && first.told.size() == 1);
    MortiseLeaderInitiator waiting = start(MortiseLeaderInitiator.over(two, second));
    awaitWaiter();
    assertThat(waiting.isRunning()).isTrue();
    assertThat(waiting.getContext().isLeader()).isFalse();
    assertThat(waiting.getContext().getRole()).isEqualTo(ROLE);
    assertThat(waiting.lease()).isEmpty();
    long token = leading.lease().orElseThrow().token();
    leading.stop();
    assertThat(first.told).containsExactly("granted", "revoked");
    assertThat(leading.isRunning()).isFalse();
    await().until(() -> waiting.getContext().isLeader());
    assertThat(waiting.lease().orElseThrow().token()).isGreaterThan(token);
    await()
        .untilAsserted(
            () -> {
              synchronized (order) {
                assertThat(order).containsExactly("first revoked", "second granted");
              }
            });
    assertThat(second.told).containsExactly("granted");
    start(leading);
    awaitWaiter();
    waiting.stop();
    await().until(() -> leading.getContext().isLeader());
  }

  @Test
  void givenLeaderThatYields_thenTheOtherLeads_andTheFormerWaitsBehindIt() {
    RecordingCandidate first = new RecordingCandidate("first");
    MortiseLeaderInitiator leading = start(MortiseLeaderInitiator.over(one, first));
    await().until(() -> leading.getContext().isLeader());
    MortiseLeaderInitiator waiting =
        start(MortiseLeaderInitiator.over(two, new RecordingCandidate("second")));
    awaitWaiter();
    Context context = leading.getContext();
    context.yield();
    assertThat(context.isLeader()).isFalse();
    await().until(() -> waiting.getContext().isLeader());
    awaitWaiter();
    assertThat(first.told).containsExactly("granted", "revoked");
    waiting.getContext().yield();
    await().until(() -> first.told.size() == 3);
  }

  @Test
  void givenCandidateThatYieldsEachTerm_thenItStandsAgainAfterPausesThatGrow() {
    List<Long> grants = new CopyOnWriteArrayList<>();
    RecordingCandidate yielding =
        new RecordingCandidate("yielding") {
          @Override
          public void onGranted(Context context) {
            grants.add(System.nanoTime());
            context.yield();
          }
        };
    start(MortiseLeaderInitiator.over(one, yielding));
    await().until(() -> grants.size() >= 4);
    assertThat(Duration.ofNanos(grants.get(3) - grants.get(0)))
        .isGreaterThanOrEqualTo(Duration.ofMillis(100 + 200 + 400));
    assertThat(yielding.told).startsWith("revoked", "revoked", "revoked");
  }

  @Test
  void givenInterruptedThread_whenItStopsTheInitiator_thenItWaitsUntilTheCandidateIsRevoked() {
    RecordingCandidate candidate =
        new RecordingCandidate("slow") {
          @Override
          public void onRevoked(Context context) {
            try {
              boolean unused = new CountDownLatch(1).await(300, TimeUnit.MILLISECONDS);
            } catch (InterruptedException e) {
              told.add("interrupted");
            }
            super.onRevoked(context);
          }
        };
    MortiseLeaderInitiator leading = start(MortiseLeaderInitiator.over(one, candidate));
    await().until(() -> leading.getContext().isLeader() && candidate.told.size() == 1);
    Thread.currentThread().interrupt();
    leading.stop();
    assertThat(Thread.interrupted()).isTrue();
    assertThat(candidate.told).containsExactly("granted", "revoked");
    assertThat(two.lock(ROLE).tryAcquire()).isPresent();
  }

  @Test
  void givenCandidateThatWorksInOnGranted_whenTheLeaseIsLost_thenItIsInterruptedAtOnce()
      throws Exception {
    CountDownLatch works = new CountDownLatch(1);
    RecordingCandidate worker =
        new RecordingCandidate("worker") {
          @Override
          public void onGranted(Context context) throws InterruptedException {
            super.onGranted(context);
            works.countDown();
            try {
              new CountDownLatch(1).await();
            } finally {
              told.add(context.isLeader() ? "interrupted while leader" : "interrupted");
            }
          }
        };
    start(MortiseLeaderInitiator.over(one, worker));
    works.await();
    evict();
    await()
        .atMost(Duration.ofSeconds(20))
        .untilAsserted(
            () -> assertThat(worker.told).startsWith("granted", "interrupted", "revoked"));
  }

  @Test
  void givenCandidateThatFails_thenAnotherLeads_andItsFailureStopsNothing() {
    AtomicInteger calls = new AtomicInteger();
    RecordingCandidate failing =
        new RecordingCandidate("failing") {
          @Override
          public void onGranted(Context context) {
            if (calls.incrementAndGet() == 1) {
              throw new IllegalStateException("of the candidate");
            }
            told.add("granted");
          }

          @Override
          public void onRevoked(Context context) {
            super.onRevoked(context);
            throw new IllegalStateException("of the candidate, too");
          }
        };
    start(MortiseLeaderInitiator.over(one, failing));
    await().untilAsserted(() -> assertThat(failing.told).containsExactly("revoked", "granted"));
  }

  /** Catches the interrupt and returns, as is common. */
  private static final class InterruptCatcher extends RecordingCandidate {
    InterruptCatcher() {
      super("catcher");
    }

    @Override
    public void onGranted(Context context) throws InterruptedException {
      super.onGranted(context);
      try {
        new CountDownLatch(1).await();
      } catch (InterruptedException e) {
        told.add("interrupted");
      }
    }
  }

  @Test
  void givenCandidateThatCatchesTheInterrupt_whenTheLeaseIsLost_thenItIsRevoked_andLeadsAgain() {
    InterruptCatcher catcher = new InterruptCatcher();
    start(MortiseLeaderInitiator.over(one, catcher));
    await().until(() -> catcher.told.size() == 1);
    evict();
    await()
        .untilAsserted(
            () ->
                assertThat(catcher.told)
                    .containsExactly("granted", "interrupted", "revoked", "granted"));
  }

  @Test
  void givenCandidateThatCatchesTheInterrupt_whenStopped_thenItIsRevoked_andTheLockIsFree() {
    InterruptCatcher catcher = new InterruptCatcher();
    MortiseLeaderInitiator leading = start(MortiseLeaderInitiator.over(one, catcher));
    await().until(() -> catcher.told.size() == 1);
    leading.stop();
    assertThat(catcher.told).containsExactly("granted", "interrupted", "revoked");
    assertThat(two.lock(ROLE).tryAcquire()).isPresent();
  }

  /** A stop comes at any moment of the candidate's end, whatever began that. */
  @ParameterizedTest
  @EnumSource
  void givenCandidateThatCleansUpInOnRevoked_whenStopped_thenItIsNeverInterrupted(Ending ending) {
    RecordingCandidate cleaner =
        new RecordingCandidate("cleaner") {
          @Override
          public void onRevoked(Context context) {
            super.onRevoked(context);
            try {
              boolean unused = new CountDownLatch(1).await(2, TimeUnit.MILLISECONDS);
            } catch (InterruptedException e) {
              told.add("interrupted");
            }
          }
        };
    for (int round = 0; round < ROUNDS; round++) {
      MortiseLeaderInitiator leading = MortiseLeaderInitiator.over(one, cleaner);
      int before = cleaner.told.size();
      leading.start();
      await()
          .pollInterval(Duration.ofNanos(1))
          .until(() -> cleaner.told.size() > before && leading.getContext().isLeader());
      ending.begin(this, leading);
      long until = System.nanoTime() + round % 50 * 2_000L;
      while (System.nanoTime() < until) {
        Thread.onSpinWait();
      }
      leading.stop();
    }
    assertThat(cleaner.told).doesNotContain("interrupted");
  }

  private enum Ending {
    STOP {
      @Override
      void begin(LeaderInitiatorTest test, MortiseLeaderInitiator leading) {}
    },
    YIELD {
      @Override
      void begin(LeaderInitiatorTest test, MortiseLeaderInitiator leading) {
        leading.getContext().yield();
      }
    },
    LOSS {
      @Override
      void begin(LeaderInitiatorTest test, MortiseLeaderInitiator leading) {
        test.evict();
      }
    };

    abstract void begin(LeaderInitiatorTest test, MortiseLeaderInitiator leading);
  }

  @Test
  void givenCandidateThatThrowsErrors_thenItIsRevoked_andStandsAgain() {
    AtomicInteger calls = new AtomicInteger();
    RecordingCandidate failing =
        new RecordingCandidate("failing") {
          @Override
          public void onGranted(Context context) throws InterruptedException {
            super.onGranted(context);
            switch (calls.incrementAndGet()) {
              case 1 -> throw new NoClassDefFoundError("of the candidate");
              case 2 -> sneakyThrow(new IOException("of a candidate in Kotlin"));
              default -> {}
            }
          }

          @Override
          public void onRevoked(Context context) {
            super.onRevoked(context);
            throw new NoClassDefFoundError("of the candidate, too");
          }
        };
    MortiseLeaderInitiator leading = start(MortiseLeaderInitiator.over(one, failing));
    await()
        .untilAsserted(
            () ->
                assertThat(failing.told)
                    .containsExactly("granted", "revoked", "granted", "revoked", "granted"));
    assertThat(leading.isRunning()).isTrue();
  }

  @SuppressWarnings("unchecked")
  private static <X extends Throwable> void sneakyThrow(Throwable thrown) throws X {
    throw (X) thrown;
  }

  @Test
  void givenClientThatIsClosed_thenTheInitiatorRunsNoMore() {
    RecordingCandidate candidate = new RecordingCandidate("candidate");
    MortiseLeaderInitiator leading = start(MortiseLeaderInitiator.over(one, candidate));
    await().until(() -> candidate.told.size() == 1);
    one.close();
    await().until(() -> !leading.isRunning());
    assertThat(candidate.told).containsExactly("granted", "revoked");
  }

  @Test
  void givenApplicationContext_thenItStartsAndStopsTheInitiator_andGetsItsEvents() {
    List<AbstractLeaderEvent> events = new ArrayList<>();
    RecordingCandidate candidate = new RecordingCandidate("bean");
    try (GenericApplicationContext context = new GenericApplicationContext()) {
      context.registerBean(
          MortiseLeaderInitiator.class, () -> MortiseLeaderInitiator.over(one, candidate));
      context.addApplicationListener(
          event -> {
            if (event instanceof AbstractLeaderEvent leaderEvent) {
              synchronized (events) {
                events.add(leaderEvent);
              }
            }
          });
      context.refresh();
      await().until(() -> one.admin().find(ROLE).isPresent() && candidate.told.size() == 1);
      evict();
      await().untilAsserted(() -> assertThat(candidate.told).startsWith("granted", "revoked"));
    }
    synchronized (events) {
      assertThat(events.get(0)).isInstanceOf(OnGrantedEvent.class);
      assertThat(events.get(1)).isInstanceOf(OnRevokedEvent.class);
      assertThat(events).extracting(AbstractLeaderEvent::getRole).containsOnly(ROLE);
      assertThat(events.get(events.size() - 1)).isInstanceOf(OnRevokedEvent.class);
    }
    assertThat(one.admin().find(ROLE).orElseThrow().holders()).isEmpty();
  }

  @Test
  void givenTheInitiatorOfSpringIntegration_whenTheLeaseIsLost_thenItRevokes_andTheOtherLeads() {
    RecordingCandidate first = new RecordingCandidate("first");
    RecordingCandidate second = new RecordingCandidate("second");
    LockRegistryLeaderInitiator leading = start(initiator(MortiseLockRegistry.over(one), first));
    await().until(() -> first.told.size() == 1);
    LockRegistryLeaderInitiator waiting =
        start(initiator(MortiseDistributedLockRegistry.over(two), second));
    assertThat(leading.getContext().isLeader()).isTrue();
    awaitWaiter();
    evict();
    await().untilAsserted(() -> assertThat(first.told).startsWith("granted", "revoked"));
    await().until(() -> waiting.getContext().isLeader());
  }

  private static LockRegistryLeaderInitiator initiator(
      org.springframework.integration.support.locks.LockRegistry<?> registry,
      RecordingCandidate candidate) {
    LockRegistryLeaderInitiator initiator = new LockRegistryLeaderInitiator(registry, candidate);
    initiator.setHeartBeatMillis(50);
    initiator.setApplicationEventPublisher(event -> {});
    return initiator;
  }

  private <T extends SmartLifecycle> T start(T initiator) {
    initiator.start();
    started.add(initiator);
    return initiator;
  }

  private void awaitWaiter() {
    await()
        .until(
            () ->
                one.admin().find(ROLE).stream()
                    .anyMatch(lock -> !lock.holders().isEmpty() && !lock.waiters().isEmpty()));
  }

  private void evict() {
    LockAdmin admin = two.admin();
    admin.evict(ROLE, admin.find(ROLE).orElseThrow().holders().get(0).attempt(), Eviction.BREAK);
  }
}
