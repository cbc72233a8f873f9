package io.mortise.simulation.toy;

import static org.assertj.core.api.Assertions.assertThat;

import io.mortise.HoldTerms;
import io.mortise.LockName;
import io.mortise.StoreUnfitException;
import io.mortise.spi.AttemptId;
import io.mortise.spi.LockStore;
import io.mortise.spi.Mode;
import io.mortise.spi.Reply;
import io.mortise.spi.Request;
import io.mortise.support.document.DocumentTooLargeException;
import io.mortise.support.document.VersionedDocuments;
import io.mortise.support.document.VersionedDocuments.DocumentWrite;
import io.mortise.testkit.BoundedWait;
import io.mortise.testkit.ManualTime;
import io.mortise.testkit.SessionDriver;
import java.lang.reflect.Proxy;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;

/** A queue in two documents, whose server is at its limit, or has lost one of them. */
class LongQueueTest {
  private static final LockName LOCK = LockName.of("crowded");
  private static final Duration TTL = Duration.ofHours(5);

  /** The most characters that the server takes in one request. */
  private static final int LIMIT = 48_000;

  private final ManualTime time = new ManualTime();
  private final ClocklessToyDocuments server = new ClocklessToyDocuments();
  private final LockStore store = ClocklessToyStoreUnderTest.open(limited(), time);
  private final SessionDriver a = SessionDriver.open(store, TTL, "a");
  private final SessionDriver b = SessionDriver.open(store, TTL, "b");

  private VersionedDocuments limited() {
    return (VersionedDocuments)
        Proxy.newProxyInstance(
            VersionedDocuments.class.getClassLoader(),
            new Class<?>[] {VersionedDocuments.class},
            (proxy, method, arguments) ->
                arguments != null && length(arguments) > LIMIT
                    ? CompletableFuture.failedFuture(new DocumentTooLargeException("too large"))
                    : method.invoke(server, arguments));
  }

  private static int length(Object[] arguments) {
    if (arguments[0] instanceof List<?> writes) {
      return writes.stream().mapToInt(write -> ((DocumentWrite) write).text().length()).sum();
    }
    return arguments.length == 3 && arguments[2] instanceof String text ? text.length() : 0;
  }

  private Reply enqueue(AttemptId attempt) {
    HoldTerms labelled = new HoldTerms(null, null, "x".repeat(100));
    return b.ask(new Request.Acquire(LOCK, attempt, Mode.EXCLUSIVE, true, labelled, 1, 0, null));
  }

  private List<AttemptId> queue(int most) {
    List<AttemptId> queue = new ArrayList<>();
    AttemptId next = b.attempt();
    while (queue.size() < most && enqueue(next) instanceof Reply.Queued queued) {
      assertThat(queued.ahead()).isEqualTo(queue.size());
      queue.add(next);
      next = b.attempt();
    }
    return queue;
  }

  @Test
  void givenQueueThatTheServerLetsGrowNoLonger_thenNewcomersAreRefused_andAllOthersAreServed() {
    AttemptId holder = a.hold(LOCK, Mode.EXCLUSIVE).attempt();
    List<AttemptId> queue = queue(1_000);
    assertThat(queue).hasSizeBetween(200, 500);
    a.end(LOCK, holder);
    for (AttemptId next : queue) {
      assertThat(enqueue(next)).isInstanceOf(Reply.Granted.class);
      assertThat(b.ask(new Request.Abandon(LOCK, next))).isInstanceOf(Reply.Ended.class);
    }
    a.hold(LOCK, Mode.EXCLUSIVE);
  }

  @Test
  void givenLaterWaiter_whenItAsksWithoutQueueing_thenItIsToldItsPlace() {
    a.hold(LOCK, Mode.EXCLUSIVE);
    List<AttemptId> queue = queue(50);
    assertThat(b.acquire(LOCK, queue.get(45), Mode.EXCLUSIVE))
        .isInstanceOfSatisfying(
            Reply.Queued.class, queued -> assertThat(queued.ahead()).isEqualTo(45));
    assertThat(b.acquire(LOCK, b.attempt(), Mode.EXCLUSIVE)).isInstanceOf(Reply.Busy.class);
  }

  @Test
  void givenQueueWhoseWaitersHaveAllDied_thenSweepsRemoveItsDocuments() {
    HoldTerms atLeast = new HoldTerms(null, Duration.ofMinutes(1), "");
    AttemptId holder = a.hold(LOCK, Mode.EXCLUSIVE, atLeast).attempt();
    queue(60);
    a.end(LOCK, holder);
    BoundedWait.join(b.session().close());
    for (int i = 0; i < 3; i++) {
      time.advance(Duration.ofMinutes(11));
      BoundedWait.join(store.sweep(100));
    }
    assertThat(BoundedWait.join(server.scan("lock/", "", 9))).isEmpty();
    assertThat(BoundedWait.join(server.scan("rear/", "", 9))).isEmpty();
  }

  @Test
  void givenLaterWaitersThatCannotBeRead_thenTheFailureNamesTheirDocument() {
    a.hold(LOCK, Mode.EXCLUSIVE);
    queue(50);
    write("rear/crowded", "rubbish");
    Reply reply = enqueue(b.attempt());
    assertThat(reply).isInstanceOf(Reply.Failed.class);
    assertThat(((Reply.Failed) reply).cause())
        .isInstanceOf(StoreUnfitException.class)
        .hasMessageContaining("'rear/crowded'");
  }

  @Test
  void givenLockThatWasRemovedByHand_thenASweepRemovesItsLaterWaiters() {
    a.hold(LOCK, Mode.EXCLUSIVE);
    queue(50);
    BoundedWait.join(store.sweep(100));
    assertThat(BoundedWait.join(server.scan("rear/", "", 9))).hasSize(1);
    write("lock/crowded", null);
    time.advance(Duration.ofMinutes(11));
    BoundedWait.join(store.sweep(100));
    assertThat(BoundedWait.join(server.scan("rear/", "", 9))).isEmpty();
  }

  private void write(String key, @Nullable String text) {
    BoundedWait.join(server.compareAndSet(key, BoundedWait.join(server.read(key)), text));
  }
}
