package io.mortise.curator;

import io.mortise.LockClient;
import io.mortise.testkit.BoundedWait;
import io.mortise.testserver.ZooKeeperServer;
import io.mortise.zookeeper.TestServer;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Random;
import java.util.concurrent.Callable;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import org.apache.curator.framework.CuratorFramework;
import org.apache.curator.framework.CuratorFrameworkFactory;
import org.apache.curator.retry.RetryForever;
import org.apache.zookeeper.Watcher.Event.KeeperState;
import org.apache.zookeeper.ZooKeeper;
import org.apache.zookeeper.data.Stat;

/**
 * Clients of Curator and of Mortise side by side, on one server of the JVM; each test with a base
 * path.
 */
@SuppressWarnings("try") // Closing may be interrupted.
final class MixedFleet implements AutoCloseable {
  static final Duration TTL = Duration.ofSeconds(60);
  static final Duration LONG = BoundedWait.scaled(Duration.ofMinutes(3));

  /** The server derives the password of a session from it. */
  private static final long SERVER_SECRET = 0XB3415C00L;

  private static final AtomicInteger BASES = new AtomicInteger();

  private final String base = "/fleet" + BASES.incrementAndGet();
  private final List<AutoCloseable> open = new ArrayList<>();
  private final ExecutorService threads = Executors.newCachedThreadPool();
  private final CuratorFramework looking = curator();

  static ZooKeeperServer server() {
    return TestServer.shared();
  }

  /** The path above all nodes of this test. */
  String base() {
    return base;
  }

  /** The path of a lock, as a user of Curator writes it. */
  String path(String name) {
    return base + "/" + name;
  }

  String url(String recipe) {
    return "zk+curator://"
        + server().address()
        + "?tick=100ms&timeout=20s&recipe="
        + recipe
        + "&base="
        + base;
  }

  CuratorFramework curator() {
    return closedLater(curator(server().address(), TTL));
  }

  static CuratorFramework curator(String address, Duration ttl) {
    CuratorFramework client =
        CuratorFrameworkFactory.newClient(
            address, Math.toIntExact(ttl.toMillis()), 20_000, new RetryForever(50));
    client.start();
    return client;
  }

  LockClient mortise() {
    return mortise("mutex");
  }

  LockClient mortise(String recipe) {
    return mortise(recipe, "m");
  }

  LockClient mortise(String recipe, String name) {
    return closedLater(LockClient.builder().url(url(recipe)).ttl(TTL).name(name).build());
  }

  <T extends AutoCloseable> T closedLater(T resource) {
    open.add(resource);
    return resource;
  }

  <T> Future<T> start(Callable<T> task) {
    return threads.submit(task);
  }

  static <T> T get(Future<T> future) throws Exception {
    return future.get(LONG.toMillis(), TimeUnit.MILLISECONDS);
  }

  /** The nodes below a path; none if it does not exist. */
  List<String> nodes(String path) {
    try {
      return looking.getChildren().forPath(path);
    } catch (org.apache.zookeeper.KeeperException.NoNodeException e) {
      return List.of();
    } catch (Exception e) {
      throw new IllegalStateException(e);
    }
  }

  void awaitNodes(String path, int count) {
    BoundedWait.until(
        LONG, "there were " + count + " nodes in " + path, () -> nodes(path).size() == count);
  }

  CuratorFramework looking() {
    return looking;
  }

  /** Ends the session of a node, as the server does after its timeout. */
  void expireOwnerOf(String path) throws Exception {
    Stat stat = looking.checkExists().forPath(path);
    byte[] password = new byte[16];
    new Random(stat.getEphemeralOwner() ^ SERVER_SECRET).nextBytes(password);
    expire(stat.getEphemeralOwner(), password);
  }

  /**
   * Ends a session. Its client may take it back before it is closed; so this is retried until the
   * server reports that there is no such session.
   */
  void expire(long session, byte[] password) throws Exception {
    long end = System.nanoTime() + LONG.toNanos();
    while (isTakenOver(session, password)) {
      if (System.nanoTime() - end > 0) {
        throw new IllegalStateException("Could not end the session.");
      }
    }
  }

  /** Takes a session over and closes it; or returns that it has ended. */
  private static boolean isTakenOver(long session, byte[] password) throws Exception {
    CompletableFuture<KeeperState> told = new CompletableFuture<>();
    try (ZooKeeper thief =
        new ZooKeeper(
            server().address(),
            Math.toIntExact(TTL.toMillis()),
            event -> told.complete(event.getState()),
            session,
            password)) {
      return told.get(LONG.toMillis(), TimeUnit.MILLISECONDS) != KeeperState.Expired;
    }
  }

  @Override
  public void close() throws Exception {
    threads.shutdownNow();
    for (int i = open.size() - 1; i >= 0; i--) {
      open.get(i).close();
    }
    looking.close();
  }
}
