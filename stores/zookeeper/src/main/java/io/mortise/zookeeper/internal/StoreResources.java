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
 * What a store of either layout has besides its sessions: connections, a timer, threads for calls
 * that block, and the limits that the servers set. Thread-safe.
 */
public final class StoreResources implements Executor {
  private static final long CLOSE_SECONDS = 3;

  /** The name of a node, and its length; a lock's longest, each byte encoded. */
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
   * Connects, and finds out how long sessions can be. Blocks.
   *
   * @param display what the store is called in messages
   * @param timeout how long to wait for a connection, or an answer
   * @param tick of the servers; zero if it is to be found out
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

  /** Checks the servers. If that throws, everything here is closed. Blocks. */
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

  /** How long sessions can be. */
  public SessionLimits limits() {
    return limits;
  }

  /** For short steps. */
  public DelayedTaskScheduler timer() {
    return timer;
  }

  /** Runs a task that may block on a thread of its own; here, once the store is closed. */
  @Override
  public void execute(Runnable task) {
    if (closed) {
      task.run();
    } else {
      executor.execute(task);
    }
  }

  /** For looking around. */
  public AdminConnection adminConnection() {
    return adminConnection;
  }

  /** What is asked once there is a connection. */
  public interface AdminQuery<T> {
    /** Sends requests without blocking, and completes the answer. */
    void ask(ZooKeeper client, CompletableFuture<T> answer);
  }

  /** Runs a question once there is a connection for looking around; it is answered in time. */
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

  /** For a question that was not answered. */
  public StoreUnavailableException silent() {
    return new StoreUnavailableException("Store '" + display + "' does not answer.");
  }

  /**
   * Lists the children of a node; none if it is not there. The server sends them in one packet, and
   * the client leaves a connection on which a packet is too large. So their number is asked before.
   *
   * @param answer fails if they are not told
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
   * Ends the sessions, then all else. Waits for three seconds at most.
   *
   * @param end ends one of them
   */
  public <T> void close(Collection<T> sessions, Function<T, CompletionStage<Void>> end) {
    if (closed) {
      return;
    }
    // Before: an engine that hears of the end of a session would begin another.
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
