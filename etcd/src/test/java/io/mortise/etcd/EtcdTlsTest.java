package io.mortise.etcd;

import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.mortise.LockName;
import io.mortise.StoreUnavailableException;
import io.mortise.StoreUnfitException;
import io.mortise.spi.LockStore;
import io.mortise.spi.Mode;
import io.mortise.testkit.SessionDriver;
import io.mortise.testkit.server.EtcdServer;
import io.mortise.testkit.server.RedisSecurity;
import java.nio.file.Path;
import java.time.Duration;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class EtcdTlsTest {
  @TempDir private Path folder;

  private static void assertUnfit(String url, String message) {
    assertThatThrownBy(() -> EtcdStore.open(url))
        .isInstanceOf(StoreUnfitException.class)
        .hasMessageContaining(message);
  }

  @Test
  void givenServerWithTls_thenLocksAreKeptOverIt_andEachMismatchIsTold() {
    RedisSecurity certificate = RedisSecurity.make(folder, "", "");
    Path program = EtcdServers.program();
    try (EtcdServer server =
        EtcdServer.startWithTls(program, certificate.certificate(), certificate.key())) {
      String tls = "etcd://127.0.0.1:" + server.tlsPort();
      String trusted = "?tls=true&" + certificate.trusted();
      try (LockStore store = EtcdStore.open(tls + trusted)) {
        SessionDriver a = SessionDriver.open(store, Duration.ofMinutes(5), "a");
        a.hold(LockName.of("x"), Mode.EXCLUSIVE);
      }
      assertUnfit(tls + "?tls=true", "TLS to etcd fails");
      assertUnfit("etcd://localhost:" + server.tlsPort() + trusted, "TLS to etcd fails");
      assertUnfit(tls, "Add tls=true");
      // It answers in plain text or hangs up, as a server that dies may do.
      assertThatThrownBy(() -> EtcdStore.open(server.url() + trusted))
          .isInstanceOfAny(StoreUnfitException.class, StoreUnavailableException.class)
          .hasMessageMatching(".*(TLS to etcd fails|handshake).*");
    }
  }
}
