package io.mortise.internal.engine;

import static org.assertj.core.api.Assertions.assertThat;

import io.mortise.HoldTerms;
import io.mortise.Lease;
import io.mortise.LockName;
import io.mortise.LockOptions;
import io.mortise.internal.client.EngineClient;
import io.mortise.internal.runtime.EngineEnv;
import io.mortise.internal.runtime.EngineRules;
import io.mortise.internal.runtime.EngineScheduler;
import io.mortise.spi.AttemptId;
import io.mortise.spi.Capability;
import io.mortise.spi.ClientLabel;
import io.mortise.spi.Mode;
import io.mortise.spi.Reply;
import io.mortise.spi.Request;
import io.mortise.spi.SessionId;
import io.mortise.spi.SessionNotification;
import io.mortise.spi.SessionSpec;
import io.mortise.spi.StoreSession;
import io.mortise.support.liveness.ForwardingStore;
import io.mortise.support.memory.MemStore;
import io.mortise.support.table.TableRules;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.EnumSet;
import java.util.List;
import java.util.Random;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.function.Consumer;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** The polls of one process's waiters. Time stands still; the test runs the timers. */
@Timeout(10)
class QueueProtocolTest {
  private static final LockName LOCK = LockName.of("x");
  private static final Duration TTL = Duration.ofSeconds(3);
  private static final long NOW = 1_000_000_000_000L;
  private static final AttemptId HOLDER = new AttemptId(new SessionId("sessionOther"), 1);

  private record Timer(Duration delay, Runnable task) {}

  private final List<Timer> polls = new ArrayList<>();
  private final List<Timer> renewals = new ArrayList<>();
  private boolean pushesAreLost;

  /** Releases the lock of the other process. */
  private Runnable release = () -> {};

  private EngineClient client(Set<Capability> capabilities) {
    MemStore mem = new MemStore(capabilities, () -> NOW, 0, TableRules.ALL);
    StoreSession holder =
        mem.open(new SessionSpec(HOLDER.session(), TTL, new ClientLabel("-", 2, "")), hint -> {});
    holder.renew(0, 1, List.of());
    holder.submit(
        new Request.Acquire(LOCK, HOLDER, Mode.EXCLUSIVE, true, HoldTerms.NONE, 1, 0, null),
        reply -> assertThat(reply).isInstanceOf(Reply.Granted.class));
    release =
        () ->
            holder.submit(
                new Request.Abandon(LOCK, HOLDER),
                reply -> assertThat(reply).isInstanceOf(Reply.Ended.class));
    return new EngineClient(
        new ForwardingStore(mem) {
          @Override
          public StoreSession open(SessionSpec spec, Consumer<SessionNotification> hints) {
            return super.open(
                spec,
                hint -> {
                  if (!pushesAreLost) {
                    hints.accept(hint);
                  }
                });
          }
        },
        new EngineEnv(
            () -> NOW,
            scheduler(polls),
            scheduler(renewals),
            Runnable::run,
            () -> 0,
            new Random(7),
            EngineRules.ALL,
            TTL,
            new ClientLabel("-", 1, "")),
        () -> {});
  }

  private static EngineScheduler scheduler(List<Timer> timers) {
    return (delay, task) -> {
      Timer timer = new Timer(Duration.ofNanos(delay), task);
      timers.add(timer);
      return () -> timers.remove(timer);
    };
  }

  private void renew() {
    renewals.stream().min(Comparator.comparing(Timer::delay)).orElseThrow().task().run();
  }

  private Timer latestPoll() {
    return polls.get(polls.size() - 1);
  }

  /** Queues this number of waiters of the client, each for itself. */
  private List<CompletableFuture<Lease>> waiters(EngineClient client, int count) {
    List<CompletableFuture<Lease>> waiters = new ArrayList<>();
    for (int i = 0; i < count; i++) {
      waiters.add(client.lock(LOCK.value(), LockOptions.DEFAULTS.withFair(true)).acquireAsync());
      if (i == 0) {
        // Opens the session.
        renew();
      }
    }
    assertThat(waiters).noneMatch(CompletableFuture::isDone);
    return waiters;
  }

  @Test
  void givenGrantThatNoPushTells_whenAnotherWaiterPolls_thenTheHolderAsksAtOnce() {
    List<CompletableFuture<Lease>> waiters = waiters(client(EnumSet.allOf(Capability.class)), 2);
    Timer poll = latestPoll();
    pushesAreLost = true;
    release.run();
    assertThat(waiters.get(0)).isNotDone();
    poll.task().run();
    assertThat(waiters.get(0)).isCompleted();
    assertThat(waiters.get(1)).isNotDone();
  }

  @Test
  void givenGrantByAPush_thenTheNextWaiterPollsAfterAThirdOfTheTtl() {
    List<CompletableFuture<Lease>> waiters =
        waiters(client(EnumSet.allOf(Capability.class)), QueueProtocol.POLLING + 1);
    int before = polls.size();
    release.run();
    assertThat(waiters.get(0)).isCompleted();
    assertThat(polls).as("one poll more, and none for the holder").hasSize(before);
    assertThat(latestPoll().delay()).isBetween(Duration.ofMillis(900), Duration.ofSeconds(1));
  }

  @Test
  void givenGrantByARenewal_whereNobodyPushes_thenTheNextWaiterPollsSoon() {
    List<CompletableFuture<Lease>> waiters =
        waiters(
            client(EnumSet.complementOf(EnumSet.of(Capability.PUSH, Capability.CALL_BACK))),
            QueueProtocol.POLLING + 1);
    release.run();
    assertThat(waiters.get(0)).isNotDone();
    polls.clear();
    renew();
    assertThat(waiters.get(0)).isCompleted();
    assertThat(latestPoll().delay()).isBetween(Duration.ofMillis(18), Duration.ofMillis(20));
  }
}
