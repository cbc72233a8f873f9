package io.mortise.zookeeper.internal;

import io.mortise.StoreUnavailableException;
import io.mortise.StoreUnfitException;
import io.mortise.internal.queue.OutboxLock;
import io.mortise.spi.Renewal;
import io.mortise.spi.SessionSpec;
import io.mortise.spi.time.DurationText;
import io.mortise.spi.time.Ticker;
import io.mortise.support.internal.session.NotificationBuffer;
import io.mortise.support.internal.session.Refusals;
import java.time.Duration;
import java.util.ArrayDeque;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.TimeUnit;
import java.util.function.Consumer;
import org.apache.zookeeper.KeeperException.Code;
import org.apache.zookeeper.Watcher.Event.EventType;
import org.jspecify.annotations.Nullable;

/**
 * Opens, renews and ends a session, in either layout. A session is a ZooKeeper session; {@link
 * SessionLayout} adds the layout's own parts.
 *
 * <p><b>Renewal.</b> The ZooKeeper client keeps its session alive by itself; the engine has to know
 * up to when that is certain. An answer of a follower does not prove it, since the follower may be
 * cut off from the leader, which expires sessions (invariants.md#zookeeper-renewal). So a renewal
 * is a request that the leader answers, and {@link RenewalProof} decides what the answer proves.
 * One such request is in flight at a time; its proof may end after that of the next one.
 *
 * <p><b>No renewal</b> for a TTL ends the session from this side: an engine that is stuck must not
 * hold locks because the client's own thread goes on.
 *
 * <p><b>A client that was handed in</b> is left open: the layout removes this session's nodes.
 *
 * <p>Guarded by its session. {@link #renew}, {@link #close} and the events of the connection take
 * the guard; all else is called under it.
 */
public final class SessionRenewal implements ZooKeeperConnection.ConnectionListener {
  private static final long REPLY_NANOS = 500_000_000;

  private final StoreResources storeResources;
  private final SessionSpec spec;
  private final OutboxLock guard;
  private final NotificationBuffer notifications;
  private final SessionLayout layout;
  private final Ticker ticker;
  private final RenewalProof renewalProof;
  private final long ttl;
  private final List<Consumer<String>> lossListeners = new CopyOnWriteArrayList<>();
  private final CompletableFuture<Void> closed = new CompletableFuture<>();
  private final ArrayDeque<PendingRenewal> waiting = new ArrayDeque<>();
  private SessionPhase phase = SessionPhase.NEW;
  private Renewal.Lost lost = Refusals.SESSION_CLOSED;
  private @Nullable ZooKeeperConnection zooKeeperConnection;

  /** The number of the connection that the session used last; 0 if it has used none. */
  private long usedConnection;

  private boolean isConnecting;
  private boolean isWatched;
  private @Nullable PendingRenewal opening;
  private @Nullable PendingRenewal current;
  private long lastAsked;
  private long beat;

  /** The phase of the session. */
  private enum SessionPhase {
    /** Unknown to the servers; also after a failed attempt to open it. */
    NEW,
    OPENING,
    OPEN,
    OVER
  }

  /** A session that the servers do not know yet. */
  public SessionRenewal(
      StoreResources storeResources,
      SessionSpec spec,
      OutboxLock guard,
      NotificationBuffer notifications,
      SessionLayout layout) {
    this.storeResources = storeResources;
    this.spec = spec;
    this.guard = guard;
    this.notifications = notifications;
    this.layout = layout;
    this.ticker = storeResources.ticker();
    this.renewalProof =
        new RenewalProof(
            guard, storeResources.timer(), ticker, storeResources.limits().tick(), spec.ttl());
    this.ttl = spec.ttl().toNanos();
  }

  /** Whether requests can be sent for it. */
  public boolean isOpen() {
    return phase == SessionPhase.OPEN;
  }

  /** Whether nothing of the session is believed any more. */
  public boolean isOver() {
    return phase == SessionPhase.OVER;
  }

  /** Whether the servers have surely stopped answering in its name. */
  public boolean isGone() {
    ZooKeeperConnection last = zooKeeperConnection;
    return isOver()
        && (last == null
            || last.isOwn()
            || last.link() == ZooKeeperConnection.ConnectionStatus.OVER);
  }

  /** The present or last connection, of a session that was opened at least once. */
  public ZooKeeperConnection connection() {
    ZooKeeperConnection present = zooKeeperConnection;
    if (present == null) {
      throw new IllegalStateException("There is no connection yet.");
    }
    return present;
  }

  /** The last beat that the engine sent. */
  public long beat() {
    return beat;
  }

  /** The remaining life of the session without another renewal; for display. */
  public Duration left() {
    return isOpen()
        ? Duration.ofNanos(Math.max(0, lastAsked + ttl - ticker.nanos()))
        : Duration.ZERO;
  }

  /** Calls the listener, with no lock held, whenever the connection breaks. Any thread. */
  public void onConnectionLost(Consumer<String> listener) {
    lossListeners.add(listener);
  }

  // ---- Renewing ----

  /** One renewal that has no answer yet. */
  private final class PendingRenewal implements SessionLayout.StepCallback {
    private final long next;
    private final List<Long> seen;
    private final CompletableFuture<Renewal> answer = new CompletableFuture<>();
    private List<PendingRenewal> earlier = List.of();
    private long sentAt;
    private long connectionNumber;
    private long limit;

    PendingRenewal(long next, List<Long> seen, long now) {
      this.next = next;
      this.seen = List.copyOf(seen);
      this.sentAt = now;
    }

    @Override
    public void succeeded(long storeMillis) {
      if (this == opening) {
        opened(this, storeMillis);
      } else if (this == current) {
        accepted(this, storeMillis);
      }
    }

    @Override
    public void failed(Code code) {
      if (code == Code.SESSIONEXPIRED) {
        refused(new Renewal.Lost("the ZooKeeper session expired"));
      } else if (this == current || code != Code.CONNECTIONLOSS) {
        refused(unanswered(code.toString()));
      }
      // Else the session is opened over the next connection.
    }

    @Override
    public void refused(Renewal refusal) {
      if (this != opening && this != current) {
        return;
      }
      if (refusal instanceof Renewal.Lost why) {
        end(why, true);
      } else if (this == opening) {
        failOpening(refusal);
      } else {
        current = null;
        answer(this, refusal);
        advance();
      }
    }
  }

  /** As {@link io.mortise.spi.StoreSession#renew(long, long, List)}. */
  public CompletionStage<Renewal> renew(long previous, long next, List<Long> seen) {
    PendingRenewal asked = new PendingRenewal(next, seen, ticker.nanos());
    guard.run(() -> begin(asked, previous));
    return asked.answer.completeOnTimeout(
        unanswered("no answer in time"), asked.limit, TimeUnit.NANOSECONDS);
  }

  /**
   * Opening over a connection of our own waits for no proof, and callers wait for it. An engine
   * that missed the answer repeats the same renewal, which does.
   */
  private long limit() {
    long proof = Math.max(ttl / 3, 2 * renewalProof.relay() + REPLY_NANOS);
    boolean needsNone = !isOpen() && storeResources.connector().isOwn();
    return needsNone ? Math.min(proof, storeResources.timeout().toNanos()) : proof;
  }

  private void begin(PendingRenewal asked, long previous) {
    boolean isNew = phase == SessionPhase.NEW;
    asked.limit = limit();
    if (isOver()) {
      answer(asked, lost);
    } else if (isNew && previous != 0) {
      answer(asked, Refusals.SESSION_EXPIRED);
    } else if (!isNew && beat != previous && beat != asked.next) {
      answer(asked, Refusals.RENEWED_BY_ANOTHER);
    } else {
      // Set here, not when it is proven: repeated sends of one renewal may be proven after the next
      // one.
      beat = asked.next;
      lastAsked = asked.sentAt;
      if (isNew) {
        phase = SessionPhase.OPENING;
        opening = asked;
        connect();
      } else {
        waiting.add(asked);
        advance();
      }
    }
  }

  private void advance() {
    if (!isOpen() || current != null || waiting.isEmpty()) {
      return;
    }
    PendingRenewal next = latest();
    if (connection().isUp()) {
      current = next;
      next.sentAt = ticker.nanos();
      next.connectionNumber = connection().connectionNumber();
      layout.sendRenewal(next.next, next);
    } else {
      answer(next, unanswered("the connection is down"));
    }
  }

  /**
   * The engine repeats a renewal while it has no answer, often if connecting takes long. Only the
   * latest is sent: its answer is one to all earlier ones, too.
   */
  private PendingRenewal latest() {
    PendingRenewal next = waiting.removeLast();
    next.earlier = List.copyOf(waiting);
    waiting.clear();
    return next;
  }

  private void accepted(PendingRenewal sent, long storeMillis) {
    notifications.acknowledge(sent.seen);
    renewalProof.confirm(
        connection(),
        sent.sentAt,
        sent.connectionNumber,
        isProven -> {
          if (isProven) {
            finish(sent, storeMillis);
          } else {
            answer(sent, unanswered("the connection was lost"));
          }
        });
    current = null;
    advance();
  }

  /** With the notifications of all earlier events. */
  private void finish(PendingRenewal sent, long storeMillis) {
    layout.whenSettled(() -> answer(sent, notifications.renewed(storeMillis * 1000)));
  }

  private void answer(PendingRenewal sent, Renewal renewal) {
    Renewal last = isOver() ? lost : renewal;
    guard.afterUnlock(() -> sent.answer.complete(last));
    sent.earlier.forEach(other -> answer(other, renewal));
  }

  private Renewal.Unknown unanswered(String why) {
    return new Renewal.Unknown(
        new StoreUnavailableException(
            "ZooKeeper did not answer a renewal (store=%s): %s."
                .formatted(storeResources.display(), why)));
  }

  // ---- Opening ----

  private void connect() {
    isConnecting = true;
    guard.afterUnlock(() -> storeResources.execute(this::makeConnection));
    if (!isWatched) {
      isWatched = true;
      watchDeadline();
    }
  }

  /** May block, if a client was handed in. */
  private void makeConnection() {
    try {
      ZooKeeperConnection made =
          storeResources.connector().connect(renewalProof.wantedMillis(), this);
      guard.run(() -> connectionMade(made));
    } catch (RuntimeException e) {
      guard.run(() -> connectionFailed(e));
    }
  }

  private void connectionMade(ZooKeeperConnection made) {
    isConnecting = false;
    if (isOver()) {
      // On this thread: the store may have been closed meanwhile, and runs no more tasks.
      guard.afterUnlock(made::close);
      guard.afterUnlock(() -> closed.complete(null));
      return;
    }
    zooKeeperConnection = made;
    if (made.isUp()) {
      connected();
    } else if (made.link() == ZooKeeperConnection.ConnectionStatus.OVER) {
      over("the client that was handed in is closed");
    }
  }

  private void connectionFailed(RuntimeException e) {
    isConnecting = false;
    if (isOver()) {
      guard.afterUnlock(() -> closed.complete(null));
    } else {
      failOpening(new Renewal.Unknown(e));
    }
  }

  private void open(ZooKeeperConnection present, PendingRenewal first) {
    long granted = present.client().getSessionTimeout() * 1_000_000L;
    if (granted >= ttl) {
      layout.open(present, first.next, first);
    } else {
      failOpening(
          new Renewal.Unknown(
              new StoreUnfitException(
                  "Store '%s' lets sessions live for %s at most, less than the TTL of %s. Raise maxSessionTimeout, or choose a shorter TTL."
                      .formatted(
                          storeResources.display(),
                          DurationText.formatExact(Duration.ofNanos(granted)),
                          DurationText.formatExact(spec.ttl())))));
    }
  }

  /** The next renewal retries. */
  private void failOpening(Renewal refusal) {
    phase = SessionPhase.NEW;
    answerAll(refusal);
    ZooKeeperConnection useless = zooKeeperConnection;
    zooKeeperConnection = null;
    usedConnection = 0;
    if (useless != null) {
      guard.afterUnlock(() -> storeResources.execute(useless::close));
    }
  }

  private void opened(PendingRenewal first, long storeMillis) {
    phase = SessionPhase.OPEN;
    opening = null;
    if (connection().isOwn()) {
      // The ZooKeeper session is younger than the request.
      renewalProof.sessionStarted(first.sentAt);
      notifications.acknowledge(first.seen);
      finish(first, storeMillis);
    } else {
      waiting.addFirst(first);
    }
    advance();
  }

  // ---- Connection events ----

  @Override
  public void connected() {
    guard.run(
        () -> {
          // The event may come before the connector has returned the connection and the check of
          // its state.
          ZooKeeperConnection present = zooKeeperConnection;
          if (present == null || isOver() || present.connectionNumber() == usedConnection) {
            return;
          }
          usedConnection = present.connectionNumber();
          PendingRenewal first = opening;
          if (first != null) {
            open(present, first);
          } else {
            advance();
            layout.reconnected();
          }
        });
  }

  @Override
  public void disconnected() {
    guard.run(
        () -> {
          if (!isOver()) {
            layout.disconnected();
            guard.afterUnlock(
                () -> lossListeners.forEach(listener -> listener.accept(ZooKeeperConnection.LOST)));
          }
        });
  }

  @Override
  public void over(String why) {
    guard.run(() -> end(new Renewal.Lost(why), true));
  }

  @Override
  public void changed(EventType type, String path) {
    guard.run(
        () -> {
          if (!isOver()) {
            layout.changed(type, path);
          }
        });
  }

  // ---- Ending ----

  private void watchDeadline() {
    long left = Math.max(0, lastAsked + ttl - ticker.nanos());
    storeResources.timer().in(left, () -> guard.run(this::endIfNotRenewed));
  }

  private void endIfNotRenewed() {
    if (phase == SessionPhase.NEW || isOver()) {
      isWatched = false;
    } else if (ticker.nanos() - lastAsked >= ttl) {
      end(new Renewal.Lost("it was not renewed within its TTL"), true);
    } else {
      watchDeadline();
    }
  }

  /** Ends the session. Completes when its nodes are removed, or their later removal is arranged. */
  public CompletionStage<Void> close() {
    guard.run(() -> end(Refusals.SESSION_CLOSED, false));
    return closed;
  }

  private void end(Renewal.Lost why, boolean isTaken) {
    if (isOver()) {
      return;
    }
    phase = SessionPhase.OVER;
    lost = why;
    answerAll(why);
    ZooKeeperConnection last = zooKeeperConnection;
    if (last != null && !last.isOwn()) {
      layout.end(isTaken, last, () -> guard.afterUnlock(() -> closed.complete(null)));
      return;
    }
    layout.end(isTaken, null, () -> {});
    if (last != null) {
      guard.afterUnlock(
          () ->
              storeResources.execute(
                  () -> {
                    last.close();
                    closed.complete(null);
                  }));
    } else if (!isConnecting) {
      guard.afterUnlock(() -> closed.complete(null));
    }
  }

  private void answerAll(Renewal renewal) {
    if (opening != null) {
      waiting.add(opening);
    }
    if (current != null) {
      waiting.add(current);
    }
    waiting.forEach(asked -> answer(asked, renewal));
    waiting.clear();
    opening = null;
    current = null;
  }
}
