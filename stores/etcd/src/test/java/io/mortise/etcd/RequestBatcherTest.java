package io.mortise.etcd;

import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.mortise.StoreUnavailableException;
import io.mortise.etcd.RequestBatcher.EtcdAnswer;
import io.mortise.etcd.RequestBatcher.RequestKind;
import io.mortise.spi.StoreUrl;
import io.mortise.spi.time.Ticker;
import io.mortise.testkit.BoundedWait;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.time.Duration;
import java.util.List;
import java.util.Set;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.atomic.AtomicLong;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;

class RequestBatcherTest {
  private static final String RANGE = "{\"key\":\"\"}";

  @Test
  void givenServerThatStandsStill_thenARequestBehindOthersFailsUnsent_onceItsTimeIsOver()
      throws Exception {
    AtomicLong nanos = new AtomicLong();
    ServerSocket silent = new ServerSocket(0, 50, InetAddress.getLoopbackAddress());
    String url = "etcd://127.0.0.1:" + silent.getLocalPort() + "?timeout=1m";
    try (EtcdGateway gateway =
        new EtcdGateway(EtcdTarget.parse(StoreUrl.parse(url)), "test", Ticker.SYSTEM)) {
      RequestBatcher requests = new RequestBatcher(gateway, nanos::get);
      List<CompletionStage<EtcdAnswer>> answers =
          Stream.generate(() -> requests.send(RequestKind.RANGE, RANGE, Set.of()))
              .limit(4)
              .toList();
      nanos.set(Duration.ofMinutes(1).toNanos() + 1);
      silent.close();
      assertFails(answers.get(0), "etcd:127.0.0.1");
      assertFails(answers.get(2), "was not sent within 1m");
      assertFails(answers.get(3), "was not sent within 1m");
    } finally {
      silent.close();
    }
  }

  private static void assertFails(CompletionStage<EtcdAnswer> answer, String message) {
    assertThatThrownBy(() -> BoundedWait.join(answer))
        .hasCauseInstanceOf(StoreUnavailableException.class)
        .hasMessageContaining(message);
  }
}
