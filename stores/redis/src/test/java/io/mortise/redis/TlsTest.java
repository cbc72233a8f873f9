package io.mortise.redis;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.mortise.LockName;
import io.mortise.StoreUnfitException;
import io.mortise.spi.LockStore;
import io.mortise.spi.Reply;
import io.mortise.testserver.RedisSecurity;
import io.mortise.testserver.RedisServer;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class TlsTest {
  @TempDir private Path folder;

  /** The transport under test. */
  String transport() {
    return "direct";
  }

  private LockStore connect(String url) {
    return RedisStore.open(url + (url.contains("?") ? "&" : "?") + "wire=" + transport());
  }

  @Test
  void givenTrustedCertificate_thenLocksAreKeptOverTls() {
    try (RedisServer server = start();
        LockStore store = connect(url(server, "127.0.0.1") + "?" + certificate)) {
      SimulatedProcess party = new SimulatedProcess(store);
      assertThat(party.acquire(LockName.of("a"), party.attempt(), false))
          .isInstanceOf(Reply.Granted.class);
    }
  }

  @Test
  void givenKeyInPlaceOfACertificate_whenOpened_thenItIsRefusedByName() {
    Path key = RedisSecurity.make(folder, "", "").key();
    assertThatThrownBy(() -> connect("rediss://127.0.0.1:1?ca=" + key))
        .isInstanceOf(IllegalArgumentException.class)
        .hasMessageContaining("'" + key + "', the parameter 'ca' of store URL");
  }

  @Test
  void givenUnknownCertificate_whenOpened_thenItIsUnfit() {
    try (RedisServer server = start()) {
      assertThatThrownBy(() -> connect(url(server, "127.0.0.1")))
          .isInstanceOf(StoreUnfitException.class)
          .hasMessageContaining("TLS");
    }
  }

  @Test
  void givenCertificateOfAnotherHost_whenOpened_thenItIsUnfit() {
    try (RedisServer server = start()) {
      assertThatThrownBy(() -> connect(url(server, "localhost") + "?" + certificate))
          .isInstanceOf(StoreUnfitException.class)
          .hasMessageContaining("TLS");
    }
  }

  @Test
  void givenServerWithoutTls_whenOpenedWithIt_thenItIsUnfit_andTheMessageSaysSo() {
    try (RedisServer server = RedisServers.any()) {
      assertThatThrownBy(
              () -> connect(server.url().replace("redis:", "rediss:") + "?timeout=300ms"))
          .isInstanceOf(StoreUnfitException.class)
          .hasMessageContaining("127.0.0.1:" + server.port())
          .hasMessageContaining("does not speak TLS there")
          .hasMessageContaining("rediss");
    }
  }

  @Test
  void givenServerThatWantsTls_whenOpenedWithout_thenItIsUnfit_andTheMessageSaysSo() {
    try (RedisServer server = start()) {
      assertThatThrownBy(
              () -> connect(url(server, "127.0.0.1").replace("rediss:", "redis:") + "?timeout=2s"))
          .isInstanceOf(StoreUnfitException.class)
          .hasMessageContaining("127.0.0.1:" + port)
          .hasMessageContaining("speaks TLS there");
    }
  }

  /** Direct connections without {@code ca} have the JVM's own context, which is read once. */
  @Test
  void givenServerThatWantsAClientCertificate_thenThatOfTheJvmIsTaken_withCa() {
    try (RedisServer server = start("yes")) {
      assertClientCertificateIsTaken(url(server, "127.0.0.1") + "?timeout=20s&" + certificate);
    }
  }

  /** The certificate counts from the next connection on. */
  void assertClientCertificateIsTaken(String url) {
    assertThatThrownBy(() -> connect(url))
        .isInstanceOf(StoreUnfitException.class)
        .hasMessageContaining("wants a certificate of this client");
    setStore("keyStore", "none.p12");
    assertThatThrownBy(() -> connect(url))
        .isInstanceOf(StoreUnfitException.class)
        .hasMessageContaining("none.p12");
    setStore("keyStore", "keys.p12");
    try (LockStore store = connect(url)) {
      SimulatedProcess party = new SimulatedProcess(store);
      assertThat(party.acquire(LockName.of("a"), party.attempt(), false))
          .isInstanceOf(Reply.Granted.class);
    }
  }

  void setStore(String kind, String file) {
    System.setProperty("javax.net.ssl." + kind, folder.resolve(file).toString());
    System.setProperty("javax.net.ssl." + kind + "Password", "changeit");
  }

  @AfterEach
  void forgetStores() {
    for (String kind : List.of("keyStore", "trustStore")) {
      System.clearProperty("javax.net.ssl." + kind);
      System.clearProperty("javax.net.ssl." + kind + "Password");
    }
  }

  private int port;
  private String certificate = "";

  String url(RedisServer server, String host) {
    assertThat(server.port()).isPositive();
    return "rediss://" + host + ":" + port;
  }

  /** A server that speaks TLS only, with a certificate for 127.0.0.1. */
  private RedisServer start() {
    return start("no");
  }

  /** As {@link #start()}; {@code clients} tells whether it wants certificates of its clients. */
  RedisServer start(String clients) {
    RedisSecurity access = RedisSecurity.make(folder, "", "");
    certificate = access.trusted();
    port = RedisServer.freePort();
    List<String> arguments = new ArrayList<>(List.of("--port", "0"));
    arguments.addAll(access.tls(port));
    arguments.set(arguments.size() - 1, clients);
    return RedisServers.any(arguments.toArray(String[]::new));
  }
}
