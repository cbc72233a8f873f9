package io.mortise.zookeeper.internal;

import java.util.Objects;
import java.util.UUID;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import org.apache.zookeeper.KeeperException.Code;
import org.apache.zookeeper.WatchedEvent;
import org.apache.zookeeper.Watcher;
import org.apache.zookeeper.Watcher.Event.EventType;
import org.apache.zookeeper.Watcher.Event.KeeperState;
import org.apache.zookeeper.Watcher.WatcherType;
import org.apache.zookeeper.ZooKeeper;

/**
 * A ZooKeeper client, ours or one that was handed in, and what is known of its connection. Events
 * and answers come on the client's one event thread, in the order in which the server sent them.
 * Thread-safe.
 */
public final class ZooKeeperConnection implements Watcher {
  /** A node that is never there: a watch on it tells of the connection only. */
  private final String nowhere = "/" + UUID.randomUUID();

  private final boolean own;
  private final ConnectionListener connectionListener;

  /** Its first events may come before its constructor has returned. */
  private final CompletableFuture<ZooKeeper> client = new CompletableFuture<>();

  private volatile ConnectionStatus connectionStatus = ConnectionStatus.DOWN;

  /** Why a connection is gone: the client does not tell more. */
  public static final String LOST = "ZooKeeper's client has lost it, and looks for another server";

  /** Counts connections: what was sent on one is answered on that one, or never. */
  private volatile long connection;

  /** What is known of the connection. */
  enum ConnectionStatus {
    DOWN,
    UP,
    /** Its ZooKeeper session has ended, or was refused; final. */
    OVER
  }

  /** Called on the event thread. */
  public interface ConnectionListener {
    /** There is a connection, again. */
    void connected();

    /** There is none any more; what was on its way is answered with a connection loss. */
    void disconnected();

    /** Final. */
    void over(String why);

    /** A node or its children changed. */
    void changed(EventType type, String path);
  }

  private ZooKeeperConnection(boolean own, ConnectionListener connectionListener) {
    this.own = own;
    this.connectionListener = connectionListener;
  }

  /** Begins to connect. Does not block. */
  static ZooKeeperConnection connect(
      ZooKeeperTarget zooKeeperTarget, int sessionMillis, ConnectionListener connectionListener) {
    ZooKeeperConnection zooKeeperConnection = new ZooKeeperConnection(true, connectionListener);
    zooKeeperConnection.client.complete(
        zooKeeperTarget.newClient(sessionMillis, zooKeeperConnection));
    return zooKeeperConnection;
  }

  /** Over a client that stays its owner's. */
  static ZooKeeperConnection over(ZooKeeper client, ConnectionListener connectionListener) {
    ZooKeeperConnection zooKeeperConnection = new ZooKeeperConnection(false, connectionListener);
    zooKeeperConnection.client.complete(client);
    if (client.getState().isAlive()) {
      zooKeeperConnection.attend(client);
    } else {
      zooKeeperConnection.connectionStatus = ConnectionStatus.OVER;
    }
    return zooKeeperConnection;
  }

  /** A client with a watch is told of the connection as well. */
  private void attend(ZooKeeper theirs) {
    theirs.exists(
        nowhere,
        this,
        (rc, path, context, stat) -> {
          Code code = Code.get(rc);
          if (code == Code.SESSIONEXPIRED) {
            over("the ZooKeeper session expired");
          } else if (code == Code.CONNECTIONLOSS && connectionStatus == ConnectionStatus.DOWN) {
            attend(theirs);
          } else if (connectionStatus == ConnectionStatus.DOWN) {
            process(new WatchedEvent(EventType.None, KeeperState.SyncConnected, null));
          }
        },
        null);
  }

  /** The client itself. */
  public ZooKeeper client() {
    return client.join();
  }

  /** Whether it is not one that was handed in. */
  public boolean isOwn() {
    return own;
  }

  /** What is known of the connection. */
  ConnectionStatus link() {
    return connectionStatus;
  }

  /** Whether it is connected, as far as is known. */
  public boolean isUp() {
    return connectionStatus == ConnectionStatus.UP;
  }

  /** The number of the present or last connection. */
  long connectionNumber() {
    return connection;
  }

  @Override
  public void process(WatchedEvent event) {
    if (event.getType() != EventType.None) {
      connectionListener.changed(event.getType(), event.getPath());
      return;
    }
    // The library tells no state of a SASL login that could not begin.
    switch (Objects.requireNonNullElse(event.getState(), KeeperState.AuthFailed)) {
      case SyncConnected -> {
        if (connectionStatus == ConnectionStatus.DOWN) {
          long next = connection + 1;
          connection = next;
          connectionStatus = ConnectionStatus.UP;
          connectionListener.connected();
        }
      }
      case Disconnected -> {
        if (connectionStatus == ConnectionStatus.UP) {
          connectionStatus = ConnectionStatus.DOWN;
          connectionListener.disconnected();
        }
      }
      case Expired, Closed -> over("the ZooKeeper session expired");
      case AuthFailed -> over("the server refused the credentials");
      default -> {
        // Authenticated, or read-only: neither is a change that counts.
      }
    }
  }

  private void over(String why) {
    if (connectionStatus != ConnectionStatus.OVER) {
      connectionStatus = ConnectionStatus.OVER;
      connectionListener.over(why);
    }
  }

  /** A client that was handed in is no longer listened to, so that it does not keep us. */
  public void ignore() {
    if (!own) {
      unwatch(nowhere);
    }
  }

  /** Gives up all watches on a node, which must be our own, at the server as well. */
  void unwatch(String path) {
    client().removeAllWatches(path, WatcherType.Any, true, (rc, given, context) -> {}, null);
  }

  /**
   * Closes it if it is ours, and with it all its ephemeral nodes: blocks until the server knows.
   * One that was handed in is no longer listened to.
   */
  void close() {
    connectionStatus = ConnectionStatus.OVER;
    if (own) {
      try {
        client().close((int) TimeUnit.SECONDS.toMillis(2));
      } catch (InterruptedException e) {
        Thread.currentThread().interrupt();
      }
    } else {
      ignore();
    }
  }
}
