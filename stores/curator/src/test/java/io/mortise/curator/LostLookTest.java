package io.mortise.curator;

import static org.assertj.core.api.Assertions.assertThat;

import io.mortise.Lease;
import io.mortise.LockClient;
import io.mortise.LockName;
import io.mortise.spi.AttemptId;
import io.mortise.spi.LockStore;
import io.mortise.spi.Mode;
import io.mortise.spi.Reply;
import io.mortise.spi.SessionNotification;
import io.mortise.testkit.BoundedWait;
import io.mortise.testkit.SessionDriver;
import io.mortise.testkit.server.FaultInjectionProxy;
import io.mortise.testkit.server.FaultInjectionProxy.NetworkCondition;
import java.io.IOException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.TimeUnit;
import java.util.stream.Stream;
import org.apache.zookeeper.AsyncCallback.ChildrenCallback;
import org.apache.zookeeper.AsyncCallback.DataCallback;
import org.apache.zookeeper.Watcher;
import org.apache.zookeeper.ZooKeeper;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.Arguments;
import org.junit.jupiter.params.provider.MethodSource;

/**
 * A watch fires, and the connection breaks before the following look is answered. The watch is
 * gone, and the session lives on.
 */
class LostLookTest {
  private static final LockName LOCK = LockName.of("a");
  private static final int READERS = 12;

  /** The engine polls for four attempts on a new connection; for four more after a third of it. */
  private static final Duration TTL = Duration.ofSeconds(60);

  private final MixedFleet mixedFleet = new MixedFleet();
  private final FaultInjectionProxy line =
      mixedFleet.closedLater(FaultInjectionProxy.to(MixedFleet.server().port()));
  private final Set<Watcher> looked = ConcurrentHashMap.newKeySet();
  private final Set<Watcher> watching = ConcurrentHashMap.newKeySet();
  private @Nullable ZooKeeper client;

  @AfterEach
  void closeFleet() throws Exception {
    mixedFleet.close();
  }

  /** Records the watchers of its reads. */
  @SuppressWarnings("try") // Closing may be interrupted.
  private final class RecordingClient extends ZooKeeper {
    RecordingClient() throws IOException {
      super("127.0.0.1:" + line.port(), Math.toIntExact(TTL.toMillis()), event -> {});
    }

    @Override
    public void getData(
        String path, @Nullable Watcher watcher, DataCallback callback, Object context) {
      record(watcher);
      super.getData(
          path,
          watcher,
          (rc, asked, given, data, stat) -> {
            callback.processResult(rc, asked, given, data, stat);
            if (rc == 0 && watcher != null) {
              watching.add(watcher);
            }
          },
          context);
    }

    @Override
    public void getChildren(
        String path, @Nullable Watcher watcher, ChildrenCallback callback, Object context) {
      record(watcher);
      super.getChildren(path, watcher, callback, context);
    }

    private void record(@Nullable Watcher watcher) {
      if (watcher != null) {
        looked.add(watcher);
      }
    }
  }

  /** A store over one client behind the line. */
  private LockStore store() throws IOException {
    ZooKeeper recording = mixedFleet.closedLater(new RecordingClient());
    client = recording;
    return mixedFleet.closedLater(
        CuratorStore.over(
            () -> recording,
            CuratorOptions.DEFAULT
                .withBase(mixedFleet.base())
                .withRecipe(CuratorStore.LockRecipe.READ_WRITE)
                .withTick(Duration.ofMillis(100))));
  }

  private SessionDriver holder() {
    LockStore store = mixedFleet.closedLater(CuratorStore.open(mixedFleet.url("readwrite")));
    return SessionDriver.open(store, TTL, "holder");
  }

  /** The event of the release arrives; the requests that it causes are lost with the connection. */
  private void loseLooksAfter(Runnable release, int looks) {
    long session = sessionId();
    looked.clear();
    line.condition(NetworkCondition.REQUESTS_HELD);
    release.run();
    BoundedWait.until(MixedFleet.LONG, looks + " looked", () -> looked.size() >= looks);
    line.reset();
    line.condition(NetworkCondition.FAIR);
    assertThat(sessionId()).isEqualTo(session);
  }

  private long sessionId() {
    return client == null ? 0 : client.getSessionId();
  }

  @Test
  void givenReadersOfOneProcess_whenTheirLooksAreLost_thenAllHoldBeforeTheEnginePollsForThem()
      throws Exception {
    Lease writer =
        mixedFleet
            .mortise("readwrite")
            .readWriteLock("a")
            .writeLock()
            .acquireWithin(MixedFleet.LONG);
    LockClient readers =
        mixedFleet.closedLater(LockClient.builder().store(store()).ttl(TTL).build());
    List<CompletableFuture<Lease>> waiting = new ArrayList<>();
    for (int i = 0; i < READERS; i++) {
      waiting.add(readers.readWriteLock("a").readLock().acquireAsync(MixedFleet.LONG));
    }
    BoundedWait.until(MixedFleet.LONG, "all wait", () -> watching.size() == READERS);

    loseLooksAfter(writer::close, READERS);

    CompletableFuture.allOf(waiting.toArray(new CompletableFuture<?>[0]))
        .get(BoundedWait.scaled(TTL).toMillis() / 4, TimeUnit.MILLISECONDS);
    waiting.forEach(reader -> reader.join().close());
  }

  /** The mode that is held, and the one that is waited for. */
  static Stream<Arguments> modes() {
    Mode permits = Mode.permits(2, 2);
    return Stream.of(
        Arguments.of(Mode.EXCLUSIVE, Mode.EXCLUSIVE),
        Arguments.of(Mode.EXCLUSIVE, Mode.SHARED),
        Arguments.of(permits, permits));
  }

  @ParameterizedTest
  @MethodSource("modes")
  void givenWaiterThatNobodyPollsFor_whenItsLookIsLost_thenItIsGrantedOverTheNextConnection(
      Mode taken, Mode wanted) throws Exception {
    SessionDriver holder = holder();
    AttemptId held = holder.hold(LOCK, taken).attempt();
    SessionDriver waiter = SessionDriver.open(store(), TTL, "waiter");
    AttemptId waiting = waiter.queued(LOCK, wanted);

    loseLooksAfter(() -> holder.end(LOCK, held), 1);

    awaitGrant(waiter, waiting);
  }

  /** Its place in the line comes free, and later the permits. */
  @Test
  void givenSecondWaiterForPermits_whenItsLookAtTheLineIsLost_thenItIsGrantedInItsTurn()
      throws Exception {
    Mode all = Mode.permits(2, 2);
    SessionDriver holder = holder();
    AttemptId held = holder.hold(LOCK, all).attempt();
    AttemptId first = holder.queued(LOCK, all);
    SessionDriver waiter = SessionDriver.open(store(), TTL, "waiter");
    AttemptId waiting = waiter.queued(LOCK, all);

    loseLooksAfter(() -> holder.end(LOCK, first), 1);
    holder.end(LOCK, held);

    awaitGrant(waiter, waiting);
  }

  @Test
  void givenWaiterWhoseNodeWasDeleted_whenItLooksUnasked_thenItIsTold() throws Exception {
    SessionDriver holder = holder();
    AttemptId held = holder.hold(LOCK, Mode.EXCLUSIVE).attempt();
    SessionDriver waiter = SessionDriver.open(store(), TTL, "waiter");
    AttemptId waiting = waiter.queued(LOCK, Mode.EXCLUSIVE);
    String path = mixedFleet.path("a");
    for (String node : mixedFleet.nodes(path)) {
      if (ProtectedNodeName.attempt(node).equals(waiting)) {
        mixedFleet.looking().delete().forPath(path + "/" + node);
      }
    }

    holder.end(LOCK, held);

    BoundedWait.until(
        MixedFleet.LONG,
        "its end was told",
        () ->
            waiter.hints().all().stream()
                .anyMatch(
                    hint ->
                        hint instanceof SessionNotification.HoldEnded
                            && hint.attempt().equals(waiting)));
  }

  @Test
  void givenWaiterBehindAnother_whenTheHolderHasChanged_thenItsPollNamesTheNewHolder()
      throws Exception {
    SessionDriver holder = holder();
    AttemptId held = holder.hold(LOCK, Mode.EXCLUSIVE).attempt();
    AttemptId next = holder.queued(LOCK, Mode.EXCLUSIVE);
    SessionDriver waiter = SessionDriver.open(store(), TTL, "waiter");
    holder.queued(LOCK, Mode.EXCLUSIVE);
    AttemptId last = waiter.queued(LOCK, Mode.EXCLUSIVE);
    holder.end(LOCK, held);

    Reply.Queued polled = (Reply.Queued) waiter.enqueue(LOCK, last, Mode.EXCLUSIVE);

    assertThat(polled.holder()).isNotNull();
    assertThat(polled.holder().attempt()).isEqualTo(next);
  }

  private static void awaitGrant(SessionDriver waiter, AttemptId attempt) {
    BoundedWait.until(
        BoundedWait.ANSWER,
        "it was granted",
        () ->
            waiter.hints().all().stream()
                .anyMatch(
                    hint ->
                        hint instanceof SessionNotification.HoldGranted
                            && hint.attempt().equals(attempt)));
  }
}
