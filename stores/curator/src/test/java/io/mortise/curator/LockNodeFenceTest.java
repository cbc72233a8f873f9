package io.mortise.curator;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.mortise.FencingToken;
import io.mortise.Lease;
import io.mortise.LockClient;
import io.mortise.StaleTokenException;
import io.mortise.zookeeper.FencedWrites;
import io.mortise.zookeeper.TestServer;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import org.apache.zookeeper.CreateMode;
import org.apache.zookeeper.ZooDefs.Ids;
import org.apache.zookeeper.ZooKeeper;
import org.junit.jupiter.api.Test;

/** The ensemble refuses writes under a lock node that is gone. */
class LockNodeFenceTest {
  private static byte[] bytes(String text) {
    return text.getBytes(StandardCharsets.UTF_8);
  }

  @Test
  void givenLockNode_whenItsHoldIsOver_thenWritesInItsNameAreRefused() throws Exception {
    String servers = TestServer.shared().address();
    String url = "zk+curator://" + servers + "?tick=100ms&base=/locks";
    ZooKeeper client = TestServer.connect(servers, Duration.ofSeconds(30));
    try (LockClient locks = LockClient.builder().url(url).ttl(Duration.ofSeconds(10)).build()) {
      String path =
          client.create(
              "/by-lock-node", bytes("first"), Ids.OPEN_ACL_UNSAFE, CreateMode.PERSISTENT);
      Lease lease = locks.lock("a").acquire();
      FencingToken token = lease.fencingToken();
      String lockNode = CuratorStore.lockNode(client, "/locks", token);
      FencedWrites writes = FencedWrites.whileNodeStands(client, token, lockNode);
      writes.setData(path, bytes("held"), -1);
      lease.close();
      assertThatThrownBy(() -> writes.setData(path, bytes("too late"), -1))
          .isInstanceOf(StaleTokenException.class)
          .hasMessageContaining("hold behind it is over");
      assertThatThrownBy(() -> CuratorStore.lockNode(client, "/locks", token))
          .isInstanceOf(StaleTokenException.class);
      assertThat(client.getData(path, false, null)).isEqualTo(bytes("held"));
    } finally {
      client.close();
    }
  }
}
