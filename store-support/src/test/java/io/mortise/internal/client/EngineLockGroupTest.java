package io.mortise.internal.client;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.mortise.GroupLease;
import io.mortise.Lease;
import io.mortise.LockException;
import io.mortise.LockGroup;
import io.mortise.StoreUnavailableException;
import io.mortise.admin.LockInfo;
import io.mortise.spi.LockStore;
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
import java.util.List;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionException;
import java.util.concurrent.TimeUnit;
import java.util.function.BooleanSupplier;
import java.util.function.Consumer;
import java.util.function.Supplier;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

@Timeout(value = 30, threadMode = Timeout.ThreadMode.SEPARATE_THREAD)
class EngineLockGroupTest {
  private static final String[] TEN = {"a", "b", "c", "d", "e", "f", "g", "h", "i", "j"};
  private static final Duration LONG = Duration.ofSeconds(20);

  private final LockStore mem = new MemStore(Ticker.SYSTEM, WallClock.SYSTEM);

  /** Handles the answers to acquires. */
  private interface Answers {
    void submit(Request.Acquire acquire, Consumer<Reply> sink, StoreSession session);
  }

  private LockStore answering(Answers answers) {
    return new ForwardingStore(mem) {
      @Override
      public StoreSession open(SessionSpec spec, Consumer<SessionNotification> notifications) {
        StoreSession session = super.open(spec, notifications);
        return new ForwardingSession(session) {
          @Override
          public void submit(Request request, Consumer<Reply> sink) {
            if (request instanceof Request.Acquire acquire) {
              answers.submit(acquire, sink, session);
            } else {
              super.submit(request, sink);
            }
          }
        };
      }
    };
  }

  /** Answers no acquire before all ten have been sent. */
  private static final class AllAtOnce implements Answers {
    private final List<Runnable> withheld = new ArrayList<>();

    @Override
    public void submit(Request.Acquire acquire, Consumer<Reply> sink, StoreSession session) {
      List<Runnable> now = List.of();
      synchronized (withheld) {
        withheld.add(() -> session.submit(acquire, sink));
        if (withheld.size() == TEN.length) {
          now = List.copyOf(withheld);
          withheld.clear();
        }
      }
      now.forEach(Runnable::run);
    }
  }

  @Test
  void givenTenFreeLocks_whenTheyAreAcquired_thenAllAreAskedForBeforeTheFirstAnswer()
      throws Exception {
    try (EngineClient client = TestClient.on(answering(new AllAtOnce()))) {
      LockGroup group = client.allOf(TEN);
      group.acquire().close();
      group.acquireWithin(LONG).close();
      assertThat(group.tryAcquire()).get().satisfies(GroupLease::close);
      group.acquireAsync().get(20, TimeUnit.SECONDS).close();
      group.acquireAsync(LONG).get(20, TimeUnit.SECONDS).close();
      assertThat(group.tryAcquire(Duration.ZERO)).get().satisfies(GroupLease::close);
    }
  }

  @Test
  void givenOneThatIsHeld_whenTheGroupWaitsForIt_thenThoseBehindAreFree() throws Exception {
    try (EngineClient client = TestClient.on(mem);
        EngineClient other = TestClient.on(mem)) {
      List<Supplier<CompletableFuture<GroupLease>>> forms =
          List.of(
              () -> client.allOf(TEN).acquireAsync(),
              () -> CompletableFuture.supplyAsync(() -> acquire(client.allOf(TEN))));
      for (Supplier<CompletableFuture<GroupLease>> form : forms) {
        Lease held = other.lock("c").acquire();
        CompletableFuture<GroupLease> group = form.get();
        awaitHeld(other, "b");
        Lease behind = other.lock("j").acquireWithin(LONG);
        held.close();
        awaitHeld(other, "c");
        behind.close();
        GroupLease all = group.get(20, TimeUnit.SECONDS);
        assertThat(all.leases()).extracting(Lease::name).containsExactly(TEN);
        all.close();
      }
    }
  }

  @Test
  void givenGroupThatWaits_whenACallerCompletesIt_thenItWaitsAndHoldsNoMore() throws Exception {
    try (EngineClient client = TestClient.on(mem);
        EngineClient other = TestClient.on(mem)) {
      Lease held = other.lock("b").acquire();
      CompletableFuture<GroupLease> group = client.allOf("a", "b").acquireAsync();
      awaitHeld(other, "a");
      await(() -> !info(other, "b").waiters().isEmpty());
      group.complete(null);
      await(() -> info(other, "b").waiters().isEmpty());
      other.lock("a").acquireWithin(LONG).close();
      held.close();
    }
  }

  private static LockInfo info(EngineClient client, String name) {
    return client.admin().find(name).orElseThrow();
  }

  /** Bounded by the timeout of the test. */
  private static void await(BooleanSupplier condition) {
    while (!condition.getAsBoolean()) {
      Thread.onSpinWait();
    }
  }

  private static GroupLease acquire(LockGroup group) {
    try {
      return group.acquire();
    } catch (InterruptedException e) {
      throw new CompletionException(e);
    }
  }

  /** Bounded by the timeout of the test. */
  private static void awaitHeld(EngineClient client, String name) {
    while (client.lock(name).tryAcquire().map(EngineLockGroupTest::giveBack).orElse(false)) {
      Thread.onSpinWait();
    }
  }

  private static boolean giveBack(Lease lease) {
    lease.close();
    return true;
  }

  @Test
  void givenStoreThatFailsForOne_whenTheGroupIsTried_thenNoneIsLeft() throws Exception {
    Answers failing =
        (acquire, sink, session) -> {
          if (acquire.name().value().equals("e")) {
            sink.accept(
                new Reply.Failed(acquire.attempt(), false, new IllegalStateException("broken")));
          } else {
            session.submit(acquire, sink);
          }
        };
    try (EngineClient client = TestClient.on(answering(failing));
        EngineClient other = TestClient.on(mem)) {
      LockGroup group = client.allOf(TEN);
      assertThatThrownBy(group::tryAcquire).isInstanceOf(StoreUnavailableException.class);
      assertThatThrownBy(() -> group.acquireWithin(Duration.ofMillis(50)))
          .isInstanceOf(StoreUnavailableException.class);
      assertThatThrownBy(() -> group.acquireAsync(Duration.ofMillis(50)).get(20, TimeUnit.SECONDS))
          .hasCauseInstanceOf(StoreUnavailableException.class);
      for (String name : TEN) {
        assertThat(other.lock(name).tryAcquire(LONG)).as(name).get().satisfies(Lease::close);
      }
    }
  }

  @Test
  void givenAnswersThatComeOneByOne_whenTheTimeIsOver_thenItIsOverForAll() throws Exception {
    Answers never = (acquire, sink, session) -> {};
    try (EngineClient client = TestClient.on(answering(never))) {
      long began = System.nanoTime();
      assertThatThrownBy(() -> client.allOf(TEN).acquireWithin(Duration.ofMillis(500)))
          .isInstanceOf(LockException.class);
      assertThat(Duration.ofNanos(System.nanoTime() - began)).isLessThan(Duration.ofSeconds(4));
    }
  }

  @Test
  void givenInterruptedThread_whenItWantsAGroup_thenNoneIsHeld() throws Exception {
    try (EngineClient client = TestClient.on(mem)) {
      Thread.currentThread().interrupt();
      assertThatThrownBy(() -> client.allOf("a", "b").acquire())
          .isInstanceOf(InterruptedException.class);
      assertThat(client.lock("b").tryAcquire()).get().satisfies(Lease::close);
      assertThat(client.lock("a").tryAcquire()).get().satisfies(Lease::close);
    }
  }

  @Test
  void givenOutageThatPasses_whenTheGroupWaits_thenItIsGranted() throws Exception {
    boolean[] failed = {false};
    Answers once =
        (acquire, sink, session) -> {
          if (acquire.name().value().equals("e") && !failed[0]) {
            failed[0] = true;
            sink.accept(
                new Reply.Failed(acquire.attempt(), false, new IllegalStateException("broken")));
          } else {
            session.submit(acquire, sink);
          }
        };
    try (EngineClient client = TestClient.on(answering(once))) {
      client.allOf(TEN).acquire().close();
      failed[0] = false;
      client.allOf(TEN).acquireAsync().get(20, TimeUnit.SECONDS).close();
    }
  }

  @Test
  void givenGroupsInAnyOrder_whenTheyTryWaitAndGiveUpAtOnce_thenNoneIsLeft() throws Exception {
    try (EngineClient one = TestClient.on(mem);
        EngineClient two = TestClient.on(mem)) {
      List<CompletableFuture<Void>> threads = new ArrayList<>();
      for (int t = 0; t < 6; t++) {
        EngineClient client = t % 2 == 0 ? one : two;
        int kind = t % 3;
        threads.add(
            CompletableFuture.runAsync(
                () -> {
                  LockGroup group = client.allOf("c", "a", "b", "d");
                  for (int i = 0; i < 200; i++) {
                    takeAndRelease(group, kind, i);
                  }
                },
                task -> new Thread(task).start()));
      }
      for (CompletableFuture<Void> thread : threads) {
        thread.get(25, TimeUnit.SECONDS);
      }
      for (String name : List.of("a", "b", "c", "d")) {
        assertThat(two.lock(name).tryAcquire(LONG)).as(name).get().satisfies(Lease::close);
        assertThat(one.lock(name).tryAcquire(LONG)).as(name).get().satisfies(Lease::close);
      }
    }
  }

  private static void takeAndRelease(LockGroup group, int kind, int round) {
    try {
      Optional<GroupLease> taken =
          switch (kind) {
            case 0 -> Optional.of(group.acquire());
            case 1 -> group.tryAcquire();
            default -> {
              CompletableFuture<GroupLease> asked = group.acquireAsync();
              if (round % 2 == 0 && asked.cancel(true)) {
                yield Optional.empty();
              }
              yield Optional.of(asked.get(20, TimeUnit.SECONDS));
            }
          };
      taken.ifPresent(GroupLease::close);
    } catch (Exception e) {
      throw new CompletionException(e);
    }
  }
}
