package io.mortise.etcd;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import com.sun.net.httpserver.HttpServer;
import io.mortise.LockName;
import io.mortise.StoreUnavailableException;
import io.mortise.StoreUnfitException;
import io.mortise.spi.LockStore;
import io.mortise.spi.Mode;
import io.mortise.spi.Renewal;
import io.mortise.spi.StoreReport;
import io.mortise.spi.StoreReport.Finding;
import io.mortise.spi.StoreReport.Grade;
import io.mortise.testkit.BoundedWait;
import io.mortise.testkit.SessionDriver;
import io.mortise.testserver.EtcdServer;
import java.io.IOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.function.Function;
import java.util.stream.Collectors;
import org.junit.jupiter.api.Test;

/** Users, tokens that are forgotten, and reports about etcd. */
class EtcdAccessTest {
  private static final Duration TTL = Duration.ofMinutes(5);

  private static String quoted(String text) {
    return JsonText.quoted(text);
  }

  /** A server with the user root, and one who may use a namespace. */
  private static EtcdServer secured() {
    EtcdServer server = EtcdServers.start();
    for (String user : List.of("root", "me", "other")) {
      server.post(
          "/v3/auth/user/add",
          "{\"name\":" + quoted(user) + ",\"password\":" + quoted("s3c/r\"@t") + "}");
    }
    for (String role : List.of("root", "locks")) {
      server.post("/v3/auth/role/add", "{\"name\":" + quoted(role) + "}");
    }
    server.post(
        "/v3/auth/role/grant",
        "{\"name\":\"locks\",\"perm\":{\"permType\":\"READWRITE\",\"key\":%s,\"range_end\":%s}}"
            .formatted(JsonText.base64("/mortise/shop/"), JsonText.base64After("/mortise/shop/")));
    server.post("/v3/auth/user/grant", "{\"user\":\"root\",\"role\":\"root\"}");
    server.post("/v3/auth/user/grant", "{\"user\":\"me\",\"role\":\"locks\"}");
    assertThat(server.post("/v3/auth/enable", "{}")).contains("200 OK");
    return server;
  }

  private static String url(EtcdServer server, String user) {
    return server.url().replace("//", "//" + user + ":s3c%2Fr%22%40t@") + "?namespace=shop";
  }

  private static void assertUnfit(String url, String message) {
    assertThatThrownBy(() -> EtcdStore.open(url))
        .isInstanceOf(StoreUnfitException.class)
        .hasMessageContaining(message)
        .hasMessageNotContaining("s3c");
  }

  @Test
  void givenUsers_thenOneWhoMayIsLetIn_andTheOthersAreToldWhatIsMissing() {
    try (EtcdServer server = secured();
        LockStore store = EtcdStore.open(url(server, "me"))) {
      SessionDriver a = SessionDriver.open(store, TTL, "a");
      a.hold(LockName.of("x"), Mode.EXCLUSIVE);
      assertUnfit(server.url(), "Etcd wants a user");
      assertUnfit(server.url().replace("//", "//me:wrong@"), "refuses the user or the password");
      assertUnfit(url(server, "other"), "role grant-permission");
      assertUnfit(url(server, "me").replace("shop", "mine"), "role grant-permission");

      server.restart();
      assertThat(a.renew()).as("with a new token").isInstanceOf(Renewal.Renewed.class);

      Map<String, Finding> findings = findings(store);
      assertThat(findings.get("version").grade()).isEqualTo(Grade.FINE);
    }
  }

  @Test
  void givenUserForAServerThatHasNone_thenOpeningSaysSo() {
    assertUnfit(url(EtcdServers.shared(), "me"), "Etcd knows no users");
  }

  @Test
  void givenServerWithoutGateway_thenOpeningSaysSo() {
    try (EtcdServer server = EtcdServers.start("--enable-grpc-gateway=false")) {
      assertUnfit(server.url(), "no JSON gateway");
    }
  }

  @Test
  void givenAnotherServerAtThatPort_thenOpeningSaysWhatAnswers() throws IOException {
    HttpServer web =
        HttpServer.create(new InetSocketAddress(InetAddress.getLoopbackAddress(), 0), 0);
    web.createContext(
        "/",
        exchange -> {
          try (exchange) {
            exchange.getRequestBody().readAllBytes();
            exchange.getResponseHeaders().set("Server", "shop");
            exchange.sendResponseHeaders(200, 6);
            exchange.getResponseBody().write("<html>".getBytes(StandardCharsets.UTF_8));
          }
        });
    web.start();
    try {
      assertThatThrownBy(() -> EtcdStore.open("etcd://127.0.0.1:" + web.getAddress().getPort()))
          .as("it may be a proxy's page about an etcd that it cannot reach now")
          .isInstanceOf(StoreUnavailableException.class)
          .hasMessageContaining("status=200, server='shop', answer='<html>').");
    } finally {
      web.stop(0);
    }
  }

  private static Map<String, Finding> findings(LockStore store) {
    StoreReport report = BoundedWait.join(store.examine());
    assertThat(report.mode()).isEqualTo("etcd");
    return report.findings().stream().collect(Collectors.toMap(Finding::id, Function.identity()));
  }

  @Test
  void givenServer_whenExamined_thenVersionSizeAlarmsAndMembersAreTold() {
    try (LockStore store = EtcdStore.open(EtcdServers.shared().url())) {
      Map<String, Finding> findings = findings(store);
      assertThat(findings.get("version").value()).startsWith("3.");
      assertThat(findings.get("alarms").grade()).isEqualTo(Grade.FINE);
      assertThat(findings.get("dbSize").grade()).isEqualTo(Grade.FINE);
      assertThat(findings.get("members"))
          .satisfies(
              members -> {
                assertThat(members.value()).isEqualTo("1");
                assertThat(members.grade()).isEqualTo(Grade.NOTE);
              });
    }
  }

  @Test
  void givenServerThatIsFull_thenRenewalsAreUnanswered_andTheReportSaysWhy() {
    try (EtcdServer server = EtcdServers.start("--quota-backend-bytes", "65536");
        LockStore store = EtcdStore.open(server.url())) {
      SessionDriver a = SessionDriver.open(store, TTL, "a");
      String value = JsonText.base64("x".repeat(60_000));
      for (int i = 0; i < 20; i++) {
        server.post("/v3/kv/put", "{\"key\":\"YQ==\",\"value\":" + value + "}");
      }
      assertThat(a.renew())
          .isInstanceOfSatisfying(
              Renewal.Unknown.class,
              unknown -> assertThat(unknown.cause()).hasMessageContaining("quota"));
      assertThat(findings(store).get("alarms"))
          .satisfies(
              alarms -> {
                assertThat(alarms.grade()).isEqualTo(Grade.WEAK);
                assertThat(alarms.value()).isEqualTo("NOSPACE");
              });
    }
  }
}
