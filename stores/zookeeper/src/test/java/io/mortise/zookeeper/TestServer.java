package io.mortise.zookeeper;

import io.mortise.testkit.BoundedWait;
import io.mortise.testserver.ZooKeeperServer;
import java.time.Duration;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import org.apache.zookeeper.Watcher.Event.KeeperState;
import org.apache.zookeeper.ZooKeeper;

/** One server for tests of a JVM without special needs, and plain clients of it. */
public final class TestServer {
  /** A bound for operations that take a moment. */
  public static final Duration LONG = BoundedWait.scaled(Duration.ofSeconds(40));

  private static ZooKeeperServer shared;

  private TestServer() {}

  /**
   * The configuration of test servers: short ticks, and no fsync, which a killed process does not
   * need.
   */
  public static ZooKeeperServer.Setup setup() {
    return forcing().withProperty("zookeeper.forceSync", "no");
  }

  /** The same, for tests of a power loss. */
  static ZooKeeperServer.Setup forcing() {
    return ZooKeeperServer.Setup.single()
        .with("tickTime", "100")
        .withProperty("zookeeper.serverCnxnFactory", LateServerFactory.class.getName());
  }

  /** Runs until the JVM ends. A test that disturbs it lets it serve again. */
  public static synchronized ZooKeeperServer shared() {
    if (shared == null) {
      shared = ZooKeeperServer.start(setup());
    }
    return shared;
  }

  /** A client that is connected. */
  public static ZooKeeper connect(String address, Duration timeout) throws Exception {
    CountDownLatch connected = new CountDownLatch(1);
    ZooKeeper client =
        new ZooKeeper(
            address,
            Math.toIntExact(timeout.toMillis()),
            event -> {
              if (event.getState() == KeeperState.SyncConnected) {
                connected.countDown();
              }
            });
    if (!connected.await(LONG.toMillis(), TimeUnit.MILLISECONDS)) {
      client.close();
      throw new IllegalStateException("No connection to " + address + ".");
    }
    return client;
  }
}
