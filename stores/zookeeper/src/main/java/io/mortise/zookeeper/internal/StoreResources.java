package io.mortise.zookeeper.internal;

import io.mortise.LockName;
import io.mortise.StoreUnavailableException;
import io.mortise.spi.time.Ticker;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Collection;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.Executor;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.Consumer;
import java.util.function.Function;
import org.apache.zookeeper.KeeperException.Code;
import org.apache.zookeeper.ZooKeeper;
import org.apache.zookeeper.client.ZKClientConfig;

/**
 * The resources of a store of either layout, besides its sessions: connections, a timer, threads
 * for blocking calls, and the limits that the servers set. Thread-safe.
 */
public final class StoreResources implements Executor {
  private static final long CLOSE_SECONDS = 3;

  /** The longest node name with its length field: a lock's longest name, each byte encoded. */
  private static final long LONGEST_NAME = 3L * LockName.MAX_BYTES + 4;

  private final ZooKeeperConnector zooKeeperConnector;
  private final String display;
  private final Duration timeout;
  private final Ticker ticker;
  private final DelayedTaskScheduler timer = new DelayedTaskScheduler("mortise-zookeeper-timer");
  private final ExecutorService executor = WorkerPools.named("mortise-zookeeper-worker");
  private final AdminConnection adminConnection;
  private final SessionLimits limits;
  private volatile boolean closed;

  /**
   * Connects, and determines the limits of sessions. Blocks.
   *
   * @param display the store's name in messages
   * @param timeout how long to wait for a connection, or an answer
   * @param tick of the servers; zero to determine it
   * @throws io.mortise.StoreUnavailableException if the servers cannot be reached in time
   * @throws io.mortise.StoreUnfitException if they refuse
   */
  public StoreResources(
      ZooKeeperConnector zooKeeperConnector,
      String display,
      Duration timeout,
      Duration tick,
      Ticker ticker) {
    this.zooKeeperConnector = zooKeeperConnector;
    this.display = display;
    this.timeout = timeout;
    this.ticker = ticker;
    this.adminConnection =
        new AdminConnection(zooKeeperConnector, display, timeout, executor, ticker);
    try {
      this.limits = adminConnection.limits(tick);
    } catch (RuntimeException e) {
      shutDown();
      throw e;
    }
  }

  /** Checks the servers. If that throws, all resources are closed. Blocks. */
  public void check(Consumer<AdminConnection> check) {
    try {
      check.accept(adminConnection);
    } catch (RuntimeException e) {
      shutDown();
      throw e;
    }
  }

  /** The store, as messages name it. */
  String display() {
    return display;
  }

  /** How long an answer may take. */
  Duration timeout() {
    return timeout;
  }

  /** The limits of session lengths. */
  public SessionLimits limits() {
    return limits;
  }

  /** For short steps. */
  public DelayedTaskScheduler timer() {
    return timer;
  }

  /** Runs a task that may block on a thread of its own; in the caller, once the store is closed. */
  @Override
  public void execute(Runnable task) {
    if (closed) {
      task.run();
    } else {
      executor.execute(task);
    }
  }

  /** The connection for inspection. */
  public AdminConnection adminConnection() {
    return adminConnection;
  }

  /** Requests to send once there is a connection. */
  public interface AdminQuery<T> {
    /** Sends requests without blocking, and completes the answer. */
    void ask(ZooKeeper client, CompletableFuture<T> answer);
  }

  /** Sends requests once there is a connection for inspection; the result completes in time. */
  public <T> CompletionStage<T> ask(AdminQuery<T> question) {
    CompletableFuture<T> answer = new CompletableFuture<>();
    adminConnection
        .connected()
        .whenComplete(
            (client, failure) -> {
              if (failure != null) {
                answer.completeExceptionally(silent());
              } else {
                try {
                  question.ask(client, answer);
                } catch (RuntimeException e) {
                  answer.completeExceptionally(e);
                }
              }
            });
    timer.in(timeout.toNanos(), () -> answer.completeExceptionally(silent()));
    return answer;
  }

  /** The exception for a request without an answer. */
  public StoreUnavailableException silent() {
    return new StoreUnavailableException("Store '" + display + "' does not answer.");
  }

  /**
   * Lists the children of a node; none if it does not exist. The server sends them in one packet,
   * and the client drops a connection with too large a packet. So their number is read before.
   *
   * @param answer fails if they cannot be read
   */
  public void children(
      ZooKeeper client, String parent, CompletableFuture<?> answer, Consumer<List<String>> then) {
    AtomicInteger names = new AtomicInteger();
    client.exists(
        parent,
        false,
        (rc, path, context, stat) -> names.set(rc == 0 ? stat.getNumChildren() : 0),
        null);
    client.getChildren(
        parent,
        false,
        (rc, path, context, children) -> {
          if (rc == 0 || rc == Code.NONODE.intValue()) {
            then.accept(rc == 0 ? children : List.of());
          } else {
            answer.completeExceptionally(notListed(client, parent, names.get()));
          }
        },
        null);
  }

  private StoreUnavailableException notListed(ZooKeeper client, String parent, int names) {
    long limit =
        client
            .getClientConfig()
            .getInt(ZKClientConfig.JUTE_MAXBUFFER, ZKClientConfig.CLIENT_MAX_PACKET_LENGTH_DEFAULT);
    return names * LONGEST_NAME < limit
        ? silent()
        : new StoreUnavailableException(
            "Store '%s' does not answer, or the names of %s nodes below '%s' are more than this client takes in one packet, %s bytes. Locks are not concerned. To list them, start this process with a larger -Djute.maxbuffer."
                .formatted(display, names, parent, limit));
  }

  ZooKeeperConnector connector() {
    return zooKeeperConnector;
  }

  Ticker ticker() {
    return ticker;
  }

  /**
   * Ends the sessions, then the other resources. Waits for three seconds at most.
   *
   * @param end ends one of them
   */
  public <T> void close(Collection<T> sessions, Function<T, CompletionStage<Void>> end) {
    if (closed) {
      return;
    }
    // Closed first: an engine that learns of the end of a session would begin another.
    zooKeeperConnector.close();
    List<CompletableFuture<?>> ends = new ArrayList<>();
    sessions.forEach(session -> ends.add(end.apply(session).toCompletableFuture()));
    ends.add(CompletableFuture.runAsync(adminConnection::close, executor));
    try {
      CompletableFuture.allOf(ends.toArray(CompletableFuture<?>[]::new))
          .get(CLOSE_SECONDS, TimeUnit.SECONDS);
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
    } catch (ExecutionException | TimeoutException e) {
      // They end by themselves.
    }
    shutDown();
  }

  private void shutDown() {
    closed = true;
    adminConnection.close();
    timer.close();
    executor.shutdown();
  }
}
