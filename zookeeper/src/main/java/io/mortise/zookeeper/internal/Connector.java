package io.mortise.zookeeper.internal;

import io.mortise.StoreUnavailableException;
import java.util.concurrent.Callable;
import org.apache.zookeeper.ZooKeeper;
import org.jspecify.annotations.Nullable;

/** Makes connections of our own, or takes clients that were handed in. Thread-safe. */
public final class Connector {
  private final @Nullable Servers servers;
  private final @Nullable Callable<ZooKeeper> clients;
  private volatile boolean closed;

  private Connector(@Nullable Servers servers, @Nullable Callable<ZooKeeper> clients) {
    this.servers = servers;
    this.clients = clients;
  }

  /** Connections of our own. */
  public static Connector to(Servers servers) {
    return new Connector(servers, null);
  }

  /** Clients that stay their owner's. */
  public static Connector over(Callable<ZooKeeper> clients) {
    return new Connector(null, clients);
  }

  /** Whether connections are our own. */
  public boolean isOwn() {
    return servers != null;
  }

  /** A connection, or the beginning of one. May block where clients are handed in. */
  public Handle connect(int sessionMillis, Handle.Listener listener) {
    if (closed) {
      throw new StoreUnavailableException("The store is closed.");
    }
    Callable<ZooKeeper> theirs = clients;
    if (servers != null) {
      return Handle.connect(servers, sessionMillis, listener);
    } else if (theirs == null) {
      throw new IllegalStateException("Neither servers nor clients.");
    }
    try {
      return Handle.over(theirs.call(), listener);
    } catch (Exception e) {
      throw new StoreUnavailableException("No ZooKeeper client was handed in.", e);
    }
  }

  /** No more connections. */
  public void close() {
    closed = true;
  }
}
