package io.mortise.simulation;

import static io.mortise.testkit.BoundedWait.join;
import static org.assertj.core.api.Assertions.assertThat;

import io.mortise.Lease;
import io.mortise.LeaseLostException;
import io.mortise.LockClient;
import io.mortise.admin.Eviction;
import io.mortise.internal.client.EngineClient;
import io.mortise.internal.runtime.SystemEnv;
import io.mortise.spi.ClientLabel;
import io.mortise.spi.time.Ticker;
import io.mortise.spi.time.WallClock;
import io.mortise.support.memory.MemStore;
import io.mortise.testkit.BoundedWait;
import io.mortise.testkit.RecordingConsumer;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CountDownLatch;
import java.util.function.Consumer;
import java.util.stream.IntStream;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

/** Callbacks that call back into their client, block, or throw Errors. */
class ReentrantCallbackTest {
  private static final String NAME = "a";
  private static final Duration BOUND = BoundedWait.scaled(BoundedWait.ANSWER);

  /** More than any fixed pool would run concurrently. */
  private static final int CROWD = 100;

  private final MemStore store = new MemStore(Ticker.SYSTEM, WallClock.SYSTEM);
  private final List<LockClient> clients = new ArrayList<>();
  private final LockClient client = client();
  private final LockClient other = client();
  private final CountDownLatch end = new CountDownLatch(1);

  @AfterEach
  void close() {
    end.countDown();
    clients.forEach(LockClient::close);
    store.close();
  }

  private LockClient client() {
    SystemEnv system = new SystemEnv();
    LockClient made =
        new EngineClient(
            store,
            system.env(Duration.ofMinutes(5), new ClientLabel("-", 1, "test")),
            system::close);
    clients.add(made);
    return made;
  }

  private void evict() {
    other
        .admin()
        .find(NAME)
        .orElseThrow()
        .holders()
        .forEach(holder -> other.admin().evict(NAME, holder.attempt(), Eviction.BREAK));
  }

  private static void assertFree(LockClient asked) throws InterruptedException {
    assertThat(asked.lock(NAME).tryAcquire(BOUND)).hasValueSatisfying(Lease::close);
  }

  @Test
  void givenListenersThatThrowOrBlock_whenALeaseIsLost_thenTheOthersAreCalled() throws Exception {
    RecordingConsumer<LeaseLostException> told = new RecordingConsumer<>();
    Lease lease = client.lock(NAME).acquireWithin(BOUND);
    lease.onLost(
        loss -> {
          throw new AssertionError("thrown by a listener");
        });
    for (int i = 0; i < CROWD; i++) {
      lease.onLost(this::block);
    }
    lease.onLost(told);

    evict();

    assertThat(told.await(1)).hasSize(1);
    assertFree(client);
  }

  private void block(LeaseLostException loss) {
    try {
      end.await();
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
    }
  }

  @Test
  void givenListenerThatAcquiresTheLostLock_whenALeaseIsLost_thenItHoldsIt() throws Exception {
    CompletableFuture<Boolean> held = new CompletableFuture<>();
    Lease lease = client.lock(NAME).acquireWithin(BOUND);
    long token = lease.token();
    lease.onLost(
        completing(
            held,
            loss -> {
              try (Lease next = client.lock(NAME).acquireWithin(BOUND)) {
                return next.token() > token;
              }
            }));

    evict();

    assertThat(join(held)).isTrue();
    assertFree(other);
  }

  @Test
  void givenListenerThatClosesItsClient_whenALeaseIsLost_thenTheCloseReturns() throws Exception {
    CompletableFuture<Boolean> closed = new CompletableFuture<>();
    Lease lease = client.lock(NAME).acquireWithin(BOUND);
    lease.onLost(
        completing(
            closed,
            loss -> {
              client.close();
              return true;
            }));

    evict();

    assertThat(join(closed)).isTrue();
    assertFree(other);
  }

  /** A callback that may throw. */
  private interface Callback<T> {
    boolean call(T argument) throws Exception;
  }

  /** Completes the future with the outcome of the callback. */
  private static <T> Consumer<T> completing(
      CompletableFuture<Boolean> outcome, Callback<T> callback) {
    return argument -> {
      try {
        outcome.complete(callback.call(argument));
      } catch (Exception e) {
        outcome.completeExceptionally(e);
      }
    };
  }

  @Test
  void givenManyContinuationsThatBlockOnAnotherLock_thenAllAreServed() throws Exception {
    List<CompletableFuture<Boolean>> served =
        IntStream.range(0, CROWD)
            .mapToObj(
                i -> {
                  CompletableFuture<Boolean> one = new CompletableFuture<>();
                  var unused =
                      client
                          .lock("own/" + i)
                          .acquireAsync()
                          .thenAccept(completing(one, this::isHeldWithAnother));
                  return one;
                })
            .toList();
    served.forEach(one -> assertThat(join(one)).isTrue());
    assertFree(other);
  }

  private boolean isHeldWithAnother(Lease own) {
    try (own;
        Lease shared = join(client.lock(NAME).acquireAsync())) {
      return own.isValid() && shared.isValid();
    }
  }

  @Test
  void givenContinuationThatThrowsAnError_thenTheNextWaiterIsServed() throws Exception {
    Lease held = other.lock(NAME).acquireWithin(BOUND);
    CompletableFuture<Void> failing =
        client
            .lock(NAME)
            .acquireAsync()
            .thenCompose(
                lease -> {
                  var unused = lease.releaseAsync();
                  throw new StackOverflowError("thrown by a continuation");
                });
    CompletableFuture<Lease> next = client.lock(NAME).acquireAsync();
    held.close();
    join(next).close();
    assertThat(failing).failsWithin(BOUND);
  }

  @Test
  void givenContinuationThatClosesItsClient_thenTheCloseReturns_andTheLockIsFree()
      throws Exception {
    join(client.lock(NAME).acquireAsync().thenAccept(lease -> client.close()));
    assertFree(other);
  }
}
