package io.mortise.testkit;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.mortise.Lease;
import io.mortise.LeaseLostException;
import io.mortise.LockClient;
import io.mortise.LockOptions;
import io.mortise.LockTimeoutException;
import io.mortise.StoreUnavailableException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.extension.ExtendWith;

/** Rare events on demand, on time that moves by hand. */
@ExtendWith(TestLocksExtension.class)
@Timeout(value = 30, threadMode = Timeout.ThreadMode.SEPARATE_THREAD)
class TestLocksTest {
  private static final Duration DAY = Duration.ofDays(1);

  @Test
  void givenLease_whenADayPasses_thenItIsRenewedAndStillHeld(TestLocks test) throws Exception {
    LockClient ours = test.client("ours");
    Lease lease = ours.lock("a").acquire();
    test.advance(DAY);
    assertThat(lease.isValid()).isTrue();
    assertThat(lease.remaining()).isGreaterThan(Duration.ofSeconds(5));
    assertThat(test.elapsed()).isEqualTo(DAY);
    lease.close();
  }

  @Test
  void givenAtLeastTime_whenItPasses_thenTheLockIsFree(TestLocks test) throws Exception {
    LockClient ours = test.client("ours");
    LockOptions hourly = LockOptions.DEFAULTS.withAtLeast(Duration.ofHours(1));
    ours.lock("tick", hourly).acquire().close();
    test.advance(Duration.ofMinutes(59));
    assertThat(ours.lock("tick").tryAcquire()).isEmpty();
    test.advance(Duration.ofMinutes(1));
    assertThat(ours.lock("tick").tryAcquire()).isPresent();
  }

  @Test
  void givenLease_whenItsHoldIsLost_thenItKnowsAndItsListenersWereTold(TestLocks test)
      throws Exception {
    Lease lease = test.client("ours").lock("a").acquire();
    List<LeaseLostException> told = Collections.synchronizedList(new ArrayList<>());
    lease.onLost(told::add);
    assertThat(test.loseHolds("a")).isOne();
    assertThat(lease.isValid()).isFalse();
    assertThat(told).hasSize(1);
    assertThatThrownBy(lease::close).isInstanceOf(LeaseLostException.class);
    assertThat(test.loseHolds("a")).isZero();
  }

  @Test
  void givenStoppedStore_whenTheTtlPasses_thenLeasesAreLost_andItServesAgainLater(TestLocks test)
      throws Exception {
    LockClient ours = test.client("ours");
    Lease lease = ours.lock("a").acquire();
    test.stopStore();
    assertThatThrownBy(() -> ours.lock("b").tryAcquire())
        .isInstanceOf(StoreUnavailableException.class);
    test.advance(Duration.ofSeconds(5));
    assertThat(lease.isValid()).isTrue();
    test.advance(Duration.ofSeconds(11));
    assertThat(lease.state()).isEqualTo(Lease.State.LOST);
    test.startStore();
    test.advance(Duration.ofSeconds(5));
    assertThat(ours.lock("b").tryAcquire()).isPresent();
  }

  @Test
  void givenOtherProcessThatHolds_whenItReleases_thenTheWaiterIsServed(TestLocks test)
      throws Exception {
    LockClient ours = test.client("ours");
    Lease other = test.holdElsewhere("a");
    assertThat(ours.lock("a").tryAcquire()).isEmpty();
    assertThatThrownBy(() -> test.holdElsewhere("a")).isInstanceOf(IllegalStateException.class);
    CompletableFuture<Lease> waiting = ours.lock("a").acquireAsync();
    assertThat(test.waiters("a")).isOne();
    other.close();
    waiting.get(10, TimeUnit.SECONDS).close();
  }

  @Test
  void givenThreadThatWaitsWithALimit_whenThatTimePasses_thenItGivesUp(TestLocks test)
      throws Exception {
    LockClient ours = test.client("ours");
    Lease other = test.holdElsewhere("a");
    CompletableFuture<Throwable> outcome = new CompletableFuture<>();
    Thread thread =
        new Thread(
            () -> {
              try {
                ours.lock("a").acquireWithin(Duration.ofHours(1)).close();
                outcome.complete(new AssertionError("It was granted."));
              } catch (InterruptedException | RuntimeException e) {
                outcome.complete(e);
              }
            });
    thread.start();
    BoundedWait.until(Duration.ofSeconds(10), "it waits", () -> test.waiters("a") == 1);
    BoundedWait.until(
        Duration.ofSeconds(10),
        "its time is over",
        () -> {
          test.advance(Duration.ofMinutes(61));
          return outcome.isDone();
        });
    assertThat(outcome.join()).isInstanceOf(LockTimeoutException.class);
    other.close();
  }

  @Test
  void givenWaitersOfTwoProcesses_whenTheFirstIsKilled_thenTheNextIsServed(TestLocks test)
      throws Exception {
    LockClient first = test.client("first");
    LockClient next = test.client("next");
    Lease other = test.holdElsewhere("a");
    CompletableFuture<Lease> dead = first.lock("a").acquireAsync();
    CompletableFuture<Lease> alive = next.lock("a").acquireAsync();
    assertThat(test.waiters("a")).isEqualTo(2);
    test.kill(first);
    other.close();
    test.advance(Duration.ofSeconds(60));
    Lease granted = alive.get(10, TimeUnit.SECONDS);
    assertThat(granted.isValid()).isTrue();
    assertThat(dead).isNotCompleted();
    granted.close();
    assertThatThrownBy(() -> test.kill(null)).isInstanceOf(IllegalArgumentException.class);
  }

  @Test
  void givenHolderThatIsKilled_thenItsLockIsFreeAfterTheTtl(TestLocks test) throws Exception {
    LockClient dying = test.client("dying");
    Lease lease = dying.lock("a").acquire();
    test.kill(dying);
    assertThat(test.client("b").lock("a").tryAcquire()).isEmpty();
    CompletableFuture<Lease> next = test.client("c").lock("a").acquireAsync();
    test.advance(Duration.ofSeconds(16));
    assertThat(next.get(10, TimeUnit.SECONDS).isValid()).isTrue();
    assertThat(lease.isValid()).isFalse();
  }

  @Test
  void givenTimesThatMakeNoSense_thenTheyAreRefused(TestLocks test) {
    assertThatThrownBy(() -> test.advance(Duration.ofSeconds(-1)))
        .isInstanceOf(IllegalArgumentException.class);
    assertThatThrownBy(() -> new TestLocks(Duration.ZERO))
        .isInstanceOf(IllegalArgumentException.class);
  }
}
