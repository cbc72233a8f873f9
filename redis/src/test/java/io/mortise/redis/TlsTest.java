package io.mortise.redis;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.mortise.StoreUnfitException;
import io.mortise.spi.LockName;
import io.mortise.spi.LockStore;
import io.mortise.spi.Reply;
import io.mortise.testkit.server.RedisServer;
import java.nio.file.Files;
import java.nio.file.Path;
import java.security.KeyStore;
import java.util.Base64;
import java.util.Objects;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class TlsTest {
  private static final String PASSWORD = "changeit";

  @TempDir private Path folder;

  /** By what commands travel. */
  String wire() {
    return "direct";
  }

  private LockStore connect(String url) {
    return RedisStore.open(url + (url.contains("?") ? "&" : "?") + "wire=" + wire());
  }

  @Test
  void givenTrustedCertificate_thenLocksAreKeptOverTls() throws Exception {
    try (RedisServer server = start();
        LockStore store = connect(url(server, "127.0.0.1") + "?ca=" + file("cert.pem"))) {
      Party party = new Party(store);
      assertThat(party.acquire(LockName.of("a"), party.attempt(), false))
          .isInstanceOf(Reply.Granted.class);
    }
  }

  @Test
  void givenUnknownCertificate_whenOpened_thenItIsUnfit() throws Exception {
    try (RedisServer server = start()) {
      assertThatThrownBy(() -> connect(url(server, "127.0.0.1")))
          .isInstanceOf(StoreUnfitException.class)
          .hasMessageContaining("TLS");
    }
  }

  @Test
  void givenCertificateOfAnotherHost_whenOpened_thenItIsUnfit() throws Exception {
    try (RedisServer server = start()) {
      assertThatThrownBy(() -> connect(url(server, "localhost") + "?ca=" + file("cert.pem")))
          .isInstanceOf(StoreUnfitException.class)
          .hasMessageContaining("TLS");
    }
  }

  private Path file(String name) {
    return folder.resolve(name);
  }

  private int port;

  private String url(RedisServer server, String host) {
    assertThat(server.port()).isPositive();
    return "rediss://" + host + ":" + port;
  }

  /** A server that speaks TLS only, with a certificate for 127.0.0.1. */
  private RedisServer start() throws Exception {
    Path keytool = Path.of(System.getProperty("java.home"), "bin", "keytool");
    Process made =
        new ProcessBuilder(
                (keytool
                        + " -genkeypair -alias redis -keyalg EC -validity 2 -dname CN=redis"
                        + " -ext san=ip:127.0.0.1 -storetype PKCS12 -storepass changeit -keystore "
                        + file("keys.p12"))
                    .split(" "))
            .redirectErrorStream(true)
            .start();
    made.getInputStream().readAllBytes();
    assertThat(made.waitFor(30, TimeUnit.SECONDS)).isTrue();
    KeyStore keys = KeyStore.getInstance(file("keys.p12").toFile(), PASSWORD.toCharArray());
    write("cert.pem", "CERTIFICATE", keys.getCertificate("redis").getEncoded());
    write(
        "key.pem",
        "PRIVATE KEY",
        Objects.requireNonNull(keys.getKey("redis", PASSWORD.toCharArray())).getEncoded());
    port = RedisServer.freePort();
    return Servers.any(
        "--port",
        "0",
        "--tls-port",
        Integer.toString(port),
        "--tls-cert-file",
        file("cert.pem").toString(),
        "--tls-key-file",
        file("key.pem").toString(),
        "--tls-ca-cert-file",
        file("cert.pem").toString(),
        "--tls-auth-clients",
        "no");
  }

  private void write(String name, String kind, byte[] der) throws Exception {
    String body = Base64.getMimeEncoder(64, new byte[] {'\n'}).encodeToString(der);
    Files.writeString(
        file(name), "-----BEGIN " + kind + "-----\n" + body + "\n-----END " + kind + "-----\n");
  }
}
