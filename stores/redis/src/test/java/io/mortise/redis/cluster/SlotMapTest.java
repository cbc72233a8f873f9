package io.mortise.redis.cluster;

import static org.assertj.core.api.Assertions.assertThat;

import io.mortise.redis.transport.Endpoint;
import io.mortise.redis.transport.ErrorReplyException;
import io.mortise.redis.transport.FakeServer;
import io.mortise.spi.time.Ticker;
import java.time.Duration;
import java.util.Arrays;
import java.util.List;
import java.util.concurrent.ScheduledThreadPoolExecutor;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** The host that serves a slot, for every way of nodes to announce theirs. */
class SlotMapTest {
  private static final Endpoint ASKED =
      new Endpoint("asked.test", 7000, 0, null, null, false, null, Duration.ofSeconds(3));

  @ParameterizedTest
  @CsvSource(
      nullValues = "none",
      value = {
        "10.0.0.1, none, 10.0.0.1:7001",
        "node.test, 10.0.0.1, node.test:7001",
        "none, 10.0.0.1, asked.test:7001",
        "'', none, asked.test:7001",
        "?, 10.0.0.1, 10.0.0.1:7001",
        "?, none, asked.test:7001"
      })
  void givenAnnouncedHost_thenTheNodeIsFound(
      @Nullable String host, @Nullable String ip, String owner) {
    List<?> more = ip == null ? List.of() : List.of("ip", ip);
    List<?> node = Arrays.asList(host, 7001L, "id", more);
    SlotMap map = SlotMap.parse(List.of(List.of(0L, 5L, node)), ASKED);
    assertThat(map.owner(3)).hasToString(owner);
  }

  @ParameterizedTest
  @CsvSource({"?:7001", "?:0", "nonsense", "host:nonsense"})
  void givenSlotThatMovedToAnUnknownHost_thenTheNodesAreAsked_andNoNameIsGuessed(String address)
      throws Exception {
    ScheduledThreadPoolExecutor timer = new ScheduledThreadPoolExecutor(1);
    try (FakeServer server =
            FakeServer.greeting(
                (peer, command) ->
                    peer.send(
                        command.get(1).equals("INFO")
                            ? "+cluster_state:ok\r\n"
                            : "*1\r\n*3\r\n:0\r\n:16383\r\n*2\r\n+127.0.0.1\r\n:%d\r\n"
                                .formatted(peer.socket().getLocalPort())));
        ClusterNodes nodes =
            new ClusterNodes(
                List.of(server.endpoint()),
                timer,
                Ticker.SYSTEM,
                Duration.ofSeconds(3),
                () -> {})) {
      nodes.moved(7, address);
      assertThat(nodes.owner(7)).hasToString("127.0.0.1:" + server.port());
    } finally {
      timer.shutdownNow();
    }
  }

  @Test
  void givenSlotThatMovedToAnUnknownHost_thenTheCommandIsNotRepeatedAtOnce() throws Exception {
    ScheduledThreadPoolExecutor timer = new ScheduledThreadPoolExecutor(1);
    try (FakeServer server =
            FakeServer.greeting((peer, command) -> peer.send("+cluster_state:ok\r\n"));
        ClusterNodes nodes =
            new ClusterNodes(
                List.of(server.endpoint()),
                timer,
                Ticker.SYSTEM,
                Duration.ofSeconds(3),
                () -> {})) {
      SlotTransport slot = nodes.transport(7, ClusterNodes.ConnectionRole.OPERATIONS);
      assertThat(slot.retryAfter(new ErrorReplyException("MOVED 7 ?:7001"), 0))
          .isGreaterThan(slot.retryAfter(new ErrorReplyException("MOVED 7 10.0.0.1:7001"), 0));
    } finally {
      timer.shutdownNow();
    }
  }
}
