package io.mortise.quorum;

import static org.assertj.core.api.Assertions.assertThat;

import io.mortise.Lease;
import io.mortise.LockClient;
import io.mortise.spi.ClientLabel;
import io.mortise.spi.LockStore;
import io.mortise.spi.Renewal;
import io.mortise.spi.SessionId;
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
import java.util.Arrays;
import java.util.List;
import java.util.Random;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.TimeUnit;
import java.util.function.Consumer;
import org.junit.jupiter.api.Test;

/** Members that take longer to renew than to answer requests, like ZooKeeper's ensembles. */
class SlowRenewalTest {
  private static final Duration LONG = Duration.ofSeconds(20);

  /** More than the member timeout. */
  private static final long SLOW_MILLIS = 600;

  /** Its renewals are answered later. */
  private static final class SlowStore extends ForwardingStore {
    private final long millis;

    SlowStore(long millis) {
      super(new MemStore(Ticker.SYSTEM, WallClock.SYSTEM));
      this.millis = millis;
    }

    @Override
    public StoreSession open(SessionSpec spec, Consumer<SessionNotification> hints) {
      return new ForwardingSession(super.open(spec, hints)) {
        @Override
        public CompletionStage<Renewal> renew(long previous, long next, List<Long> seen) {
          return super.renew(previous, next, seen)
              .thenApplyAsync(
                  renewal -> renewal,
                  CompletableFuture.delayedExecutor(millis, TimeUnit.MILLISECONDS));
        }
      };
    }
  }

  private static LockStore quorum(long... millis) {
    return QuorumStore.over(
        Arrays.stream(millis).<LockStore>mapToObj(SlowStore::new).toList(), QuorumOptions.DEFAULT);
  }

  @Test
  void givenMajorityThatRenewsSlowly_thenTheSessionOpens() throws Exception {
    LockStore quorum = quorum(SLOW_MILLIS, SLOW_MILLIS, 3_600_000);
    try (LockClient client = LockClient.builder().store(quorum).build();
        Lease lease = client.lock("x").acquireWithin(BoundedWait.scaled(LONG))) {
      lease.ensureValid();
    } finally {
      quorum.close();
    }
  }

  @Test
  void givenMajorityThatIsSilent_thenTheRenewalEndsWithTheTtl() throws Exception {
    LockStore quorum = quorum(0, 3_600_000, 3_600_000);
    try {
      SessionSpec spec =
          new SessionSpec(
              SessionId.random(new Random(1)),
              Duration.ofSeconds(2),
              new ClientLabel("host", 1, "test"));
      Renewal renewal =
          quorum
              .open(spec, notification -> {})
              .renew(0, 1, List.of())
              .toCompletableFuture()
              .get(BoundedWait.scaled(LONG).toMillis(), TimeUnit.MILLISECONDS);
      assertThat(renewal).isInstanceOf(Renewal.Unknown.class);
    } finally {
      quorum.close();
    }
  }
}
