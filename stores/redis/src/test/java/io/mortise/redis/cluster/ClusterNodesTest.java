package io.mortise.redis.cluster;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import io.mortise.redis.transport.Endpoint;
import io.mortise.redis.transport.FakeServer;
import io.mortise.spi.time.Ticker;
import java.io.IOException;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.ScheduledThreadPoolExecutor;
import java.util.concurrent.atomic.AtomicReference;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;

/** How often a cluster's nodes are asked for the map. */
class ClusterNodesTest {
  private static final Duration LONG = Duration.ofSeconds(60);
  private static final int LAST = HashSlots.COUNT - 1;

  /** Looks after which the pause has grown, or become short again. */
  private static final int GROWING = 5;

  private static final int MEASURED = 10;

  /** When the node was asked, in nanoseconds. */
  private final List<Long> looks = new CopyOnWriteArrayList<>();

  private final AtomicReference<@Nullable SlotTransport> unserved = new AtomicReference<>();
  private volatile boolean changing;

  /**
   * Serves all slots but the last, or one slot less. Each look meets the next failure meanwhile.
   */
  private void answer(FakeServer.Peer peer, List<?> command) throws IOException {
    if (command.get(0).equals("HELLO")) {
      peer.send("%1\r\n+proto\r\n:3\r\n");
    } else if (command.get(1).equals("INFO")) {
      peer.send("+cluster_state:fail\r\n");
    } else {
      looks.add(System.nanoTime());
      int end = changing && looks.size() % 2 == 0 ? LAST - 2 : LAST - 1;
      peer.send(
          "*1\r\n*3\r\n:0\r\n:%d\r\n*2\r\n+127.0.0.1\r\n:%d\r\n"
              .formatted(end, peer.socket().getLocalPort()));
    }
    SlotTransport transport = unserved.get();
    if (transport != null) {
      transport.call("PING");
    }
  }

  /** How long the measured looks take, which follow some others. */
  private Duration timeOfLooks() {
    int first = looks.size() + GROWING;
    await().atMost(LONG).until(() -> looks.size() > first + MEASURED);
    return Duration.ofNanos(looks.get(first + MEASURED) - looks.get(first));
  }

  @Test
  void givenSlotThatNobodyServes_thenNodesAreAskedMoreSeldom_untilSomethingChanges()
      throws Exception {
    ScheduledThreadPoolExecutor timer = new ScheduledThreadPoolExecutor(1);
    try (FakeServer server = FakeServer.start(this::answer);
        ClusterNodes nodes =
            new ClusterNodes(
                List.of(endpoint(server)), timer, Ticker.SYSTEM, Duration.ofSeconds(3), () -> {})) {
      unserved.set(nodes.transport(LAST, ClusterNodes.ConnectionRole.OPERATIONS));
      nodes.lookSoon();
      Duration nothingNew = timeOfLooks();
      changing = true;
      Duration changes = timeOfLooks();
      // About five and one.
      assertThat(nothingNew).isGreaterThan(changes.plusSeconds(1));
    } finally {
      timer.shutdownNow();
    }
  }

  private static Endpoint endpoint(FakeServer server) {
    return new Endpoint(
        "127.0.0.1", server.port(), 0, null, null, false, null, Duration.ofSeconds(3));
  }
}
