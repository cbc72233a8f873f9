package io.mortise.curator;

import io.mortise.LockName;
import io.mortise.internal.queue.BoundedMap;
import io.mortise.internal.queue.OutboxLock;
import io.mortise.spi.AttemptId;
import io.mortise.spi.Mode;
import io.mortise.spi.Renewal;
import io.mortise.spi.Reply;
import io.mortise.spi.Reply.AttemptState;
import io.mortise.spi.Reply.EndReason;
import io.mortise.spi.Reply.RefusalReason;
import io.mortise.spi.Request;
import io.mortise.spi.SessionId;
import io.mortise.spi.SessionNotification;
import io.mortise.spi.SessionSpec;
import io.mortise.spi.SessionVerdict;
import io.mortise.spi.StoreSession;
import io.mortise.support.internal.session.NotificationBuffer;
import io.mortise.support.internal.session.Refusals;
import io.mortise.zookeeper.internal.AsyncNodeClient;
import io.mortise.zookeeper.internal.Countdown;
import io.mortise.zookeeper.internal.DelayedTaskScheduler;
import io.mortise.zookeeper.internal.SessionLayout;
import io.mortise.zookeeper.internal.SessionRenewal;
import io.mortise.zookeeper.internal.ZooKeeperConnection;
import java.time.Duration;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.Future;
import java.util.function.Consumer;
import org.apache.zookeeper.KeeperException.Code;
import org.apache.zookeeper.ZooKeeper;
import org.apache.zookeeper.data.Stat;
import org.jspecify.annotations.Nullable;

/**
 * A session of the engine, which is a ZooKeeper session: it owns all nodes, and the server deletes
 * them when it ends. Has the attempts; {@link SessionRenewal} keeps it alive.
 *
 * <p><b>Guard.</b> One lock guards this and all its {@link CuratorAttempt}s. Requests are sent
 * under it (they only join a queue), sinks and hints are called after its release.
 */
final class CuratorSession implements StoreSession, SessionLayout {
  private static final int REMEMBERED = 1_000;

  /** A look takes two or three round trips. */
  private static final long LOOK_NANOS = 200_000_000;

  /** The pause before a failed look is repeated. */
  private static final long RETRY_NANOS = 1_000_000_000;

  private final CuratorLockStore store;
  private final SessionSpec spec;
  private final Consumer<SessionNotification> hints;
  private final OutboxLock guard = new OutboxLock();
  private final Map<AttemptId, CuratorAttempt> curatorAttempts = new HashMap<>();

  /**
   * Attempts with requests that wait for an earlier one; others of the same lock wait for these.
   */
  private final Map<LockName, CuratorAttempt> inLine = new HashMap<>();

  private final NotificationBuffer notifications = new NotificationBuffer();
  private final SessionRenewal sessionRenewal;
  private @Nullable AsyncNodeClient asyncNodeClient;

  private final Map<AttemptId, Reply.Ended> ended = new BoundedMap<>(REMEMBERED);

  CuratorSession(CuratorLockStore store, SessionSpec spec, Consumer<SessionNotification> hints) {
    this.store = store;
    this.spec = spec;
    this.hints = hints;
    this.sessionRenewal = new SessionRenewal(store.resources(), spec, guard, notifications, this);
  }

  @Override
  public void onConnectionLost(Consumer<String> lost) {
    sessionRenewal.onConnectionLost(lost);
  }

  @Override
  public SessionId id() {
    return spec.id();
  }

  Duration ttl() {
    return spec.ttl();
  }

  String storeName() {
    return store.profile().display();
  }

  // ---- For attempts ----

  /** Changes state; sends the resulting notifications afterwards. */
  void step(Runnable change) {
    guard.run(change);
  }

  void after(Runnable effect) {
    guard.afterUnlock(effect);
  }

  AsyncNodeClient nodes() {
    if (asyncNodeClient == null) {
      throw new IllegalStateException("The session was never opened.");
    }
    return asyncNodeClient;
  }

  /** Whether the servers have surely stopped answering in its name. */
  boolean isOver() {
    return sessionRenewal.isGone();
  }

  boolean owns(Stat node) {
    return node.getEphemeralOwner() == nodes().client().getSessionId();
  }

  byte[] note(Request.@Nullable Acquire request) {
    return new NodeDescription(
            spec.client(),
            spec.ttl(),
            request == null ? Mode.SHARERS : request.mode().capacity(),
            request == null ? "" : request.terms().label())
        .encoded();
  }

  void tell(SessionNotification item) {
    notifications.add(item);
    after(() -> hints.accept(item));
  }

  boolean knows(CuratorAttempt curatorAttempt) {
    return curatorAttempts.get(curatorAttempt.attempt) == curatorAttempt;
  }

  void forget(CuratorAttempt curatorAttempt, AttemptState attemptState, EndReason endReason) {
    if (curatorAttempts.remove(curatorAttempt.attempt, curatorAttempt)) {
      notifications.forget(curatorAttempt.attempt);
      ended.put(
          curatorAttempt.attempt,
          new Reply.Ended(curatorAttempt.attempt, attemptState, endReason, false));
    }
  }

  void drop(CuratorAttempt curatorAttempt) {
    curatorAttempts.remove(curatorAttempt.attempt, curatorAttempt);
  }

  /** Runs the task, inside a step, once a request has been in flight for too long. */
  Future<?> afterRequestTimeout(Runnable task) {
    return store
        .resources()
        .timer()
        .cancellable(store.requestTimeout().toNanos(), () -> step(task));
  }

  /**
   * Repeats a failed look after a pause. While the connection is down, {@link #reconnected} does.
   */
  void lookLater(CuratorAttempt curatorAttempt) {
    store
        .resources()
        .timer()
        .in(
            RETRY_NANOS,
            () ->
                step(
                    () -> {
                      if (sessionRenewal.isOpen()
                          && sessionRenewal.connection().isUp()
                          && curatorAttempt.isKnown()) {
                        curatorAttempt.onWatchEvent();
                      }
                    }));
  }

  /** Requests of the attempt wait for an earlier one of it. */
  void waitsInLine(CuratorAttempt curatorAttempt) {
    if (curatorAttempt.isAlone()) {
      inLine.putIfAbsent(curatorAttempt.name, curatorAttempt);
    }
  }

  void isUnderWay(CuratorAttempt curatorAttempt) {
    inLine.remove(curatorAttempt.name, curatorAttempt);
  }

  // ---- Requests ----

  @Override
  public void submit(Request request, Consumer<Reply> sink) {
    Reply refusal = store.profile().refusal(request).orElse(null);
    String illegal = LockPaths.refusal(request.name());
    if (refusal == null && illegal != null && !(request instanceof Request.Abandon)) {
      refusal = new Reply.Refused(request.attempt(), RefusalReason.UNSUPPORTED, illegal);
    }
    if (refusal != null) {
      sink.accept(refusal);
      return;
    }
    step(() -> dispatch(request, sink, illegal != null));
  }

  private void dispatch(Request request, Consumer<Reply> sink, boolean illegal) {
    CuratorAttempt curatorAttempt = curatorAttempts.get(request.attempt());
    CuratorAttempt before = inLine.get(request.name());
    if (!sessionRenewal.isOpen()) {
      Reply.Ended end = request instanceof Request.Abandon ? ended.get(request.attempt()) : null;
      Reply gone = Refusals.sessionGone(request.attempt());
      after(() -> sink.accept(end == null ? gone : end));
    } else if (before != null && before != curatorAttempt) {
      before.later(() -> dispatch(request, sink, illegal));
    } else if (curatorAttempt != null) {
      curatorAttempt.submit(request, sink);
    } else {
      begin(request, sink, illegal);
    }
  }

  private void begin(Request request, Consumer<Reply> sink, boolean illegal) {
    AttemptId attempt = request.attempt();
    Reply.Ended end = ended.get(attempt);
    boolean mine = attempt.session().equals(spec.id());
    if (request instanceof Request.Acquire acquire && end == null) {
      CuratorAttempt curatorAttempt = store.attempt(this, acquire);
      curatorAttempts.put(attempt, curatorAttempt);
      curatorAttempt.submit(request, sink);
    } else if (request instanceof Request.Abandon && !mine && !illegal) {
      store.foreign(this, request.name(), attempt).submit(request, sink);
    } else {
      Reply reply = withoutAttempt(request, end);
      after(() -> sink.accept(reply));
    }
  }

  private static Reply withoutAttempt(Request request, Reply.@Nullable Ended end) {
    AttemptId attempt = request.attempt();
    if (request instanceof Request.Abandon) {
      return end == null
          ? new Reply.Ended(attempt, AttemptState.ABSENT, EndReason.UNKNOWN, false)
          : end;
    } else if (request instanceof Request.Adjust) {
      return Refusals.notHeld(attempt, request.name());
    }
    return Refusals.ended(attempt);
  }

  // ---- Life ----

  @Override
  public void open(ZooKeeperConnection connection, long beat, StepCallback then) {
    asyncNodeClient = new AsyncNodeClient(connection.client(), store.acl(), guard);
    then.succeeded(0);
  }

  @Override
  public void sendRenewal(long beat, StepCallback then) {
    nodes()
        .sync(
            "/",
            (code, done) -> {
              if (code == Code.OK) {
                then.succeeded(0);
              } else {
                then.failed(code);
              }
            });
  }

  /** The old connection may have lost a look, and the watch that the look should have set. */
  @Override
  public void reconnected() {
    List.copyOf(curatorAttempts.values()).forEach(CuratorAttempt::onWatchEvent);
  }

  /** Runs it once each attempt has handled its events so far, or after a while. */
  @Override
  public void whenSettled(Runnable then) {
    Countdown looks = new Countdown(curatorAttempts.size(), then);
    List.copyOf(curatorAttempts.values())
        .forEach(curatorAttempt -> curatorAttempt.afterPendingReads(looks::less));
    if (!looks.isOver()) {
      store.resources().timer().in(LOOK_NANOS, () -> step(looks::giveUp));
    }
  }

  @Override
  public CompletionStage<Renewal> renew(long previous, long next, List<Long> seen) {
    return sessionRenewal.renew(previous, next, seen);
  }

  @Override
  public void end(boolean isTaken, @Nullable ZooKeeperConnection lent, Runnable then) {
    store.forget(this);
    if (!isTaken) {
      ended.clear();
    } else {
      for (CuratorAttempt curatorAttempt : curatorAttempts.values()) {
        ended.put(
            curatorAttempt.attempt,
            new Reply.Ended(
                curatorAttempt.attempt, curatorAttempt.present(), EndReason.TAKEN, false));
      }
    }
    List<CuratorAttempt> last = List.copyOf(curatorAttempts.values());
    curatorAttempts.clear();
    inLine.clear();
    if (lent == null) {
      then.run();
    } else {
      lent.ignore();
      Countdown ends = new Countdown(last.size(), then);
      last.forEach(curatorAttempt -> endSurely(curatorAttempt, lent.client(), ends::less));
    }
  }

  private void endSurely(CuratorAttempt curatorAttempt, ZooKeeper client, Runnable then) {
    curatorAttempt.submit(
        new Request.Abandon(curatorAttempt.name, curatorAttempt.attempt),
        reply ->
            step(
                () -> {
                  if (reply instanceof Reply.Failed && client.getState().isAlive()) {
                    DelayedTaskScheduler.retryDetached(
                        () -> step(() -> endSurely(curatorAttempt, client, then)));
                  } else {
                    then.run();
                  }
                }));
  }

  @Override
  public CompletionStage<Void> close() {
    return sessionRenewal.close();
  }

  /** Alive if this process renews it; for display. */
  SessionVerdict verdict() {
    return guard.get(
        () -> {
          Duration left = sessionRenewal.left();
          return left.isZero()
              ? new SessionVerdict.SessionEnded()
              : new SessionVerdict.Alive(sessionRenewal.beat(), left);
        });
  }
}
