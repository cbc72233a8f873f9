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
 * A ZooKeeper client, ours or one that was handed in, and the known state of its connection. Events
 * and answers come on the client's one event thread, in the order in which the server sent them.
 * Thread-safe.
 */
public final class ZooKeeperConnection implements Watcher {
  /** A node that never exists: a watch on it reports the connection only. */
  private final String nowhere = "/" + UUID.randomUUID();

  private final boolean own;
  private final ConnectionListener connectionListener;

  /** The first events may come before the client's constructor has returned. */
  private final CompletableFuture<ZooKeeper> client = new CompletableFuture<>();

  private volatile ConnectionStatus connectionStatus = ConnectionStatus.DOWN;

  /** The reason for a lost connection: the client reveals no more. */
  public static final String LOST = "ZooKeeper's client has lost it, and looks for another server";

  /** Counts connections: a request sent on one is answered on that one, or never. */
  private volatile long connection;

  /** The known state of the connection. */
  enum ConnectionStatus {
    DOWN,
    UP,
    /** Its ZooKeeper session has ended, or was refused; final. */
    OVER
  }

  /** Called on the event thread. */
  public interface ConnectionListener {
    /** There is a connection, or there is one again. */
    void connected();

    /** The connection is gone; requests in flight are answered with a connection loss. */
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

  /** Uses a client that its owner keeps. */
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

  /** A client reports its connection to watches as well. */
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

  /** Whether the client is ours, not handed in. */
  public boolean isOwn() {
    return own;
  }

  /** The known state of the connection. */
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
    // The library reports no state for a SASL login that could not begin.
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
        // Authenticated, or read-only: neither changes the state.
      }
    }
  }

  private void over(String why) {
    if (connectionStatus != ConnectionStatus.OVER) {
      connectionStatus = ConnectionStatus.OVER;
      connectionListener.over(why);
    }
  }

  /** Stops listening to a client that was handed in, so that it does not keep us in memory. */
  public void ignore() {
    if (!own) {
      unwatch(nowhere);
    }
  }

  /** Removes all watches on a node, which must be our own, at the server as well. */
  void unwatch(String path) {
    client().removeAllWatches(path, WatcherType.Any, true, (rc, given, context) -> {}, null);
  }

  /**
   * Closes the client if it is ours, and with it all its ephemeral nodes: blocks until the server
   * knows. A client that was handed in is no longer listened to.
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
