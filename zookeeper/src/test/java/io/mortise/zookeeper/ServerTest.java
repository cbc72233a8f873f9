package io.mortise.zookeeper;

import static org.assertj.core.api.Assertions.assertThat;

import io.mortise.testkit.server.ZooKeeperServer;
import java.nio.charset.StandardCharsets;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import org.apache.zookeeper.CreateMode;
import org.apache.zookeeper.Watcher.Event.KeeperState;
import org.apache.zookeeper.ZooDefs.Ids;
import org.apache.zookeeper.ZooKeeper;
import org.junit.jupiter.api.Test;

/** The server of the test kit is one, and keeps what it has acknowledged. */
class ServerTest {
  @Test
  void givenServer_whenKilledAndRestarted_thenItHasWhatWasWritten() throws Exception {
    try (ZooKeeperServer server = ZooKeeperServer.start()) {
      ZooKeeper client = connect(server);
      client.create(
          "/a", "b".getBytes(StandardCharsets.UTF_8), Ids.OPEN_ACL_UNSAFE, CreateMode.PERSISTENT);
      client.close();
      server.kill();
      assertThat(server.ask("ruok")).isEmpty();
      server.restart();
      ZooKeeper again = connect(server);
      assertThat(again.getData("/a", false, null)).asString().isEqualTo("b");
      again.close();
    }
  }

  private static ZooKeeper connect(ZooKeeperServer server) throws Exception {
    CountDownLatch connected = new CountDownLatch(1);
    ZooKeeper client =
        new ZooKeeper(
            server.address(),
            10_000,
            event -> {
              if (event.getState() == KeeperState.SyncConnected) {
                connected.countDown();
              }
            });
    assertThat(connected.await(30, TimeUnit.SECONDS)).isTrue();
    return client;
  }
}
