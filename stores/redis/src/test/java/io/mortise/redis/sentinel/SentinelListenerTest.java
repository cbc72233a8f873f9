package io.mortise.redis.sentinel;

import io.mortise.redis.transport.FakeServer;
import io.mortise.spi.time.Ticker;
import java.time.Duration;
import java.util.List;
import java.util.Queue;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.Executors;
import java.util.concurrent.ScheduledExecutorService;
import org.awaitility.Awaitility;
import org.junit.jupiter.api.Test;

/** The choice of the Sentinel to listen to. */
class SentinelListenerTest {
  private static final Duration PATIENCE = Duration.ofSeconds(2);

  private static FakeServer sentinel(String answer) throws Exception {
    return FakeServer.greeting(
        (peer, command) -> {
          switch (command.get(0).toString()) {
            case "PING" -> peer.send("+PONG\r\n");
            case "SUBSCRIBE" -> peer.send(">3\r\n+subscribe\r\n+" + command.get(1) + "\r\n:1\r\n");
            default -> peer.send(answer);
          }
        });
  }

  @Test
  @SuppressWarnings("try") // The listener is only open.
  void givenSentinelThatDoesNotSayWhoIsTheMaster_thenTheNextIsListenedTo() throws Exception {
    Queue<String> told = new ConcurrentLinkedQueue<>();
    ScheduledExecutorService timer = Executors.newSingleThreadScheduledExecutor();
    try (FakeServer silent = sentinel("");
        FakeServer knowing = sentinel("*2\r\n+127.0.0.1\r\n+7000\r\n");
        SentinelListener listener =
            new SentinelListener(
                List.of(silent.endpoint(), knowing.endpoint()),
                "mymaster",
                timer,
                Ticker.SYSTEM,
                PATIENCE,
                told::add)) {
      Awaitility.await()
          .atMost(Duration.ofSeconds(30))
          .until(() -> told.contains("127.0.0.1:7000"));
    } finally {
      timer.shutdownNow();
    }
  }
}
