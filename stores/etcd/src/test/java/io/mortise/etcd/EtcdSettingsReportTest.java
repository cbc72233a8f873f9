package io.mortise.etcd;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import com.sun.net.httpserver.HttpServer;
import io.mortise.spi.StoreReport;
import io.mortise.spi.StoreUrl;
import io.mortise.spi.time.Ticker;
import io.mortise.testkit.BoundedWait;
import java.io.IOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import org.junit.jupiter.api.Test;

/** Answers that a healthy server does not give. */
class EtcdSettingsReportTest {
  /** The report on a server that answers each request so. */
  private static StoreReport report(int status, String body) throws IOException {
    HttpServer server =
        HttpServer.create(new InetSocketAddress(InetAddress.getLoopbackAddress(), 0), 0);
    server.createContext(
        "/",
        exchange -> {
          try (exchange) {
            exchange.getRequestBody().readAllBytes();
            byte[] answer = body.getBytes(UTF_8);
            exchange.sendResponseHeaders(status, answer.length);
            exchange.getResponseBody().write(answer);
          }
        });
    server.start();
    String url = "etcd://127.0.0.1:" + server.getAddress().getPort();
    EtcdTarget target = EtcdTarget.parse(StoreUrl.parse(url));
    try (EtcdGateway gateway = new EtcdGateway(target, "test", Ticker.SYSTEM)) {
      return BoundedWait.join(new EtcdSettingsReport(gateway).make());
    } finally {
      server.stop(0);
    }
  }

  @Test
  void givenServerThatRefusesThisUser_thenNothingIsKnown() throws Exception {
    StoreReport report = report(403, "{\"code\":7,\"message\":\"permission denied\"}");
    assertThat(report.findings())
        .hasSize(4)
        .allSatisfy(finding -> assertThat(finding.grade()).isEqualTo(StoreReport.Grade.UNKNOWN));
  }

  @Test
  void givenServerThatCannotAnswerNow_thenThereIsNoReport() {
    assertThatThrownBy(() -> report(503, "{\"code\":14,\"message\":\"etcdserver: no leader\"}"))
        .hasMessageContaining("no leader");
    assertThatThrownBy(() -> report(200, "<html>")).hasMessageContaining("no JSON gateway");
  }
}
