package io.mortise.consul;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import com.sun.net.httpserver.HttpServer;
import io.mortise.LockName;
import io.mortise.StoreUnfitException;
import io.mortise.spi.LockStore;
import io.mortise.spi.Mode;
import io.mortise.spi.StoreReport;
import io.mortise.spi.StoreReport.Finding;
import io.mortise.spi.StoreReport.Grade;
import io.mortise.spi.StoreUrl;
import io.mortise.spi.time.Ticker;
import io.mortise.testkit.BoundedWait;
import io.mortise.testkit.SessionDriver;
import io.mortise.testserver.ConsulServer;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.time.Duration;
import java.util.Map;
import java.util.function.Function;
import java.util.stream.Collectors;
import org.awaitility.Awaitility;
import org.junit.jupiter.api.Test;

/** Tokens, and reports about Consul. */
class ConsulAccessTest {
  private static final String MASTER = "5ec0e700-1111-2222-3333-444444444444";
  private static final String WRITER = "5ec0e700-aaaa-2222-3333-444444444444";
  private static final String READER = "5ec0e700-bbbb-2222-3333-444444444444";
  private static final String UNKNOWN = "5ec0e700-cccc-2222-3333-444444444444";

  private static ConsulServer secured() {
    ConsulServer server =
        ConsulServers.start(
            "-hcl",
            "acl={enabled=true default_policy=\"deny\" tokens={master=\"%s\"}}".formatted(MASTER));
    addToken(server, WRITER, "write");
    addToken(server, READER, "read");
    return server;
  }

  private static void addToken(ConsulServer server, String token, String may) {
    String rules = "key_prefix \\\"mortise-shop/\\\" { policy = \\\"" + may + "\\\" }";
    // The ACL system is set up a moment after the leader's election.
    Awaitility.await()
        .atMost(Duration.ofSeconds(60))
        .untilAsserted(
            () ->
                assertThat(
                        server.send(
                            "PUT",
                            "/v1/acl/policy?token=" + MASTER,
                            "{\"Name\":\"%s\",\"Rules\":\"%s\"}".formatted(may, rules)))
                    .contains("200 OK"));
    assertThat(
            server.send(
                "PUT",
                "/v1/acl/token?token=" + MASTER,
                "{\"SecretID\":\"%s\",\"Policies\":[{\"Name\":\"%s\"}]}".formatted(token, may)))
        .contains("200 OK");
  }

  private static String url(ConsulServer server, String token) {
    return server.url().replace("//", "//" + token + "@") + "?namespace=shop";
  }

  private static void assertUnfit(String url, String message) {
    assertThatThrownBy(() -> ConsulStore.open(url))
        .isInstanceOf(StoreUnfitException.class)
        .hasMessageContaining(message)
        .hasMessageNotContaining("5ec0e7");
  }

  @Test
  void givenTokens_thenOneThatMayIsLetIn_andTheOthersAreToldWhatIsMissing() {
    try (ConsulServer server = secured();
        LockStore store = ConsulStore.open(url(server, WRITER))) {
      SessionDriver a = SessionDriver.open(store, Duration.ofMinutes(5), "a");
      a.hold(LockName.of("x"), Mode.EXCLUSIVE);
      String policy = "key_prefix \"mortise-shop/\" { policy = \"write\" }";
      assertUnfit(url(server, READER), policy);
      assertUnfit(server.url() + "?namespace=shop", policy);
      assertUnfit(url(server, WRITER).replace("shop", "mine"), "key_prefix \"mortise-mine/\"");
      assertUnfit(url(server, UNKNOWN), "does not know the token");

      Map<String, Finding> findings = findings(store, "consul/memory");
      assertThat(findings.get("version").grade()).isEqualTo(Grade.UNKNOWN);
      assertThat(findings.get("storage").grade()).isEqualTo(Grade.UNKNOWN);
      assertThat(findings.get("servers").value()).isEqualTo("1");
      try (LockStore master = ConsulStore.open(url(server, MASTER))) {
        assertThat(findings(master, "consul").get("acl").grade()).isEqualTo(Grade.FINE);
      }
    }
  }

  private static Map<String, Finding> findings(LockStore store, String mode) {
    StoreReport report = BoundedWait.join(store.examine());
    assertThat(report.mode()).isEqualTo(mode);
    return report.findings().stream().collect(Collectors.toMap(Finding::id, Function.identity()));
  }

  @Test
  void givenServer_whenExamined_thenVersionStorageLeaderServersAndTokensAreTold() {
    try (LockStore store = ConsulStore.open(ConsulServers.shared().url())) {
      Map<String, Finding> findings = findings(store, "consul");
      assertThat(findings.get("version").value()).startsWith("1.");
      assertThat(findings.get("storage").value()).isEqualTo("disk");
      assertThat(findings.get("leader").value()).startsWith("127.0.0.1:");
      assertThat(findings.get("servers"))
          .satisfies(
              servers -> {
                assertThat(servers.value()).isEqualTo("1");
                assertThat(servers.grade()).isEqualTo(Grade.NOTE);
              });
      assertThat(findings.get("acl").grade()).isEqualTo(Grade.NOTE);
    }
  }

  @Test
  void givenAgentInDevelopmentMode_whenExamined_thenItLocks_andItIsSaidThatItForgets() {
    try (ConsulServer server = ConsulServers.start("-dev");
        LockStore store = ConsulStore.open(server.url())) {
      // Its JSON has other blanks.
      SessionDriver a = SessionDriver.open(store, Duration.ofMinutes(5), "a");
      a.hold(LockName.of("x"), Mode.EXCLUSIVE);
      assertThat(findings(store, "consul/memory").get("storage").grade()).isEqualTo(Grade.WEAK);
    }
  }

  /** Its "not found" must not make a lock look free. */
  @Test
  void givenServerThatIsNotConsul_thenOpeningAndReadingSaySo() throws Exception {
    HttpServer other =
        HttpServer.create(new InetSocketAddress(InetAddress.getLoopbackAddress(), 0), 0);
    other.start();
    try {
      String url = "consul://127.0.0.1:" + other.getAddress().getPort();
      assertUnfit(url, "is not Consul");
      ConsulTarget target = ConsulTarget.parse(StoreUrl.parse(url));
      try (ConsulGateway gateway = new ConsulGateway(target, "test", Ticker.SYSTEM)) {
        ConsulDocuments documents = new ConsulDocuments(gateway, "mortise/");
        assertThatThrownBy(() -> BoundedWait.join(documents.read("lock/x")))
            .hasMessageContaining("is not Consul");
      }
    } finally {
      other.stop(0);
    }
  }
}
