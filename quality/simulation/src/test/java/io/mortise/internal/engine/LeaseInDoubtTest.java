package io.mortise.internal.engine;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.mortise.DistributedOnce.OnceResult;
import io.mortise.GroupLease;
import io.mortise.JavaLock;
import io.mortise.Leadership;
import io.mortise.Lease;
import io.mortise.LeaseInDoubtException;
import io.mortise.LockClient;
import io.mortise.StoreUnavailableException;
import io.mortise.spi.Renewal;
import io.mortise.spi.Reply;
import io.mortise.spi.Request;
import io.mortise.spi.SessionNotification;
import io.mortise.spi.SessionSpec;
import io.mortise.spi.StoreSession;
import io.mortise.spi.time.Ticker;
import io.mortise.spi.time.WallClock;
import io.mortise.support.liveness.ForwardingSession;
import io.mortise.support.liveness.ForwardingStore;
import io.mortise.support.memory.MemStore;
import io.mortise.testkit.BoundedWait;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.BooleanSupplier;
import java.util.function.Consumer;
import org.assertj.core.api.ThrowableAssert.ThrowingCallable;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

/** Leases between the restart of a server and its confirmation of their grants. */
class LeaseInDoubtTest {
  private static final Duration LONG = Duration.ofSeconds(30);

  private final List<Runnable> renewals = new CopyOnWriteArrayList<>();
  private volatile String incarnation = "first";
  private volatile boolean isSilent;
  private final LockClient client =
      LockClient.builder()
          .store(new RestartedStore(new MemStore(Ticker.SYSTEM, WallClock.SYSTEM)))
          .ttl(LONG)
          .build();

  /** A store whose renewals can be triggered, and whose acquires fail on demand. */
  private final class RestartedStore extends ForwardingStore {
    RestartedStore(MemStore store) {
      super(store);
    }

    @Override
    public StoreSession open(SessionSpec spec, Consumer<SessionNotification> hints) {
      return new ForwardingSession(super.open(spec, hints)) {
        @Override
        public void submit(Request request, Consumer<Reply> sink) {
          if (isSilent && request instanceof Request.Acquire) {
            Throwable cause = new StoreUnavailableException("still loading");
            sink.accept(new Reply.Failed(request.attempt(), false, cause));
          } else {
            super.submit(request, sink);
          }
        }

        @Override
        public CompletionStage<Renewal> renew(long previous, long next, List<Long> seen) {
          return super.renew(previous, next, seen)
              .thenApply(
                  renewal ->
                      renewal instanceof Renewal.Renewed told
                          ? new Renewal.Renewed(
                              told.storeMicros(), told.notifications(), told.more(), incarnation)
                          : renewal);
        }

        @Override
        public void onSuspectedRestart(Runnable renewNow) {
          renewals.add(renewNow);
        }
      };
    }
  }

  @AfterEach
  void close() {
    isSilent = false;
    client.close();
  }

  private void restart(BooleanSupplier isValid) {
    isSilent = true;
    incarnation = "second";
    renewals.forEach(Runnable::run);
    BoundedWait.until(LONG, "the lease is in doubt", () -> !isValid.getAsBoolean());
  }

  private void answer() {
    isSilent = false;
  }

  private static void isInDoubt(ThrowingCallable call) {
    assertThatThrownBy(call)
        .isInstanceOf(LeaseInDoubtException.class)
        .hasMessageContaining("has not confirmed the hold yet");
  }

  @Test
  void givenRestartedServer_whileItHasNotConfirmedALease_thenDoubtIsTold_andNotLoss()
      throws Exception {
    Lease lease = client.lock("a").acquire();
    long token = lease.token();
    restart(lease::isValid);
    assertThat(lease.state()).isEqualTo(Lease.State.SUSPECT);
    assertThat(lease.remaining()).isZero();
    isInDoubt(lease::token);
    isInDoubt(lease::fencingToken);
    isInDoubt(lease::ensureValid);
    isInDoubt(() -> lease.run(() -> assertThat(true).as("it runs").isFalse()));
    isInDoubt(() -> lease.keepShut(LONG));
    isInDoubt(() -> lease.extend(LONG));

    answer();
    BoundedWait.until(LONG, "the lease is confirmed", lease::isValid);
    assertThat(lease.token()).isEqualTo(token);
    assertThat(lease.remaining()).isPositive();
    lease.close();
  }

  @Test
  void givenGroupInDoubt_thenDoubtIsTold_andItIsReleasedAsEver() throws Exception {
    GroupLease group = client.allOf("a", "b").acquire();
    restart(group.lease("b")::isValid);
    assertThat(group.isValid()).isFalse();
    isInDoubt(group::ensureValid);
    answer();
    BoundedWait.until(LONG, "the leases are confirmed", group::isValid);
    group.close();
  }

  @Test
  void givenJavaLockInDoubt_thenItsUnlockTellsOfNoLoss() {
    JavaLock lock = client.lock("a").asJavaLock();
    lock.lock();
    try {
      restart(lock.lease().orElseThrow()::isValid);
    } finally {
      lock.unlock();
    }
    answer();
    assertThat(client.lock("a").tryAcquire()).isPresent();
  }

  private void answerSoon() {
    CompletableFuture.delayedExecutor(200, TimeUnit.MILLISECONDS).execute(this::answer);
  }

  @Test
  void givenOnceInDoubtWhenItsTaskEnds_thenTheResultIsStoredAsSoonAsItIsConfirmed()
      throws Exception {
    AtomicInteger runs = new AtomicInteger();
    OnceResult result =
        client
            .once("key")
            .run(
                lease -> {
                  restart(lease::isValid);
                  answerSoon();
                  return "run " + runs.incrementAndGet();
                });
    assertThat(result.value()).contains("run 1");
    assertThat(client.once("key").result()).isPresent();
  }

  @Test
  void givenAsynchronousOnceInDoubtWhenItsTaskEnds_thenTheResultIsStoredAsSoonAsItIsConfirmed() {
    OnceResult result =
        client
            .once("key")
            .runAsync(
                lease -> {
                  restart(lease::isValid);
                  answerSoon();
                  return CompletableFuture.completedFuture("run");
                })
            .orTimeout(30, TimeUnit.SECONDS)
            .join();
    assertThat(result.value()).contains("run");
    assertThat(client.once("key").result()).isPresent();
  }

  @Test
  void givenRestartedServer_whenATaskOfALeaderMeetsTheDoubt_thenItsTermEndsWithoutAFailure() {
    CompletableFuture<Leadership.Term> begun = new CompletableFuture<>();
    CompletableFuture<Void> inDoubt = new CompletableFuture<>();
    Leadership leader =
        client.leader(
            "a",
            term -> {
              begun.complete(term);
              inDoubt.join();
              term.ensureValid();
            });
    Leadership.Term term = begun.orTimeout(LONG.toSeconds(), TimeUnit.SECONDS).join();
    restart(term::isValid);
    isInDoubt(term::ensureValid);
    inDoubt.complete(null);
    BoundedWait.until(
        LONG, "it stands again", () -> leader.state() == Leadership.CandidateState.CANDIDATE);
    assertThat(leader.lastFailure()).isEmpty();
    leader.close();
  }
}
