package io.mortise.simulation;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import io.mortise.Lease;
import io.mortise.LockOptions;
import io.mortise.internal.client.EngineClient;
import io.mortise.internal.runtime.EngineRules;
import io.mortise.spi.AttemptId;
import io.mortise.spi.LockStore;
import io.mortise.spi.Reply;
import io.mortise.spi.Reply.RefusalReason;
import io.mortise.spi.Request;
import io.mortise.spi.SessionNotification;
import io.mortise.spi.StoreSession;
import io.mortise.spi.time.Ticker;
import io.mortise.spi.time.WallClock;
import io.mortise.support.memory.MemStore;
import java.io.IOException;
import java.time.Duration;
import java.util.Queue;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.TimeUnit;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;

/**
 * Rare failures found by the simulation (once in a million worlds) and by a model, step by step.
 */
class StragglerTest {
  private static final Duration TTL = Duration.ofMinutes(5);
  private static final Duration LONG = Duration.ofSeconds(30);

  private final MemStore table = new MemStore(Ticker.SYSTEM, WallClock.SYSTEM);

  @Test
  void givenStragglerAfterRelease_whenItIsMetBeforeTheReleaseIsAnswered_thenItDies()
      throws Exception {
    SlowReplyStore slow = new SlowReplyStore(table);
    try (EngineClient holder = client(slow, "holder");
        EngineClient contender = client(table, "contender")) {
      Lease first = holder.lock("job").with(LockOptions.DEFAULTS.withReleaseAsync(true)).acquire();
      slow.holdsBack = true;
      first.close();
      // The release is executed but not answered yet; then a copy of the acquire arrives. Another
      // abandon in between made the table forget the release.
      contender.lock("job").acquire().close();
      slow.repeatAcquire();
      var waits = contender.lock("job").acquireAsync();
      slow.answer();

      assertThat(waits.get(30, TimeUnit.SECONDS).isValid()).isTrue();
    }
  }

  @Test
  void givenStragglerInTheQueue_whenItIsHandedTheLockBeforeTheReleaseIsAnswered_thenItDies()
      throws Exception {
    SlowReplyStore slow = new SlowReplyStore(table);
    try (EngineClient holder = client(slow, "holder");
        EngineClient present = client(table, "present");
        EngineClient contender = client(table, "contender")) {
      Lease first = holder.lock("job").with(LockOptions.DEFAULTS.withReleaseAsync(true)).acquire();
      slow.holdsBack = true;
      first.close();
      present.lock("job").acquire().close();
      Lease second = present.lock("job").acquire();
      slow.repeatAcquire();
      // The hand-off tells the new holder of the next waiter, and is the only notification of it.
      var waits = contender.lock("job").acquireAsync();
      await()
          .atMost(LONG)
          .until(() -> present.admin().find("job").orElseThrow().waiters().size() == 2);
      second.close();
      await().atMost(LONG).until(() -> slow.heard);
      slow.answer();

      assertThat(waits.get(30, TimeUnit.SECONDS).isValid()).isTrue();
    }
  }

  @Test
  void givenRequestInDoubt_whenItsAttemptIsSaidToHaveEnded_thenThatAttemptIsEndedAgain()
      throws Exception {
    EndedAttemptStore store = new EndedAttemptStore(table);
    try (EngineClient client = client(store, "client")) {
      client.lock("job").acquire().close();

      await().atMost(LONG).until(() -> store.ended.contains(store.first));
    }
  }

  private static EngineClient client(LockStore store, String name) {
    return InterceptingStore.client(store, name, TTL, EngineRules.ALL);
  }

  /** The table, whose answers to abandons can be delayed. */
  private static final class SlowReplyStore extends InterceptingStore {
    private volatile boolean holdsBack;
    private volatile boolean heard;
    private volatile Runnable repeat = () -> {};
    private final Queue<Runnable> answers = new ConcurrentLinkedQueue<>();

    SlowReplyStore(MemStore table) {
      super(table);
    }

    void repeatAcquire() {
      repeat.run();
    }

    /**
     * Answers the release. Another thread may have sent it, so its answer may still be in flight.
     */
    void answer() {
      await().atMost(LONG).until(() -> !answers.isEmpty());
      holdsBack = false;
      giveAll();
    }

    private void giveAll() {
      for (Runnable next = answers.poll(); next != null; next = answers.poll()) {
        next.run();
      }
    }

    @Override
    void hint(Consumer<SessionNotification> hints, SessionNotification sessionNotification) {
      hints.accept(sessionNotification);
      heard |= sessionNotification instanceof SessionNotification.HoldGranted;
    }

    @Override
    void submit(StoreSession session, Request request, Consumer<Reply> sink) {
      if (request instanceof Request.Acquire) {
        repeat = () -> session.submit(request, reply -> {});
      }
      if (request instanceof Request.Abandon && holdsBack) {
        session.submit(
            request,
            reply -> {
              answers.add(() -> sink.accept(reply));
              if (!holdsBack) {
                giveAll();
              }
            });
      } else {
        session.submit(request, sink);
      }
    }
  }

  /** The first request of the first attempt is lost; the next is told that the attempt is over. */
  private static final class EndedAttemptStore extends InterceptingStore {
    private final Queue<AttemptId> ended = new ConcurrentLinkedQueue<>();
    private int acquires;
    private volatile @Nullable AttemptId first;

    EndedAttemptStore(MemStore table) {
      super(table);
    }

    @Override
    void submit(StoreSession session, Request request, Consumer<Reply> sink) {
      if (request instanceof Request.Abandon abandon) {
        ended.add(abandon.attempt());
      }
      if (request instanceof Request.Acquire acquire && acquires++ < 2) {
        first = acquire.attempt();
        sink.accept(
            acquires == 1
                ? new Reply.Failed(acquire.attempt(), true, new IOException("lost"))
                : new Reply.Refused(acquire.attempt(), RefusalReason.ENDED, "ended"));
      } else {
        session.submit(request, sink);
      }
    }
  }
}
