package io.mortise.zookeeper.internal;

import io.mortise.StoreUnavailableException;
import io.mortise.StoreUnfitException;
import io.mortise.spi.time.DurationText;
import io.mortise.spi.time.Ticker;
import io.mortise.zookeeper.internal.TlsExamination.TlsResult;
import java.time.Duration;
import java.util.List;
import java.util.Objects;
import java.util.UUID;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.Executor;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import java.util.concurrent.locks.LockSupport;
import java.util.concurrent.locks.ReentrantLock;
import org.apache.zookeeper.CreateMode;
import org.apache.zookeeper.KeeperException.Code;
import org.apache.zookeeper.Op;
import org.apache.zookeeper.Watcher.Event.EventType;
import org.apache.zookeeper.ZooKeeper;
import org.apache.zookeeper.data.ACL;
import org.jspecify.annotations.Nullable;

/**
 * A store's connection for inspection, beside those of its sessions; reopened when its ZooKeeper
 * session is over. Thread-safe.
 */
public final class AdminConnection {
  /** Short, since it holds nothing. */
  private static final int SESSION_MILLIS = 10_000;

  /** Shorter than the minimum of most servers; mostly long enough to connect. */
  private static final int SHORT_MILLIS = 1_000;

  /** Long enough to connect to each of several servers in turn. */
  private static final int SURE_MILLIS = 3_000;

  /** Longer than any TTL needs. */
  private static final int LONG_MILLIS = 7_200_000;

  private static final long PAUSE_NANOS = 20_000_000;

  /** Most connections are up by then; after it, servers are probed for TLS. */
  private static final long USUAL_NANOS = 1_000_000_000;

  /** How long a probe's answer may take at first. */
  private static final Duration FIRST_ANSWER = Duration.ofSeconds(2);

  /** The tick of servers with the default configuration. */
  private static final Duration DEFAULT_TICK = Duration.ofSeconds(2);

  private final ZooKeeperConnector zooKeeperConnector;
  private final String display;
  private final Duration timeout;
  private final Executor executor;
  private final Ticker ticker;
  private volatile CompletableFuture<Void> probesEnd = CompletableFuture.completedFuture(null);

  /** Not a monitor: a client is made under it, which would pin a virtual thread. */
  private final ReentrantLock guard = new ReentrantLock();

  // Guarded by the guard.
  private @Nullable PendingConnection present;
  private boolean closed;

  /**
   * Does not connect yet.
   *
   * @param display the store's name in messages
   * @param timeout how long to wait for a connection, or an answer
   * @param executor closes connections in the background, and probes servers for TLS
   */
  public AdminConnection(
      ZooKeeperConnector zooKeeperConnector,
      String display,
      Duration timeout,
      Executor executor,
      Ticker ticker) {
    this.zooKeeperConnector = zooKeeperConnector;
    this.display = display;
    this.timeout = timeout;
    this.executor = executor;
    this.ticker = ticker;
  }

  /** A client, and a future that completes when it is connected. */
  private static final class PendingConnection implements ZooKeeperConnection.ConnectionListener {
    final CompletableFuture<Void> up = new CompletableFuture<>();
    @Nullable ZooKeeperConnection zooKeeperConnection;
    volatile String over = "";

    @Override
    public void connected() {
      up.complete(null);
    }

    @Override
    public void disconnected() {}

    @Override
    public void over(String why) {
      over = why;
      up.completeExceptionally(new StoreUnfitException(why));
    }

    @Override
    public void changed(EventType type, String path) {}

    ZooKeeper client() {
      return Objects.requireNonNull(zooKeeperConnection).client();
    }
  }

  private PendingConnection open(int sessionMillis) {
    PendingConnection made = new PendingConnection();
    ZooKeeperConnection zooKeeperConnection = zooKeeperConnector.connect(sessionMillis, made);
    made.zooKeeperConnection = zooKeeperConnection;
    if (zooKeeperConnection.isUp()) {
      made.up.complete(null);
    } else if (zooKeeperConnection.link() == ZooKeeperConnection.ConnectionStatus.OVER) {
      made.over("the client that was handed in is closed");
    }
    return made;
  }

  private PendingConnection connection() {
    guard.lock();
    try {
      PendingConnection known = present;
      if (closed) {
        throw new StoreUnavailableException("Store '" + display + "' is closed.");
      }
      if (known == null || !known.over.isEmpty()) {
        known = open(SESSION_MILLIS);
        present = known;
      }
      return known;
    } finally {
      guard.unlock();
    }
  }

  private ZooKeeper await(PendingConnection pendingConnection) {
    try {
      awaitBesideExamination(pendingConnection.up, ticker.nanos() + timeout.toNanos());
      pendingConnection.up.get();
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
      throw new StoreUnavailableException("Interrupted while connecting to '" + display + "'.", e);
    } catch (ExecutionException e) {
      throw unfit(e.getCause() == null ? "" : e.getCause().getMessage() + ".");
    }
    return pendingConnection.client();
  }

  /**
   * ZooKeeper's client reports a TLS mismatch as servers that are down. So servers are probed for
   * TLS repeatedly: a server that starts, or is busy, may not tell at first.
   */
  private void awaitBesideExamination(CompletableFuture<Void> up, long end)
      throws InterruptedException {
    long pause = Math.min(timeout.toNanos() / 4, USUAL_NANOS);
    TlsResult known = TlsResult.NOTHING;
    for (int round = 1;
        !known.isCertain()
            && !isDoneBefore(up, Math.min(end, ticker.nanos() + pause))
            && ticker.nanos() - end < 0;
        round++) {
      CompletableFuture<TlsResult> examined =
          zooKeeperConnector.examineTls(answerLimit(round), executor);
      isDoneBefore(CompletableFuture.anyOf(up, examined), end);
      TlsResult found = examined.getNow(TlsResult.NOTHING);
      known = found.equals(TlsResult.NOTHING) ? known : found;
    }
    if (!up.isDone()) {
      throw known.mismatch().isEmpty()
          ? new StoreUnavailableException(
              "Cannot reach store '%s' within %s. Check its address, and that a majority of its servers is up.%s"
                  .formatted(display, DurationText.format(timeout), known.hint()))
          : unfit(known.mismatch());
    }
  }

  /** Grows each round, for servers with slow handshakes; a round has up to two answers. */
  private Duration answerLimit(int round) {
    Duration most = timeout.dividedBy(3);
    Duration limit = FIRST_ANSWER.multipliedBy(round);
    return limit.compareTo(most) < 0 ? limit : most;
  }

  /** Waits until it is done, successfully or not. */
  private boolean isDoneBefore(CompletableFuture<?> future, long end) throws InterruptedException {
    try {
      future.get(Math.max(0, end - ticker.nanos()), TimeUnit.NANOSECONDS);
      return true;
    } catch (TimeoutException e) {
      return false;
    } catch (ExecutionException e) {
      return true;
    }
  }

  /** The exception for servers that must not be used as they are. */
  private StoreUnfitException unfit(String why) {
    return new StoreUnfitException("Store '" + display + "' cannot be used: " + why);
  }

  /**
   * A connected client. Blocks until it is connected.
   *
   * @throws StoreUnavailableException if it is not in time
   * @throws StoreUnfitException if the servers refuse
   */
  public ZooKeeper client() {
    return await(connection());
  }

  /** As {@link #client}, for callers that only check the connection. */
  public void awaitConnected() {
    var unused = client();
  }

  /** Does not block. */
  CompletionStage<ZooKeeper> connected() {
    try {
      PendingConnection pendingConnection = connection();
      return pendingConnection.up.thenApply(nothing -> pendingConnection.client());
    } catch (RuntimeException e) {
      return CompletableFuture.failedFuture(e);
    }
  }

  /**
   * The limits of session lengths. For servers that we connect to ourselves this takes two more
   * sessions, side by side and closed in the background: one asks for too short a time and one for
   * too long a time, and the servers grant the nearest allowed. For a client that was handed in,
   * the default tick is assumed. Blocks.
   *
   * @param given the configured tick; else zero
   * @throws StoreUnavailableException if the servers cannot be reached in time
   * @throws StoreUnfitException if they refuse
   */
  SessionLimits limits(Duration given) {
    if (!zooKeeperConnector.isOwn()) {
      Duration longest = Duration.ofMillis(client().getSessionTimeout());
      return new SessionLimits(given.isZero() ? DEFAULT_TICK : given, longest, false);
    }
    PendingConnection shortest = given.isZero() ? open(SHORT_MILLIS) : null;
    PendingConnection longest = open(LONG_MILLIS);
    try {
      // It is needed next, and connects meanwhile.
      PendingConnection unused = connection();
      int most = await(longest).getSessionTimeout();
      Duration tick = shortest == null ? given : tick(granted(shortest), most);
      return new SessionLimits(tick, Duration.ofMillis(most), true);
    } finally {
      closeLater(longest);
      if (shortest != null) {
        closeLater(shortest);
      }
    }
  }

  /** The client takes a tenth of a second to close. */
  private void closeLater(PendingConnection probe) {
    probesEnd =
        CompletableFuture.allOf(
            probesEnd, CompletableFuture.runAsync(() -> close(probe), executor));
  }

  /** The servers are reachable, but so short a session may be too short to connect. */
  private int granted(PendingConnection shortest) {
    try {
      shortest.up.get(SHORT_MILLIS, TimeUnit.MILLISECONDS);
      return shortest.client().getSessionTimeout();
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
      throw new StoreUnavailableException("Interrupted while connecting to '" + display + "'.", e);
    } catch (TimeoutException | ExecutionException e) {
      PendingConnection longer = open(SURE_MILLIS);
      try {
        return await(longer).getSessionTimeout();
      } finally {
        closeLater(longer);
      }
    }
  }

  /**
   * Servers grant between 2 and 20 ticks by default. A configuration may lower the minimum, so that
   * a tick is longer than half of it, or raise the maximum. If the two bounds disagree, the tick is
   * taken for no shorter than the usual one.
   */
  private static Duration tick(int least, int most) {
    int half = (least + 1) / 2;
    return Duration.ofMillis(Math.max(half, Math.min(most / 20, SURE_MILLIS / 2)));
  }

  /**
   * Makes a node and its missing ancestors, and checks the right to make nodes below it. Goes on
   * over connections that break meanwhile. Blocks.
   *
   * @throws StoreUnavailableException if no answer comes in time
   * @throws StoreUnfitException if the right is missing
   */
  public void prepare(String path, List<ACL> acl, CreateMode mode) {
    prepare(path, List.of(Op.create(path, new byte[0], acl, mode)), acl, mode);
  }

  /**
   * The same, for a node that is made in one transaction with others.
   *
   * @param initialNodes makes the node and its initial children
   * @param mode of the nodes above it
   */
  public void prepare(String path, List<Op> initialNodes, List<ACL> acl, CreateMode mode) {
    long end = ticker.nanos() + timeout.toNanos();
    Code code = tryToPrepare(path, initialNodes, acl, mode);
    while (isOutage(code)) {
      if (ticker.nanos() - end > 0) {
        throw new StoreUnavailableException(
            "Store '%s' was connected, but has not answered within %s: %s."
                .formatted(display, DurationText.format(timeout), code));
      }
      // A broken connection may fail at once.
      LockSupport.parkNanos(PAUSE_NANOS);
      code = tryToPrepare(path, initialNodes, acl, mode);
    }
    if (code != Code.OK) {
      throw unfit(
          switch (code) {
            case NOAUTH ->
                "we may not make nodes in '" + path + "'. Check user, password and ACLs.";
            case UNIMPLEMENTED -> "it has no container nodes. ZooKeeper 3.6 or later is needed.";
            default -> "'" + path + "' cannot be made: " + code + ".";
          });
    }
  }

  private Code tryToPrepare(String path, List<Op> initialNodes, List<ACL> acl, CreateMode mode) {
    ZooKeeper client = client();
    Code code = Code.NONODE;
    // The unused node may be removed before the right is tried.
    for (int tries = 0; tries < 3 && code == Code.NONODE; tries++) {
      code = make(client, path, initialNodes, acl, mode);
      if (code == Code.OK || code == Code.NODEEXISTS) {
        code = tryBelow(client, path, acl);
      }
    }
    return code;
  }

  private static boolean isOutage(Code code) {
    return switch (code) {
      case CONNECTIONLOSS, OPERATIONTIMEOUT, SESSIONEXPIRED, SESSIONMOVED -> true;
      default -> false;
    };
  }

  private Code make(
      ZooKeeper client, String path, List<Op> initialNodes, List<ACL> acl, CreateMode mode) {
    for (int slash = path.indexOf('/', 1); slash > 0; slash = path.indexOf('/', slash + 1)) {
      client.create(
          path.substring(0, slash),
          new byte[0],
          acl,
          mode,
          (rc, given, context, name) -> {},
          (Object) null);
    }
    CompletableFuture<Code> made = new CompletableFuture<>();
    client.multi(initialNodes, (rc, given, context, results) -> made.complete(Code.get(rc)), null);
    return get(made);
  }

  /** Makes and removes a node in one transaction, which leaves nothing. */
  private Code tryBelow(ZooKeeper client, String path, List<ACL> acl) {
    String probe = path + "/" + UUID.randomUUID();
    CompletableFuture<Code> tried = new CompletableFuture<>();
    client.multi(
        List.of(Op.create(probe, new byte[0], acl, CreateMode.EPHEMERAL), Op.delete(probe, -1)),
        (rc, given, context, results) -> tried.complete(Code.get(rc)),
        null);
    return get(tried);
  }

  private <T> T get(CompletableFuture<T> answer) {
    try {
      return answer.get(timeout.toMillis(), TimeUnit.MILLISECONDS);
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
      throw new StoreUnavailableException("Interrupted while asking '" + display + "'.", e);
    } catch (TimeoutException | ExecutionException e) {
      throw new StoreUnavailableException("Store '" + display + "' does not answer.", e);
    }
  }

  /**
   * Closes the connection if it is ours. Blocks until the server knows, for a tenth of a second.
   */
  public void close() {
    PendingConnection last;
    guard.lock();
    try {
      closed = true;
      last = present;
      present = null;
    } finally {
      guard.unlock();
    }
    if (last != null) {
      close(last);
    }
    probesEnd.join();
  }

  private static void close(PendingConnection pendingConnection) {
    ZooKeeperConnection zooKeeperConnection = pendingConnection.zooKeeperConnection;
    if (zooKeeperConnection != null) {
      zooKeeperConnection.close();
    }
  }
}
