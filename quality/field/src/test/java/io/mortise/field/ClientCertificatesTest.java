package io.mortise.field;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.mortise.LockClient;
import io.mortise.StoreUnfitException;
import io.mortise.testkit.server.LocalServer;
import io.mortise.testserver.RedisSecurity;
import io.mortise.testserver.RedisServer;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.api.parallel.Isolated;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/** Servers that require client certificates. */
@Tag("extended")
@Isolated("sets system properties")
class ClientCertificatesTest {
  private static final String KEY_STORE = "javax.net.ssl.keyStore";
  private static final String PASSWORD = "javax.net.ssl.keyStorePassword";

  @TempDir private Path folder;

  @AfterEach
  void reset() {
    System.clearProperty(KEY_STORE);
    System.clearProperty(PASSWORD);
  }

  /**
   * Starts a server that accepts no client certificate but its own.
   *
   * @param tlsPort for TLS, unless its only port speaks TLS
   */
  private static LocalServer start(FieldStore store, RedisSecurity own, int tlsPort) {
    String certificate = own.certificate().toString();
    String key = own.key().toString();
    switch (store) {
      case CONSUL -> {
        String files =
            "cert_file=\"%s\" key_file=\"%s\" ca_file=\"%s\" verify_incoming_https=true"
                .formatted(certificate, key, certificate);
        return store.start("-hcl", files, "-hcl", "ports={https=" + tlsPort + "}");
      }
      case NATS -> {
        return store.start(
            "--tlsverify", "--tlscert", certificate, "--tlskey", key, "--tlscacert", certificate);
      }
      case REDIS -> {
        List<String> arguments = new ArrayList<>(own.tls(tlsPort));
        arguments.set(arguments.size() - 1, "yes");
        return store.start(arguments.toArray(String[]::new));
      }
      default -> throw new IllegalArgumentException(store + " is not tried.");
    }
  }

  private static String url(FieldStore store, LocalServer server, int tlsPort) {
    return switch (store) {
      case CONSUL -> "consul://127.0.0.1:" + tlsPort + "?tls=true&";
      case REDIS -> "rediss://127.0.0.1:" + tlsPort + "?";
      default -> server.url() + "?tls=true&";
    };
  }

  @Report({
    "redis/redis#6827",
    "redis/lettuce#1297",
    "spring-cloud/spring-cloud-consul#212",
    "Ecwid/consul-api#121"
  })
  @ParameterizedTest
  @EnumSource(
      value = FieldStore.class,
      names = {"CONSUL", "NATS", "REDIS"})
  void givenServerThatWantsACertificate_thenItIsSaidSo_andThatOfTheJvmIsTakenWithCa(
      FieldStore store) throws Exception {
    RedisSecurity own = RedisSecurity.make(folder, "", "");
    int tlsPort = RedisServer.freePort();
    try (LocalServer server = start(store, own, tlsPort)) {
      String url = url(store, server, tlsPort) + "timeout=2s&" + own.trusted();
      for (int i = 0; i < 5; i++) {
        assertThatThrownBy(() -> LockClient.connect(url).close())
            .isInstanceOf(StoreUnfitException.class)
            .hasMessageContaining("wants a certificate of this client")
            .hasMessageContaining(KEY_STORE);
      }
      System.setProperty(KEY_STORE, folder.resolve("keys.p12").toString());
      System.setProperty(PASSWORD, "changeit");
      try (LockClient client = LockClient.connect(url)) {
        assertThat(client.lock("x").tryAcquire()).isPresent();
      }
    }
  }
}
