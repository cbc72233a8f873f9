package io.mortise.zookeeper;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.mortise.LockName;
import io.mortise.spi.Fact;
import io.mortise.spi.LockStore;
import io.mortise.testkit.BoundedWait;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.UUID;
import java.util.concurrent.CompletionStage;
import org.apache.zookeeper.ZooKeeper;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

/** Facts as nodes. */
class NodeFactsTest {
  private static final Duration LONG = TestServer.LONG;

  private final String root = "/facts-" + UUID.randomUUID();
  private LockStore store;
  private ZooKeeper client;

  @BeforeEach
  void open() throws Exception {
    store = ZooKeeperStore.open(TestServer.shared().url() + root + "?tick=100ms");
    client = TestServer.connect(TestServer.shared().address(), LONG);
  }

  @AfterEach
  void close() throws Exception {
    client.close();
    store.close();
  }

  private long put(String name, Duration keep) {
    return BoundedWait.join(store.replaceFact(LockName.of(name), 0, "text of " + name, keep));
  }

  private Fact read(String name) {
    return BoundedWait.join(store.readFact(LockName.of(name)));
  }

  private List<String> facts() throws Exception {
    List<String> facts = new ArrayList<>();
    for (String bucket : client.getChildren(root + "/facts", false)) {
      facts.addAll(client.getChildren(root + "/facts/" + bucket, false));
    }
    return facts;
  }

  @Test
  void givenFactsThatHaveExpired_whenSwept_thenTheirNodesAreGone_andNoOthers() throws Exception {
    assertThat(BoundedWait.join(store.sweep(10))).as("without any fact").isZero();
    assertThat(BoundedWait.join(store.claimSweep())).as("without any fact").isFalse();
    for (String name : new String[] {"a", "b/ü", "c"}) {
      assertThat(put(name, Duration.ofMillis(1))).isPositive();
    }
    long kept = put("kept", LONG);
    BoundedWait.until(LONG, "they expire", () -> read("c").equals(Fact.NONE));
    assertThat(facts()).hasSize(4);
    assertThat(BoundedWait.join(store.sweep(2))).isEqualTo(2);
    assertThat(BoundedWait.join(store.sweep(2))).isEqualTo(1);
    assertThat(facts()).containsExactly("kept");
    assertThat(read("kept")).isEqualTo(new Fact(kept, "text of kept"));
    assertThat(put("a", LONG)).isPositive();
    assertThat(BoundedWait.join(store.claimSweep())).as("written a moment ago").isFalse();
  }

  @Test
  void givenMoreNamesThanAPacketHolds_whenSwept_thenExpiredFactsGoAllTheSame() throws Exception {
    System.setProperty("jute.maxbuffer", "65536");
    try (LockStore limited =
        ZooKeeperStore.open(TestServer.shared().url() + root + "?tick=100ms&timeout=30s")) {
      List<CompletionStage<Long>> written = new ArrayList<>();
      for (int i = 0; i < 1000; i++) {
        LockName name = LockName.of(i + "x".repeat(100));
        written.add(limited.replaceFact(name, 0, "", Duration.ofMillis(1)));
        if (i % 100 == 99) {
          written.forEach(BoundedWait::join);
        }
      }
      int removed = 0;
      for (int i = 0; i < 20 && removed < 1000; i++) {
        removed += BoundedWait.join(limited.sweep(256));
      }
      assertThat(removed).isEqualTo(1000);
      assertThat(facts()).isEmpty();
    } finally {
      System.clearProperty("jute.maxbuffer");
    }
  }

  @Test
  void givenRemovalOfAnotherFact_thenAReplacementIsExecutedAllTheSame() throws Exception {
    long version = put("a", LONG);
    String bucket = client.getChildren(root + "/facts", false).get(0);
    for (int i = 0; i < 50; i++) {
      var removed = client.setData(root + "/facts/" + bucket, new byte[0], -1);
      assertThat(removed).isNotNull();
      version = BoundedWait.join(store.replaceFact(LockName.of("a"), version, "text " + i, LONG));
      assertThat(version).isPositive();
    }
    assertThat(read("a")).isEqualTo(new Fact(version, "text 49"));
  }

  @Test
  void givenNodeThatIsNoFact_thenItIsRefused() throws Exception {
    assertThat(put("a", LONG)).isPositive();
    String bucket = client.getChildren(root + "/facts", false).get(0);
    var written = client.setData(root + "/facts/" + bucket + "/a", new byte[] {'x'}, -1);
    assertThat(written).isNotNull();
    assertThatThrownBy(() -> read("a")).hasMessageContaining("is no fact");
  }
}
