package io.mortise.zookeeper;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.mortise.Lease;
import io.mortise.LockClient;
import io.mortise.StoreUnavailableException;
import io.mortise.StoreUnfitException;
import io.mortise.testserver.ZooKeeperServer;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.security.KeyStore;
import java.time.Duration;
import java.util.Base64;
import java.util.List;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/**
 * A server that speaks TLS and requires a certificate; ours are in key stores. One test after the
 * other: client and server open their key stores anew for each connection, and ten connections at
 * once exceed the timeout.
 */
class TlsTest {
  private static final String PASSWORD = "changeit";

  /** A first handshake is slow on a busy machine. */
  private static final String PATIENT = "&timeout=30s";

  @TempDir private static Path folder;

  private static ZooKeeperServer server;
  private static String address;

  @BeforeAll
  static void start() throws Exception {
    makeKeys("server", "-ext san=dns:localhost,ip:127.0.0.1");
    makeKeys("client", "");
    makeKeys("stranger", "");
    trust("server", "client");
    int port = ZooKeeperServer.freePort();
    address = "127.0.0.1:" + port;
    server =
        ZooKeeperServer.start(
            TestServer.setup()
                .with("secureClientPort", Integer.toString(port))
                .with("serverCnxnFactory", "org.apache.zookeeper.server.NettyServerCnxnFactory")
                .with("ssl.keyStore.location", file("server.p12"))
                .with("ssl.keyStore.password", PASSWORD)
                .with("ssl.trustStore.location", file("server-trusts.p12"))
                .with("ssl.trustStore.password", PASSWORD));
  }

  @AfterAll
  static void stop() {
    server.close();
  }

  private static String file(String name) {
    return folder.resolve(name).toString();
  }

  private static void makeKeys(String name, String more) throws Exception {
    keytool(
        "-genkeypair -alias "
            + name
            + " -keyalg EC -validity 2 -dname CN="
            + name
            + " "
            + more
            + " -storetype PKCS12 -storepass "
            + PASSWORD
            + " -keystore "
            + file(name + ".p12"));
    KeyStore keys =
        KeyStore.getInstance(Path.of(file(name + ".p12")).toFile(), PASSWORD.toCharArray());
    String body =
        Base64.getMimeEncoder(64, new byte[] {'\n'})
            .encodeToString(keys.getCertificate(name).getEncoded());
    Files.writeString(
        Path.of(file(name + ".pem")),
        "-----BEGIN CERTIFICATE-----\n" + body + "\n-----END CERTIFICATE-----\n");
  }

  @Test
  void givenKeyInPlaceOfACertificate_thenItIsRefusedByName() throws Exception {
    String key = file("key.pem");
    Files.writeString(
        Path.of(key), "-----BEGIN PRIVATE KEY-----\nMA==\n-----END PRIVATE KEY-----\n");
    assertThatThrownBy(
            () -> LockClient.connect(url("client.p12", "").replace(file("server.pem"), key)))
        .isInstanceOf(IllegalArgumentException.class)
        .hasMessageContaining("'" + key + "', the parameter 'ca' of store URL");
  }

  private static void trust(String who, String whom) throws Exception {
    keytool(
        "-importcert -noprompt -alias "
            + whom
            + " -file "
            + file(whom + ".pem")
            + " -storetype PKCS12 -storepass "
            + PASSWORD
            + " -keystore "
            + file(who + "-trusts.p12"));
  }

  private static void keytool(String words) throws Exception {
    String tool = Path.of(System.getProperty("java.home"), "bin", "keytool").toString();
    Process process =
        new ProcessBuilder((tool + " " + words).split(" +")).redirectErrorStream(true).start();
    String said = new String(process.getInputStream().readAllBytes(), StandardCharsets.UTF_8);
    assertThat(process.waitFor(60, TimeUnit.SECONDS)).isTrue();
    assertThat(process.exitValue()).as(said).isZero();
  }

  private static String url(String keys, String more) {
    return Scheme.ZK.url(address, "/tls")
        + "&tls=true&ca="
        + file("server.pem")
        + "&keystore="
        + file(keys)
        + "&keystore-password="
        + PASSWORD
        + more;
  }

  @Test
  void givenKeysThatTheServerTrusts_thenLocksAreTaken_andKeptOverAConnectionOfTheirOwn()
      throws Exception {
    try (LockClient one =
            LockClient.builder()
                .url(url("client.p12", PATIENT))
                .ttl(Duration.ofSeconds(20))
                .build();
        LockClient other = LockClient.connect(url("client.p12", PATIENT))) {
      Lease lease = one.lock("a").acquireWithin(TestServer.LONG);
      assertThat(other.lock("a").tryAcquire()).isEmpty();
      assertThat(lease.isValid()).isTrue();
      lease.close();
      other.lock("a").acquireWithin(TestServer.LONG).close();
    }
  }

  @Test
  void givenServerOrClientThatTheOtherDoesNotTrust_thenNobodyIsConnected() {
    List<String> wrong =
        List.of(
            url("stranger.p12", "&timeout=800ms"),
            url("client.p12", "&timeout=800ms").replace(file("server.pem"), file("stranger.pem")),
            url("client.p12", "&timeout=800ms").replace("127.0.0.1:", "127.0.0.2:"));
    for (String url : wrong) {
      assertThatThrownBy(() -> LockClient.connect(url))
          .as(url)
          .isInstanceOf(StoreUnavailableException.class)
          .hasMessageContaining("Cannot reach store");
    }
  }

  @Test
  void givenPortWithoutTls_whenOpenedWithIt_thenTheStoreIsUnfit_andTheMessageSaysWhatToChange() {
    long start = System.nanoTime();
    assertThatThrownBy(
            () -> LockClient.connect(url("client.p12", PATIENT).replace(address, server.address())))
        .isInstanceOf(StoreUnfitException.class)
        .hasMessageContaining("'" + server.address() + "' does not speak TLS. Leave out tls=true")
        .hasMessageContaining("secureClientPort");
    assertThat(Duration.ofNanos(System.nanoTime() - start))
        .as("before the time to connect is over")
        .isLessThan(Duration.ofSeconds(25));
  }

  @Test
  void givenPortWithTls_whenOpenedWithoutIt_thenTheStoreIsUnfit_andTheMessageSaysWhatToChange() {
    assertThatThrownBy(() -> LockClient.connect(Scheme.ZK.url(address, "/tls") + PATIENT))
        .isInstanceOf(StoreUnfitException.class)
        .hasMessageContaining("'" + address + "' speaks TLS only. Add tls=true")
        .hasMessageContaining("clientPort");
  }

  @Test
  void givenTwoServersOfWhichOneHasTls_thenTheOtherIsConnectedTo() throws Exception {
    String both = address + "," + server.address();
    try (LockClient client = LockClient.connect(Scheme.ZK.url(both, "/two") + PATIENT)) {
      client.lock("a").acquireWithin(TestServer.LONG).close();
    }
  }
}
