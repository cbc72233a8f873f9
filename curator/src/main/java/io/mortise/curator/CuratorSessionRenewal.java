package io.mortise.curator;

import io.mortise.StoreUnavailableException;
import io.mortise.StoreUnfitException;
import io.mortise.internal.storekit.NotificationBuffer;
import io.mortise.internal.storekit.OutboxLock;
import io.mortise.internal.storekit.Refusals;
import io.mortise.spi.Renewal;
import io.mortise.spi.SessionSpec;
import io.mortise.spi.time.Ticker;
import io.mortise.zookeeper.internal.RenewalProof;
import io.mortise.zookeeper.internal.ZooKeeperConnection;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.TimeUnit;
import java.util.function.Consumer;
import org.apache.zookeeper.KeeperException;
import org.apache.zookeeper.KeeperException.Code;
import org.apache.zookeeper.Watcher.Event.EventType;
import org.jspecify.annotations.Nullable;

/**
 * What a session hangs on: its ZooKeeper session, from the first renewal to the end.
 *
 * <p><b>Renewal.</b> The client library keeps the session alive by itself; what the engine asks is
 * since when that is certain. A follower's word is not enough, for it may be cut off from the
 * leader, who ends sessions (invariants.md#zookeeper-renewal). So a renewal is a {@code sync},
 * which only the leader answers, and {@link RenewalProof} says what that proves.
 *
 * <p><b>Not renewed</b> for a whole TTL, the session is closed from this side: an engine that is
 * stuck must not hold locks because the library's own thread goes on.
 *
 * <p><b>A client that was handed in</b> is left open at the end. Its ZooKeeper session goes on, so
 * every attempt is ended by itself, until the server has confirmed it.
 *
 * <p>Guarded by its session.
 */
final class CuratorSessionRenewal implements ZooKeeperConnection.ConnectionListener {
  private final CuratorSession session;
  private final CuratorLockStore store;
  private final Ticker ticker;
  private final SessionSpec spec;
  private final OutboxLock guard;
  private final NotificationBuffer notifications;
  private final RenewalProof renewalProof;
  private final CompletableFuture<Void> closed = new CompletableFuture<>();
  private CompletableFuture<Code> connected = new CompletableFuture<>();
  private @Nullable ZooKeeperConnection zooKeeperConnection;
  private @Nullable AsyncNodeClient asyncNodeClient;
  private volatile Consumer<String> lost = cause -> {};

  private boolean connecting;

  /** Whether nothing of this session is believed any more. */
  private boolean over;

  private boolean closing;
  private long beat;
  private long firstAsked;
  private long lastAsked;

  CuratorSessionRenewal(
      CuratorSession session,
      CuratorLockStore store,
      Ticker ticker,
      SessionSpec spec,
      OutboxLock guard,
      NotificationBuffer notifications) {
    this.session = session;
    this.store = store;
    this.ticker = ticker;
    this.spec = spec;
    this.guard = guard;
    this.notifications = notifications;
    this.renewalProof = new RenewalProof(guard, store.timer(), ticker, store.tick(), spec.ttl());
  }

  AsyncNodeClient nodes() {
    if (asyncNodeClient == null) {
      throw new IllegalStateException("The session was never opened.");
    }
    return asyncNodeClient;
  }

  /** Whether requests can be asked of it. */
  boolean isOpen() {
    return !over && asyncNodeClient != null;
  }

  /** Whether the servers answer nothing in its name any more. */
  boolean isGone() {
    ZooKeeperConnection present = zooKeeperConnection;
    return over
        && (present == null
            || present.isOwn()
            || present.link() == ZooKeeperConnection.ConnectionStatus.OVER);
  }

  CompletionStage<Renewal> renew(long previous, long next, List<Long> seen) {
    CompletableFuture<Renewal> answer = new CompletableFuture<>();
    session.step(() -> begin(previous, next, seen, answer));
    return answer.completeOnTimeout(
        new Renewal.Unknown(
            new StoreUnavailableException(
                "ZooKeeper did not answer (store=" + session.storeName() + ").")),
        store.requestTimeout().plus(store.tick()).toMillis(),
        TimeUnit.MILLISECONDS);
  }

  private void begin(long previous, long next, List<Long> seen, CompletableFuture<Renewal> answer) {
    if (over || (!connecting && previous != 0)) {
      session.after(() -> answer.complete(new Renewal.Lost("the session is over")));
      return;
    }
    // Here, and not when it is proven: tries of one renewal may be proven after the next one.
    if (connecting && beat != previous && beat != next) {
      session.after(() -> answer.complete(Refusals.RENEWED_BY_ANOTHER));
      return;
    }
    beat = next;
    lastAsked = ticker.nanos();
    if (connected.isDone() && zooKeeperConnection != null) {
      touch(zooKeeperConnection, seen, answer);
    } else {
      if (!connecting) {
        connecting = true;
        firstAsked = lastAsked;
        watchEngine(spec.ttl().toNanos());
        session.after(() -> store.worker().execute(this::connect));
      }
      var unused = connected.thenAccept(code -> opened(code, seen, answer));
    }
  }

  /** May block, where a client was handed in. */
  private void connect() {
    try {
      ZooKeeperConnection made = store.connector().connect(renewalProof.wantedMillis(), this);
      session.step(() -> has(made));
    } catch (RuntimeException e) {
      // The next renewal tries again.
      session.step(
          () -> {
            CompletableFuture<Code> failed = connected;
            connected = new CompletableFuture<>();
            connecting = false;
            session.after(() -> failed.complete(Code.CONNECTIONLOSS));
            if (closing) {
              session.after(() -> closed.complete(null));
            }
          });
    }
  }

  private void has(ZooKeeperConnection made) {
    zooKeeperConnection = made;
    asyncNodeClient = new AsyncNodeClient(made.client(), store.acl());
    if (over) {
      leave();
    } else if (made.isUp()) {
      session.after(() -> connected.complete(Code.OK));
    } else if (made.link() == ZooKeeperConnection.ConnectionStatus.OVER) {
      over("the client that was handed in is closed");
    }
  }

  @Override
  public void connected() {
    session.step(
        () -> {
          // The event may come before the one who connects has said which handle it is.
          if (zooKeeperConnection != null) {
            session.after(() -> connected.complete(Code.OK));
          }
        });
  }

  @Override
  public void disconnected() {
    // What was on its way is answered with a connection loss.
    session.step(
        () -> {
          if (!closing && !over) {
            session.after(() -> lost.accept(ZooKeeperConnection.LOST));
          }
        });
  }

  void onConnectionLost(Consumer<String> listener) {
    lost = listener;
  }

  @Override
  public void over(String why) {
    session.step(
        () -> {
          end();
          session.after(() -> connected.complete(Code.SESSIONEXPIRED));
        });
  }

  @Override
  public void changed(EventType type, String path) {
    // Attempts set their own watches.
  }

  private void opened(Code code, List<Long> seen, CompletableFuture<Renewal> answer) {
    ZooKeeperConnection present = zooKeeperConnection;
    if (code != Code.OK || present == null) {
      renewed(code, seen, answer);
      return;
    }
    int timeout = present.client().getSessionTimeout();
    if (timeout < spec.ttl().toMillis()) {
      answer.complete(
          new Renewal.Unknown(
              new StoreUnfitException(
                  "Store '%s' lets sessions live for %d ms at most, less than the TTL of %d ms. Raise maxSessionTimeout, or choose a shorter TTL."
                      .formatted(session.storeName(), timeout, spec.ttl().toMillis()))));
    } else if (present.isOwn()) {
      // The ZooKeeper session is younger than the request.
      session.step(() -> renewalProof.sessionStarted(firstAsked));
      renewed(code, seen, answer);
    } else {
      session.step(() -> touch(present, seen, answer));
    }
  }

  private void touch(
      ZooKeeperConnection present, List<Long> seen, CompletableFuture<Renewal> answer) {
    long sentAt = ticker.nanos();
    long connection = present.connectionNumber();
    nodes()
        .sync(
            "/",
            (code, done) ->
                session.step(
                    () -> {
                      if (code != Code.OK) {
                        renewed(code, seen, answer);
                        return;
                      }
                      renewalProof.confirm(
                          present,
                          sentAt,
                          connection,
                          // With the notifications of all that happened before it was asked.
                          proven ->
                              session.afterPendingReads(
                                  () ->
                                      renewed(
                                          proven ? Code.OK : Code.CONNECTIONLOSS, seen, answer)));
                    }));
  }

  private void renewed(Code code, List<Long> seen, CompletableFuture<Renewal> answer) {
    session.step(
        () -> {
          Renewal renewal;
          if (over || code == Code.SESSIONEXPIRED) {
            renewal = new Renewal.Lost("ZooKeeper ended the session");
          } else if (code != Code.OK) {
            renewal =
                new Renewal.Unknown(
                    new StoreUnavailableException(
                        "ZooKeeper answered " + code + " (store=" + session.storeName() + ").",
                        KeeperException.create(code)));
          } else {
            notifications.acknowledge(seen);
            renewal = notifications.renewed(0);
          }
          session.after(() -> answer.complete(renewal));
        });
  }

  private void watchEngine(long delay) {
    store.timer().in(delay, () -> session.step(this::closeIfNotRenewed));
  }

  private void closeIfNotRenewed() {
    long left = over ? 0 : lastAsked + spec.ttl().toNanos() - ticker.nanos();
    if (left > 0) {
      watchEngine(left);
    } else {
      end();
      startClosing();
    }
  }

  /** The server has deleted the session's nodes, or is going to; others may hold. */
  private void end() {
    over = true;
    session.end(true);
  }

  CompletionStage<Void> close() {
    session.step(
        () -> {
          if (!over) {
            // Of its own will: nobody has taken anything.
            over = true;
            session.end(false);
          }
          startClosing();
        });
    return closed;
  }

  private void startClosing() {
    if (!closing) {
      closing = true;
      if (!connecting) {
        session.after(() -> closed.complete(null));
      } else if (zooKeeperConnection != null) {
        leave();
      }
    }
  }

  /** Lets go of the connection: closes it, or what belongs to this session, if it is not ours. */
  private void leave() {
    ZooKeeperConnection last = zooKeeperConnection;
    if (last == null || !closing) {
      return;
    }
    if (last.isOwn()) {
      session.after(
          () ->
              store
                  .worker()
                  .execute(
                      () -> {
                        last.close();
                        closed.complete(null);
                      }));
      return;
    }
    last.ignore();
    session.giveBack(last.client()::getState, () -> session.after(() -> closed.complete(null)));
  }

  /** What is left of the session if it is not renewed again; for people. */
  Duration left() {
    return guard.get(
        () -> {
          long left = lastAsked + spec.ttl().toNanos() - ticker.nanos();
          return over || asyncNodeClient == null
              ? Duration.ZERO
              : Duration.ofNanos(Math.max(0, left));
        });
  }

  long beat() {
    return guard.get(() -> beat);
  }
}
