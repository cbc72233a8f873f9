package io.mortise.simulation;

import static org.assertj.core.api.Assertions.assertThat;

import io.mortise.DistributedLock;
import io.mortise.Lease;
import io.mortise.LockClient;
import io.mortise.LockOptions;
import io.mortise.spi.Reply;
import io.mortise.spi.Reply.RefusalReason;
import io.mortise.spi.Request;
import io.mortise.spi.StoreSession;
import io.mortise.spi.time.Ticker;
import io.mortise.spi.time.WallClock;
import io.mortise.support.memory.MemStore;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.TimeUnit;
import java.util.function.Consumer;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Test;

/**
 * A store whose holds have few tokens, as a ZooKeeper node has 65,536. When they are used up, the
 * lock is released and acquired again, even without contention.
 */
class TokenExhaustionTest {
  private static final int WAITERS = 40;

  private final MemStore store = new MemStore(Ticker.SYSTEM, WallClock.SYSTEM);
  private final ConcurrentLinkedQueue<Request.Acquire> asked = new ConcurrentLinkedQueue<>();

  @Test
  void givenFairWaitersOfOneProcess_thenOneAttemptStandsForAll_andTheirOrderStays()
      throws Exception {
    assertOneAttemptForAll(LockOptions.DEFAULTS.withFair(true));
  }

  @Test
  void givenWaitersOfOneProcess_thenOneAttemptStandsForAll_andTheirOrderStays() throws Exception {
    assertOneAttemptForAll(LockOptions.DEFAULTS);
  }

  @Test
  void givenStickyLock_whenItsTokensAreUsedUp_thenNoLeaseIsLost_andTheLockIsAskedForAnew()
      throws Exception {
    LockOptions sticky = LockOptions.DEFAULTS.withSticky(LockOptions.LONGEST_STICKY);
    try (LockClient client = LockClient.builder().store(new ScarceTokenStore()).build()) {
      DistributedLock lock = client.lock("a", sticky);
      long last = 0;
      for (int i = 0; i < 10 * ScarceTokenStore.TOKENS; i++) {
        try (Lease lease = lock.acquire()) {
          assertThat(lease.token()).isGreaterThan(last);
          last = lease.token();
        }
      }
      assertThat(asked).hasSize(10);
    }
  }

  private void assertOneAttemptForAll(LockOptions options) throws Exception {
    try (LockClient client = LockClient.builder().store(new ScarceTokenStore()).build()) {
      DistributedLock lock = client.lock("a", options);
      Lease first = lock.acquire();
      ConcurrentLinkedQueue<Integer> served = new ConcurrentLinkedQueue<>();
      ConcurrentLinkedQueue<Long> tokens = new ConcurrentLinkedQueue<>(List.of(first.token()));
      List<CompletableFuture<Void>> waiting = new ArrayList<>();
      for (int i = 0; i < WAITERS; i++) {
        int number = i;
        waiting.add(
            lock.acquireAsync()
                .thenAccept(
                    lease -> {
                      served.add(number);
                      tokens.add(lease.token());
                      lease.close();
                    }));
      }
      first.close();
      CompletableFuture.allOf(waiting.toArray(CompletableFuture[]::new)).get(60, TimeUnit.SECONDS);

      assertThat(served).containsExactlyElementsOf(IntStream.range(0, WAITERS).boxed().toList());
      assertThat(List.copyOf(tokens)).isSorted().doesNotHaveDuplicates();
      assertThat(asked).hasSize(1 + (WAITERS + 1) / ScarceTokenStore.TOKENS);
    }
  }

  private final class ScarceTokenStore extends InterceptingStore {
    static final int TOKENS = 8;

    ScarceTokenStore() {
      super(store);
    }

    @Override
    void submit(StoreSession session, Request request, Consumer<Reply> sink) {
      if (request instanceof Request.Acquire acquire) {
        asked.add(acquire);
        Request few =
            new Request.Acquire(
                acquire.name(),
                acquire.attempt(),
                acquire.mode(),
                acquire.queue(),
                acquire.terms(),
                Math.min(acquire.tokens(), TOKENS),
                acquire.tokenFloor(),
                acquire.provenDead());
        session.submit(few, sink);
      } else if (request instanceof Request.Adjust adjust && adjust.tokens() > 0) {
        sink.accept(
            new Reply.Refused(
                adjust.attempt(), RefusalReason.TOKENS_USED_UP, "Its tokens are used up."));
      } else {
        session.submit(request, sink);
      }
    }
  }
}
