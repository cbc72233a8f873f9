package io.mortise.zookeeper;

import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import org.apache.zookeeper.KeeperException.Code;
import org.apache.zookeeper.WatchedEvent;
import org.apache.zookeeper.Watcher;
import org.apache.zookeeper.Watcher.Event.EventType;
import org.apache.zookeeper.Watcher.Event.KeeperState;
import org.apache.zookeeper.ZooKeeper;

/**
 * A ZooKeeper client, ours or one that was handed in, and what is known of its connection. Events
 * and answers come on the client's one event thread, in the order in which the server sent them.
 * Thread-safe.
 */
final class Handle implements Watcher {
  /** What a watch is set on that is to tell of the connection. */
  static final String ANYWHERE = "/";

  private final boolean own;
  private final Listener listener;

  /** Its first events may come before its constructor has returned. */
  private final CompletableFuture<ZooKeeper> client = new CompletableFuture<>();

  private volatile Link link = Link.DOWN;

  /** Counts connections: what was sent on one is answered on that one, or never. */
  private volatile long connection;

  /** What is known of the connection. */
  enum Link {
    DOWN,
    UP,
    /** Its ZooKeeper session has ended, or was refused; final. */
    OVER
  }

  /** Called on the event thread. */
  interface Listener {
    void connected();

    void disconnected();

    /** Final. */
    void over(String why);

    /** A node or its children changed. */
    void changed(EventType type, String path);
  }

  private Handle(boolean own, Listener listener) {
    this.own = own;
    this.listener = listener;
  }

  /** Begins to connect. Does not block. */
  static Handle connect(ZooKeeperTarget target, int sessionMillis, Listener listener) {
    Handle handle = new Handle(true, listener);
    handle.client.complete(target.newClient(sessionMillis, handle));
    return handle;
  }

  /** Over a client that stays its owner's. */
  static Handle over(ZooKeeper client, Listener listener) {
    Handle handle = new Handle(false, listener);
    handle.client.complete(client);
    if (client.getState().isAlive()) {
      handle.attend(client);
    } else {
      handle.link = Link.OVER;
    }
    return handle;
  }

  /** Whoever has a watch is told of the connection as well. */
  private void attend(ZooKeeper theirs) {
    theirs.exists(
        ANYWHERE,
        this,
        (rc, path, context, stat) -> {
          Code code = Code.get(rc);
          if (code == Code.SESSIONEXPIRED) {
            over("the ZooKeeper session expired");
          } else if (code == Code.CONNECTIONLOSS && link == Link.DOWN) {
            attend(theirs);
          } else if (link == Link.DOWN) {
            process(new WatchedEvent(EventType.None, KeeperState.SyncConnected, null));
          }
        },
        null);
  }

  ZooKeeper client() {
    return client.join();
  }

  boolean isOwn() {
    return own;
  }

  Link link() {
    return link;
  }

  boolean isUp() {
    return link == Link.UP;
  }

  long connection() {
    return connection;
  }

  @Override
  public void process(WatchedEvent event) {
    if (event.getType() != EventType.None) {
      listener.changed(event.getType(), event.getPath());
      return;
    }
    switch (event.getState()) {
      case SyncConnected -> {
        if (link == Link.DOWN) {
          long next = connection + 1;
          connection = next;
          link = Link.UP;
          listener.connected();
        }
      }
      case Disconnected -> {
        if (link == Link.UP) {
          link = Link.DOWN;
          listener.disconnected();
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
    if (link != Link.OVER) {
      link = Link.OVER;
      listener.over(why);
    }
  }

  /**
   * Closes it if it is ours, and with it all its ephemeral nodes. Blocks until the server knows.
   */
  void close() {
    link = Link.OVER;
    if (own) {
      try {
        client().close((int) TimeUnit.SECONDS.toMillis(2));
      } catch (InterruptedException e) {
        Thread.currentThread().interrupt();
      }
    }
  }
}
