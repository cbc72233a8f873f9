package io.mortise.etcd;

import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.mortise.StoreUnavailableException;
import io.mortise.etcd.RequestBatcher.Answer;
import io.mortise.etcd.RequestBatcher.RequestKind;
import io.mortise.spi.StoreUrl;
import io.mortise.testkit.BoundedWait;
import java.util.List;
import java.util.Set;
import java.util.concurrent.CompletionStage;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;

class RequestBatcherTest {
  private static final String RANGE = "{\"key\":\"\"}";

  @Test
  void givenServerThatStandsStill_thenARequestBehindOthersFailsUnsent_onceItsTimeIsOver()
      throws Exception {
    try (StallingServer stalling = new StallingServer();
        EtcdGateway gateway =
            new EtcdGateway(
                EtcdTarget.parse(
                    StoreUrl.parse("etcd://127.0.0.1:" + stalling.port() + "?timeout=100ms")),
                "test")) {
      RequestBatcher requests = new RequestBatcher(gateway);
      List<CompletionStage<Answer>> answers =
          Stream.generate(() -> requests.send(RequestKind.RANGE, RANGE, Set.of()))
              .limit(4)
              .toList();
      assertFails(answers.get(1), "did not answer within 100ms");
      assertFails(answers.get(2), "was not sent within 100ms");
      assertFails(answers.get(3), "was not sent within 100ms");
    }
  }

  private static void assertFails(CompletionStage<Answer> answer, String message) {
    assertThatThrownBy(() -> BoundedWait.join(answer))
        .hasCauseInstanceOf(StoreUnavailableException.class)
        .hasMessageContaining(message);
  }
}
