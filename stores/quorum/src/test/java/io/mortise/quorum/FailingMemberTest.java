package io.mortise.quorum;

import io.mortise.LockClient;
import io.mortise.StoreUnavailableException;
import io.mortise.spi.LockStore;
import io.mortise.spi.Renewal;
import io.mortise.spi.SessionNotification;
import io.mortise.spi.SessionSpec;
import io.mortise.spi.StoreSession;
import io.mortise.spi.StoreUrl;
import io.mortise.spi.time.Ticker;
import io.mortise.spi.time.WallClock;
import io.mortise.support.liveness.ForwardingSession;
import io.mortise.support.liveness.ForwardingStore;
import io.mortise.support.memory.MemStore;
import io.mortise.testkit.BoundedWait;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.Consumer;
import org.junit.jupiter.api.Test;

/** Members whose code throws errors, as a driver's may. */
class FailingMemberTest {
  private static final Duration LONG = Duration.ofSeconds(30);

  private static LockStore member() {
    return new MemStore(Ticker.SYSTEM, WallClock.SYSTEM);
  }

  /** Throws at each renewal. */
  private static final class ThrowingStore extends ForwardingStore {
    ThrowingStore() {
      super(member());
    }

    @Override
    public StoreSession open(SessionSpec spec, Consumer<SessionNotification> hints) {
      return new ForwardingSession(super.open(spec, hints)) {
        @Override
        public CompletionStage<Renewal> renew(long previous, long next, List<Long> seen) {
          throw new LinkageError("for a test");
        }
      };
    }
  }

  @Test
  void givenMemberThatThrowsAtRenewals_thenTheOthersServe() throws Exception {
    LockStore quorum =
        QuorumStore.over(List.of(new ThrowingStore(), member(), member()), MemMembers.PATIENT);
    try (LockClient client = LockClient.builder().store(quorum).build()) {
      client.lock("x").acquireWithin(BoundedWait.scaled(LONG)).close();
    } finally {
      quorum.close();
    }
  }

  @Test
  void givenMemberWhoseOpeningThrowsAnError_thenItIsTriedAgain() {
    AtomicInteger tries = new AtomicInteger();
    List<StoreUrl> urls =
        List.of("mem:a", "mem:b", "mem:late").stream().map(StoreUrl::parse).toList();
    try (QuorumLockStore quorum =
        QuorumConnector.connect(
            urls,
            url -> {
              int tried = url.toString().equals("mem:late") ? tries.incrementAndGet() : 3;
              if (tried == 1) {
                throw new StoreUnavailableException("It is down.");
              } else if (tried == 2) {
                throw new LinkageError("for a test");
              }
              return member();
            },
            MemMembers.PATIENT,
            Ticker.SYSTEM)) {
      BoundedWait.until(
          LONG, "the third member is there", () -> quorum.members().get(2).store() != null);
    }
  }
}
