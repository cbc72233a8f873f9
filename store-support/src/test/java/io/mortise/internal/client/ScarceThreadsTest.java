package io.mortise.internal.client;

import static org.assertj.core.api.Assertions.assertThat;

import io.mortise.Leadership;
import io.mortise.Lease;
import io.mortise.LeaseLostException;
import io.mortise.LockTimeoutException;
import io.mortise.admin.Eviction;
import io.mortise.internal.runtime.EngineEnv;
import io.mortise.internal.runtime.SystemEnv;
import io.mortise.spi.ClientLabel;
import io.mortise.spi.time.Ticker;
import io.mortise.spi.time.WallClock;
import io.mortise.support.memory.MemStore;
import java.time.Duration;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** A container that is at its limit of threads for a moment. */
@Timeout(value = 60, threadMode = Timeout.ThreadMode.SEPARATE_THREAD)
class ScarceThreadsTest {
  private final AtomicInteger missing = new AtomicInteger();
  private final EngineClient client = client();

  private EngineClient client() {
    SystemEnv system = new SystemEnv();
    EngineEnv env = system.env(Duration.ofSeconds(10), new ClientLabel("-", 1, "test"));
    EngineEnv scarce =
        new EngineEnv(
            env.ticker(),
            env.timers(),
            env.renewals(),
            task -> {
              if (missing.getAndUpdate(left -> Math.max(0, left - 1)) > 0) {
                throw new OutOfMemoryError("unable to create native thread");
              }
              env.callbacks().execute(task);
            },
            env.suspended(),
            env.random(),
            env.rules(),
            env.ttl(),
            env.client());
    return new EngineClient(new MemStore(Ticker.SYSTEM, WallClock.SYSTEM), scarce, system::close);
  }

  @AfterEach
  void close() {
    missing.set(0);
    client.close();
  }

  @Test
  void givenNoThreadForAGrant_whenThereIsOneAgain_thenTheLeaseIsDelivered() throws Exception {
    Lease first = client.lock("x").acquire();
    CompletableFuture<Lease> second = client.lock("x").acquireAsync();
    missing.set(3);
    first.close();

    second.get(30, TimeUnit.SECONDS).close();
    client.lock("x").tryAcquire().orElseThrow().close();
  }

  @Test
  void givenNoThreadForTheEndOfAWait_whenThereIsOneAgain_thenItEnds() throws Exception {
    Lease first = client.lock("x").acquire();
    missing.set(3);
    CompletableFuture<Lease> second = client.lock("x").acquireAsync(Duration.ofMillis(50));

    assertThat(second)
        .failsWithin(Duration.ofSeconds(30))
        .withThrowableThat()
        .withCauseInstanceOf(LockTimeoutException.class);
    first.close();
  }

  @Test
  void givenNoThreadForALoss_whenThereIsOneAgain_thenItIsTold() throws Exception {
    Lease lease = client.lock("x").acquire();
    CompletableFuture<LeaseLostException> told = new CompletableFuture<>();
    lease.onLost(told::complete);
    String attempt = client.admin().find("x").orElseThrow().holders().get(0).attempt();
    missing.set(3);
    client.admin().evict("x", attempt, Eviction.BREAK);

    assertThat(told.get(30, TimeUnit.SECONDS)).hasMessageContaining("x");
  }

  @Test
  void givenNoThreadForACandidate_whenThereIsOneAgain_thenItLeads() throws Exception {
    CountDownLatch terms = new CountDownLatch(3);
    try (Leadership leadership =
        client.leader(
            "x",
            term -> {
              missing.set(3);
              terms.countDown();
            })) {
      assertThat(terms.await(50, TimeUnit.SECONDS)).isTrue();
      assertThat(leadership.name()).isEqualTo("x");
      missing.set(0);
    }
  }
}
