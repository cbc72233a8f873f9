package io.mortise.zookeeper;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.mortise.FencingToken;
import io.mortise.Lease;
import io.mortise.LockClient;
import io.mortise.StaleTokenException;
import io.mortise.testserver.ZooKeeperServer;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.List;
import org.apache.zookeeper.CreateMode;
import org.apache.zookeeper.KeeperException;
import org.apache.zookeeper.Op;
import org.apache.zookeeper.ZooDefs.Ids;
import org.apache.zookeeper.ZooKeeper;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;

/** The ensemble refuses writes of a hold that another has followed. */
class ZkFenceTest {
  private static ZooKeeperServer server;
  private static ZooKeeper client;

  @BeforeAll
  static void startServer() throws Exception {
    server = TestServer.shared();
    client = TestServer.connect(server.address(), Duration.ofSeconds(30));
  }

  @AfterAll
  static void stopServer() throws Exception {
    client.close();
  }

  private static byte[] bytes(String text) {
    return text.getBytes(StandardCharsets.UTF_8);
  }

  private static String read(String path) throws Exception {
    return new String(client.getData(path, false, null), StandardCharsets.UTF_8);
  }

  private static String node(String path) throws Exception {
    return client.create(path, bytes("first"), Ids.OPEN_ACL_UNSAFE, CreateMode.PERSISTENT);
  }

  private static FencingToken token(String lock, long value, String holder) {
    return new FencingToken(lock, value, holder);
  }

  @Test
  void givenLaterHolder_whenAnEarlierOneWrites_thenItIsRefused_asANaiveWriteIsNot()
      throws Exception {
    String path = node("/fenced");
    ZkFence fence = ZkFence.under(client, "/fences/a");
    try (LockClient locks = LockClient.connect("mem:")) {
      Lease first = locks.lock("invoice/42").acquire();
      FencedWrites stale = fence.enter(first);
      stale.setData(path, bytes("by the first"), -1);
      stale.setData(path, bytes("by the first again"), -1);
      first.close();
      try (Lease second = locks.lock("invoice/42").acquire()) {
        FencedWrites fresh = fence.enter(second);

        assertThatThrownBy(() -> stale.setData(path, bytes("too late"), -1))
            .isInstanceOfSatisfying(
                StaleTokenException.class,
                refusal -> assertThat(refusal.currentToken()).isEqualTo(second.token()));
        assertThat(read(path)).isEqualTo("by the first again");
        fresh.setData(path, bytes("by the second"), -1);
        assertThat(read(path)).isEqualTo("by the second");
        assertThat(fence.latest("invoice/42")).hasValue(second.token());

        client.setData(path, bytes("naive"), -1);
        assertThat(read(path)).as("what nobody checks goes through").isEqualTo("naive");
      }
    }
  }

  @Test
  void givenToken_whenItEntersLate_thenItIsRefused_andTheSameHolderIsNot() throws Exception {
    ZkFence fence = ZkFence.under(client, "/fences/b");
    assertThat(fence.latest("x")).isEmpty();
    fence.enter(token("x", 7, "a"));
    fence.enter(token("x", 7, "a"));
    assertThatThrownBy(() -> fence.enter(token("x", 6, "b")))
        .isInstanceOf(StaleTokenException.class)
        .hasMessageContaining("seen token 7");
    assertThatThrownBy(() -> fence.enter(token("x", 7, "b")))
        .isInstanceOfSatisfying(
            StaleTokenException.class, refusal -> assertThat(refusal.isGrantedTwice()).isTrue());
    fence.enter(token("y", 1, "b"));
    fence.enter(token("x", Long.MAX_VALUE, "c"));
    assertThat(fence.latest("x")).hasValue(Long.MAX_VALUE);
  }

  @Test
  void givenSeveralWrites_thenAllOrNoneAreDone_andTroubleOfTheirOwnIsTold() throws Exception {
    ZkFence fence = ZkFence.under(client, "/fences/c");
    FencedWrites writes = fence.enter(token("z", 5, "a"));
    String path = writes.create("/made", bytes("x"), Ids.OPEN_ACL_UNSAFE, CreateMode.PERSISTENT);
    List<Op> both =
        List.of(Op.setData(path, bytes("y"), -1), Op.setData("/nowhere", bytes("y"), -1));
    assertThatThrownBy(() -> writes.multi(both))
        .isInstanceOf(KeeperException.NoNodeException.class);
    assertThatThrownBy(() -> writes.setData(path, bytes("y"), 17))
        .isInstanceOf(KeeperException.BadVersionException.class);
    assertThat(read(path)).isEqualTo("x");
    fence.enter(token("z", 6, "b"));
    assertThatThrownBy(() -> writes.delete(path, -1)).isInstanceOf(StaleTokenException.class);
    assertThatThrownBy(() -> writes.multi(both)).isInstanceOf(StaleTokenException.class);
    assertThat(client.exists(path, false)).isNotNull();
  }
}
