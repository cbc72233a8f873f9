package io.mortise.internal.engine;

import static org.assertj.core.api.Assertions.assertThat;

import io.mortise.DistributedLock;
import io.mortise.Lease;
import io.mortise.LockOptions;
import io.mortise.admin.LockParticipant;
import io.mortise.internal.client.EngineClient;
import io.mortise.internal.client.TestClient;
import io.mortise.internal.engine.state.LeaseImpl;
import io.mortise.internal.engine.state.LeaseLeakDetector;
import io.mortise.internal.session.LiveSession;
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
import java.time.Duration;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.locks.LockSupport;
import java.util.function.Consumer;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** Idle grants of a process, as its store and an operator see them. */
@Timeout(60)
class IdleGrantTest {
  private static final LockOptions STICKY = LockOptions.DEFAULTS.withSticky(Duration.ofSeconds(10));
  private static final Duration SOON = Duration.ofSeconds(30);

  /** Records the requests and their form. */
  private static final class RecordingStore extends ForwardingStore {
    final List<String> requests = new CopyOnWriteArrayList<>();
    volatile boolean receives = true;

    /** Whether the granting answer says that another process waits. */
    volatile boolean wanted;

    /** Whether a push that overtakes that answer says so. */
    volatile boolean callsBackEarly;

    RecordingStore() {
      super(new MemStore(Ticker.SYSTEM, WallClock.SYSTEM));
    }

    @Override
    public StoreSession open(SessionSpec spec, Consumer<SessionNotification> hints) {
      return new ForwardingSession(super.open(spec, hints)) {
        @Override
        public void submit(Request request, Consumer<Reply> sink) {
          requests.add(request.getClass().getSimpleName());
          super.submit(
              request,
              reply -> {
                if (reply instanceof Reply.Granted && callsBackEarly) {
                  hints.accept(
                      new SessionNotification.Contended(request.name(), request.attempt()));
                }
                sink.accept(
                    wanted && reply instanceof Reply.Granted granted ? told(granted) : reply);
              });
        }

        @Override
        public void submitLater(Request request, Consumer<Reply> sink) {
          requests.add("later " + request.getClass().getSimpleName());
          super.submitLater(request, sink);
        }

        @Override
        public boolean receivesPushes() {
          return receives;
        }
      };
    }
  }

  private static Reply told(Reply.Granted granted) {
    return new Reply.Granted(
        granted.attempt(), granted.token(), granted.tokens(), true, granted.atMostLeft(), null);
  }

  private final RecordingStore store = new RecordingStore();

  private static void pass(DistributedLock lock) throws InterruptedException {
    lock.acquireWithin(SOON).close();
  }

  private static LockParticipant holder(EngineClient client, String name) {
    return client.admin().find(name).orElseThrow().holders().get(0);
  }

  @Test
  void givenIdleGrants_whenTheClientCloses_thenTheirReleasesMayTravelTogether() throws Exception {
    EngineClient client = TestClient.on(store);
    for (int i = 0; i < 500; i++) {
      pass(client.lock("many/" + i).with(STICKY));
    }
    store.requests.clear();
    client.close();
    assertThat(store.requests).hasSize(500).containsOnly("later Abandon");
  }

  @Test
  void givenGrantThatIsWantedAlready_thenItsWaiterHasTheLockFirst_andItIsGivenBackBehindIt()
      throws Exception {
    store.wanted = true;
    assertUsedOnceAndGivenBack();
  }

  @Test
  void givenCallBackThatIsFasterThanItsGrant_thenTheWaiterHasTheLockFirst_andItIsGivenBack()
      throws Exception {
    store.callsBackEarly = true;
    assertUsedOnceAndGivenBack();
  }

  private void assertUsedOnceAndGivenBack() throws Exception {
    try (EngineClient client = TestClient.on(store)) {
      try (Lease lease = client.lock("wanted").with(STICKY).acquireWithin(SOON)) {
        lease.ensureValid();
        assertThat(store.requests).containsOnlyOnce("Acquire").doesNotContain("Abandon");
      }
      assertThat(client.engine().footprint()).isZero();
      assertThat(store.requests).containsOnlyOnce("Abandon");
    }
  }

  @Test
  void givenSessionThatPushesDoNotReach_thenNothingStaysIdle() throws Exception {
    store.receives = false;
    try (EngineClient client = TestClient.on(store)) {
      pass(client.lock("deaf").with(STICKY));
      assertThat(client.engine().footprint()).isZero();
      store.receives = true;
    }
  }

  @Test
  void givenPushesThatDoNotArriveAnyMore_thenTheNextAcquireIsNotSticky() throws Exception {
    try (EngineClient client = TestClient.on(store)) {
      pass(client.lock("deaf").with(STICKY));
      assertThat(client.engine().footprint()).isEqualTo(1);
      store.receives = false;
      // Another name, so that the session sends a request.
      pass(client.lock("other").with(STICKY));
      pass(client.lock("deaf").with(STICKY));
      assertThat(client.engine().footprint()).isZero();
    }
  }

  @Test
  void givenStoreThatMayHaveForgotten_thenIdleGrantsAreNotTaken_andEndBehindTheLeases()
      throws Exception {
    try (EngineClient client = TestClient.on(store)) {
      for (int i = 0; i < 300; i++) {
        pass(client.lock("idle/" + i).with(STICKY));
      }
      List<Lease> leases = new ArrayList<>();
      for (int i = 0; i < 20; i++) {
        leases.add(client.lock("held/" + i).acquireWithin(SOON));
      }
      Engine engine = client.engine();
      store.requests.clear();
      inDoubt(LeaseLeakDetector.unwrap(leases.get(0)));
      while (engine.footprint() > leases.size()
          || Collections.frequency(store.requests, "later Abandon") < 300) {
        LockSupport.parkNanos(1_000_000);
      }
      assertThat(store.requests).filteredOn("Acquire"::equals).hasSize(20);
      assertThat(store.requests).filteredOn("later Abandon"::equals).hasSize(300);
      assertThat(store.requests.lastIndexOf("Acquire"))
          .isLessThan(store.requests.indexOf("later Abandon"));
      leases.forEach(Lease::ensureValid);
      leases.forEach(Lease::close);
    }
  }

  @Test
  void givenIdleGrant_thenOnlyItsOwnClientTellsForHowLongItIsKept() throws Exception {
    try (EngineClient client = TestClient.on(store);
        EngineClient other = TestClient.on(store)) {
      DistributedLock lock = client.lock("shown").with(STICKY);
      pass(lock);
      assertThat(holder(client, "shown").sticky()).isTrue();
      assertThat(holder(client, "shown").idleLeft())
          .isBetween(Duration.ofSeconds(1), Duration.ofSeconds(10));
      assertThat(holder(other, "shown").sticky()).isTrue();
      assertThat(holder(other, "shown").idleLeft()).isNull();
      try (Lease lease = lock.acquireWithin(SOON)) {
        assertThat(holder(client, "shown").idleLeft()).isNull();
        lease.ensureValid();
      }
    }
  }

  /** Makes the lease's store forget its answers to the session. */
  private static void inDoubt(LeaseImpl lease) {
    LiveSession session = lease.validity().session();
    session.listener().inDoubt(session);
  }
}
