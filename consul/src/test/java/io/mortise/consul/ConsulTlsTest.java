package io.mortise.consul;

import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.mortise.LockName;
import io.mortise.StoreUnavailableException;
import io.mortise.StoreUnfitException;
import io.mortise.spi.LockStore;
import io.mortise.spi.Mode;
import io.mortise.testkit.SessionDriver;
import io.mortise.testkit.server.ConsulServer;
import io.mortise.testkit.server.RedisSecurity;
import java.nio.file.Path;
import java.time.Duration;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class ConsulTlsTest {
  @TempDir private Path folder;

  private static void assertUnfit(String url, String message) {
    assertThatThrownBy(() -> ConsulStore.open(url))
        .isInstanceOf(StoreUnfitException.class)
        .hasMessageContaining(message);
  }

  @Test
  void givenServerWithTls_thenLocksAreKeptOverIt_andEachMismatchIsTold() {
    RedisSecurity certificate = RedisSecurity.make(folder, "", "");
    Path program = ConsulServers.program();
    try (ConsulServer server =
        ConsulServer.startWithTls(program, certificate.certificate(), certificate.key())) {
      String tls = "consul://127.0.0.1:" + server.tlsPort();
      String trusted = "?tls=true&" + certificate.trusted();
      try (LockStore store = ConsulStore.open(tls + trusted)) {
        SessionDriver a = SessionDriver.open(store, Duration.ofMinutes(5), "a");
        a.hold(LockName.of("x"), Mode.EXCLUSIVE);
      }
      assertUnfit(tls + "?tls=true", "TLS to Consul fails");
      assertUnfit("consul://localhost:" + server.tlsPort() + trusted, "TLS to Consul fails");
      assertUnfit(tls, "Add tls=true");
      // It answers in plain text or hangs up, as a server that dies may do.
      assertThatThrownBy(() -> ConsulStore.open(server.url() + trusted))
          .isInstanceOfAny(StoreUnfitException.class, StoreUnavailableException.class)
          .hasMessageMatching(".*(TLS to Consul fails|handshake).*");
    }
  }
}
