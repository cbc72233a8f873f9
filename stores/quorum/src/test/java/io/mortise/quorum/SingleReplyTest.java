package io.mortise.quorum;

import static org.assertj.core.api.Assertions.assertThat;

import io.mortise.HoldTerms;
import io.mortise.LockName;
import io.mortise.spi.AttemptId;
import io.mortise.spi.Capability;
import io.mortise.spi.ClientLabel;
import io.mortise.spi.LockStore;
import io.mortise.spi.Mode;
import io.mortise.spi.Renewal;
import io.mortise.spi.Reply;
import io.mortise.spi.Request;
import io.mortise.spi.SessionId;
import io.mortise.spi.SessionSpec;
import io.mortise.spi.StoreSession;
import io.mortise.spi.time.Ticker;
import io.mortise.support.memory.MemStore;
import io.mortise.support.table.TableRules;
import io.mortise.testkit.BoundedWait;
import java.time.Duration;
import java.util.ArrayList;
import java.util.EnumSet;
import java.util.List;
import java.util.Random;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicLong;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/**
 * Members answer on threads of their own, and several threads send requests for one lock: each
 * request is answered exactly once in any interleaving. An engine that gets a fresh block of tokens
 * twice would hand out its tokens twice.
 */
class SingleReplyTest {
  private static final LockName LOCK = LockName.of("x");
  private static final int THREADS = 4;
  private static final int ROUNDS = 2_000;

  private final List<ExecutorService> threads = new ArrayList<>();

  @AfterEach
  void stopThreads() {
    threads.forEach(ExecutorService::shutdownNow);
  }

  @Test
  @Timeout(120)
  void givenMembersAndCallersThatMeet_thenEachRequestIsAnsweredExactlyOnce() throws Exception {
    List<LockStore> members = new ArrayList<>();
    for (int i = 0; i < 3; i++) {
      ExecutorService thread = Executors.newSingleThreadExecutor();
      threads.add(thread);
      members.add(
          new AsyncMember(
              new MemStore(
                  EnumSet.allOf(Capability.class),
                  Ticker.SYSTEM,
                  System.currentTimeMillis() * 1000,
                  TableRules.ALL),
              thread));
    }
    try (LockStore store = QuorumStore.over(members, MemMembers.PATIENT)) {
      SessionId id = SessionId.random(new Random(1));
      StoreSession session =
          store.open(
              new SessionSpec(id, Duration.ofMinutes(10), new ClientLabel("host", 1, "once")),
              notifications -> {});
      assertThat(BoundedWait.join(session.renew(0, 1, List.of())))
          .isInstanceOf(Renewal.Renewed.class);
      AtomicLong numbers = new AtomicLong();
      List<AtomicInteger> answers = new ArrayList<>();
      ExecutorService callers = Executors.newFixedThreadPool(THREADS);
      threads.add(callers);
      for (int thread = 0; thread < THREADS; thread++) {
        List<AtomicInteger> mine = new ArrayList<>();
        for (int i = 0; i < 3 * ROUNDS; i++) {
          mine.add(new AtomicInteger());
        }
        answers.addAll(mine);
        callers.execute(
            () -> {
              for (int i = 0; i < 3 * ROUNDS; i += 3) {
                AttemptId attempt = new AttemptId(id, numbers.incrementAndGet());
                ask(session, acquire(attempt), mine.get(i));
                ask(session, adjust(attempt), mine.get(i + 1));
                ask(session, new Request.Abandon(LOCK, attempt), mine.get(i + 2));
              }
            });
      }
      // No answer can come any more when all threads have ended.
      callers.shutdown();
      assertThat(callers.awaitTermination(100, TimeUnit.SECONDS)).isTrue();
      for (ExecutorService member : threads) {
        member.shutdown();
        assertThat(member.awaitTermination(10, TimeUnit.SECONDS)).isTrue();
      }
      assertThat(answers).allSatisfy(count -> assertThat(count).hasValue(1));
    }
  }

  private static Request acquire(AttemptId attempt) {
    return new Request.Acquire(LOCK, attempt, Mode.EXCLUSIVE, false, HoldTerms.NONE, 1, 0, null);
  }

  private static Request adjust(AttemptId attempt) {
    return new Request.Adjust(LOCK, attempt, Mode.EXCLUSIVE, HoldTerms.NONE, 1, 0);
  }

  /** Counts its answers; returns after the first. */
  private static void ask(StoreSession session, Request request, AtomicInteger count) {
    CompletableFuture<Reply> first = new CompletableFuture<>();
    session.submit(
        request,
        reply -> {
          count.incrementAndGet();
          first.complete(reply);
        });
    BoundedWait.join(first);
  }
}
