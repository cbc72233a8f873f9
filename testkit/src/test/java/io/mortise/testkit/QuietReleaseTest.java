package io.mortise.testkit;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import io.mortise.Lease;
import io.mortise.LockClient;
import io.mortise.LockOptions;
import io.mortise.internal.table.MemStore;
import io.mortise.spi.AttemptId;
import io.mortise.spi.LockName;
import io.mortise.spi.LockPage;
import io.mortise.spi.LockQuery;
import io.mortise.spi.LockStore;
import io.mortise.spi.News;
import io.mortise.spi.Renewal;
import io.mortise.spi.Reply;
import io.mortise.spi.Request;
import io.mortise.spi.SessionId;
import io.mortise.spi.SessionSpec;
import io.mortise.spi.StoreProfile;
import io.mortise.spi.StoreSession;
import io.mortise.spi.Verdict;
import java.util.List;
import java.util.Queue;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.TimeUnit;
import java.util.function.Consumer;
import org.junit.jupiter.api.Test;

/** Which releases a store may keep for a moment, and which not. */
class QuietReleaseTest {
  private static final LockOptions ASYNC = LockOptions.DEFAULTS.withReleaseAsync(true);

  /** How each abandon was submitted. */
  private final Queue<String> ends = new ConcurrentLinkedQueue<>();

  private final MemStore store = new MemStore();

  @Test
  void givenAsynchronousRelease_thenTheStoreMayKeepIt() throws Exception {
    try (LockClient client = client()) {
      client.lock("a", ASYNC).acquire().close();
      assertThat(ends).containsExactly("later");
    }
  }

  @Test
  void givenSomebodyWaitsForTheAnswer_thenItLeavesAtOnce() throws Exception {
    try (LockClient client = client()) {
      client.lock("a").acquire().close();
      client.lock("a", ASYNC).acquire().releaseAsync().get(10, TimeUnit.SECONDS);
      assertThat(ends).containsExactly("at once", "at once");
    }
  }

  @Test
  void givenAnotherProcessWaits_thenItLeavesAtOnce() throws Exception {
    try (LockClient client = client();
        LockClient other = LockClient.builder().store(new StoreLink(store)).build()) {
      Lease lease = client.lock("a", ASYNC).acquire();
      CompletableFuture<Lease> waiting = other.lock("a").acquireAsync();
      await().until(() -> waitersOf("a") == 1);
      lease.close();
      assertThat(ends).containsExactly("at once");
      waiting.get(10, TimeUnit.SECONDS).close();
    }
  }

  private long waitersOf(String name) {
    return store
        .inspect(LockQuery.of(LockName.of(name)))
        .toCompletableFuture()
        .join()
        .locks()
        .stream()
        .mapToLong(view -> view.waiters().size())
        .sum();
  }

  private LockClient client() {
    return LockClient.builder().store(new Watched()).build();
  }

  private final class Watched implements LockStore {
    @Override
    public StoreProfile profile() {
      return store.profile();
    }

    @Override
    public StoreSession open(SessionSpec spec, Consumer<News> hints) {
      return new WatchedSession(store.open(spec, hints));
    }

    @Override
    public CompletionStage<Verdict> judge(SessionId session) {
      return store.judge(session);
    }

    @Override
    public CompletionStage<LockPage> inspect(LockQuery query) {
      return store.inspect(query);
    }

    @Override
    public CompletionStage<Reply.Ended> evict(LockName name, AttemptId attempt, Eviction how) {
      return store.evict(name, attempt, how);
    }

    @Override
    public CompletionStage<Integer> sweep(int budget) {
      return store.sweep(budget);
    }

    @Override
    public void close() {}
  }

  private final class WatchedSession implements StoreSession {
    private final StoreSession session;

    WatchedSession(StoreSession session) {
      this.session = session;
    }

    @Override
    public SessionId id() {
      return session.id();
    }

    @Override
    public void submit(Request request, Consumer<Reply> sink) {
      note(request, "at once");
      session.submit(request, sink);
    }

    @Override
    public void submitLater(Request request, Consumer<Reply> sink) {
      note(request, "later");
      session.submit(request, sink);
    }

    private void note(Request request, String how) {
      if (request instanceof Request.Abandon) {
        ends.add(how);
      }
    }

    @Override
    public CompletionStage<Renewal> renew(long previous, long next, List<Long> seen) {
      return session.renew(previous, next, seen);
    }

    @Override
    public CompletionStage<Void> close() {
      return session.close();
    }
  }
}
