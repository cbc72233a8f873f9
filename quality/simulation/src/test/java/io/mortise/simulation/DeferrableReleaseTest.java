package io.mortise.simulation;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import io.mortise.Lease;
import io.mortise.LockClient;
import io.mortise.LockOptions;
import io.mortise.admin.LockQuery;
import io.mortise.spi.Reply;
import io.mortise.spi.Request;
import io.mortise.spi.SessionNotification;
import io.mortise.spi.StoreSession;
import io.mortise.spi.time.Ticker;
import io.mortise.spi.time.WallClock;
import io.mortise.support.memory.MemStore;
import io.mortise.testkit.StoreLink;
import java.util.Queue;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.TimeUnit;
import java.util.function.Consumer;
import org.junit.jupiter.api.Test;

/** Only some releases may be delayed by a store for a moment. */
class DeferrableReleaseTest {
  private static final LockOptions ASYNC = LockOptions.DEFAULTS.withReleaseAsync(true);

  /** The way in which each abandon was submitted. */
  private final Queue<String> ends = new ConcurrentLinkedQueue<>();

  /** The holder has been notified of a waiter. */
  private volatile boolean wanted;

  private final MemStore store = new MemStore(Ticker.SYSTEM, WallClock.SYSTEM);

  @Test
  void givenAsynchronousRelease_thenTheStoreMayKeepIt() throws Exception {
    try (LockClient client = client()) {
      client.lock("a", ASYNC).acquire().close();
      assertEnded("later");
    }
  }

  @Test
  void givenSomebodyWaitsForTheAnswer_thenItLeavesAtOnce() throws Exception {
    try (LockClient client = client()) {
      client.lock("a").acquire().close();
      client.lock("a", ASYNC).acquire().releaseAsync().get(60, TimeUnit.SECONDS);
      assertEnded("at once", "at once");
    }
  }

  @Test
  void givenAnotherProcessWaits_thenItLeavesAtOnce() throws Exception {
    try (LockClient client = client();
        LockClient other = LockClient.builder().store(new StoreLink(store)).build()) {
      Lease lease = client.lock("a", ASYNC).acquire();
      CompletableFuture<Lease> waiting = other.lock("a").acquireAsync();
      await().until(() -> waitersOf("a") == 1 && wanted);
      lease.close();
      assertEnded("at once");
      waiting.get(60, TimeUnit.SECONDS).close();
    }
  }

  /** Any thread that drains the queue may send releases that nobody awaits. */
  private void assertEnded(String... how) {
    await().untilAsserted(() -> assertThat(ends).containsExactly(how));
  }

  private long waitersOf(String name) {
    return store.inspect(LockQuery.of(name)).toCompletableFuture().join().items().stream()
        .mapToLong(view -> view.waiters().size())
        .sum();
  }

  private LockClient client() {
    return LockClient.builder().store(new SubmissionRecorder()).build();
  }

  private final class SubmissionRecorder extends InterceptingStore {
    SubmissionRecorder() {
      super(store);
    }

    @Override
    void submit(StoreSession session, Request request, Consumer<Reply> sink) {
      note(request, "at once");
      session.submit(request, sink);
    }

    @Override
    void submitLater(StoreSession session, Request request, Consumer<Reply> sink) {
      note(request, "later");
      session.submit(request, sink);
    }

    @Override
    void hint(Consumer<SessionNotification> hints, SessionNotification sessionNotification) {
      super.hint(hints, sessionNotification);
      wanted |= sessionNotification instanceof SessionNotification.Contended;
    }

    private void note(Request request, String how) {
      if (request instanceof Request.Abandon) {
        ends.add(how);
      }
    }
  }
}
