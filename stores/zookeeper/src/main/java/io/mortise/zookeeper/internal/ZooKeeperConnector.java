package io.mortise.zookeeper.internal;

import io.mortise.StoreUnavailableException;
import java.time.Duration;
import java.util.concurrent.Callable;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.Executor;
import org.apache.zookeeper.ZooKeeper;
import org.jspecify.annotations.Nullable;

/** Opens connections of our own, or takes clients that were handed in. Thread-safe. */
public final class ZooKeeperConnector {
  private final @Nullable ZooKeeperTarget servers;
  private final @Nullable Callable<ZooKeeper> clients;
  private volatile boolean closed;

  private ZooKeeperConnector(
      @Nullable ZooKeeperTarget servers, @Nullable Callable<ZooKeeper> clients) {
    this.servers = servers;
    this.clients = clients;
  }

  /** Opens connections of our own. */
  public static ZooKeeperConnector to(ZooKeeperTarget servers) {
    return new ZooKeeperConnector(servers, null);
  }

  /** Takes clients that their owner keeps. */
  public static ZooKeeperConnector over(Callable<ZooKeeper> clients) {
    return new ZooKeeperConnector(null, clients);
  }

  /** Whether connections are our own. */
  boolean isOwn() {
    return servers != null;
  }

  /**
   * Whether servers and URL disagree on TLS; unknown for a client that was handed in. Does not
   * block.
   */
  CompletableFuture<TlsExamination.TlsResult> examineTls(Duration limit, Executor executor) {
    return servers == null
        ? CompletableFuture.completedFuture(TlsExamination.TlsResult.NOTHING)
        : TlsExamination.examine(servers.hosts(), servers.wantsTls(), limit, executor);
  }

  /** A connection, or the beginning of one. May block if clients are handed in. */
  ZooKeeperConnection connect(
      int sessionMillis, ZooKeeperConnection.ConnectionListener connectionListener) {
    if (closed) {
      throw new StoreUnavailableException("The store is closed.");
    }
    Callable<ZooKeeper> theirs = clients;
    try {
      if (servers != null) {
        return ZooKeeperConnection.connect(servers, sessionMillis, connectionListener);
      } else if (theirs == null) {
        throw new IllegalStateException("Neither servers nor clients.");
      }
      return over(theirs, connectionListener);
    } catch (Error e) {
      // Perhaps no thread could be started for a client: a session that waits for this must not
      // wait for ever.
      throw new StoreUnavailableException("No ZooKeeper client can be made: " + e + ".", e);
    }
  }

  private static ZooKeeperConnection over(
      Callable<ZooKeeper> theirs, ZooKeeperConnection.ConnectionListener connectionListener) {
    try {
      return ZooKeeperConnection.over(theirs.call(), connectionListener);
    } catch (Exception e) {
      throw new StoreUnavailableException("No ZooKeeper client was handed in.", e);
    }
  }

  /** No more connections. */
  void close() {
    closed = true;
  }
}
