package io.mortise.support.http;

import static org.assertj.core.api.Assertions.assertThat;

import io.mortise.StoreUnavailableException;
import io.mortise.StoreUnfitException;
import io.mortise.spi.time.Ticker;
import java.io.IOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.Proxy;
import java.net.ProxySelector;
import java.net.Socket;
import java.net.SocketAddress;
import java.net.SocketTimeoutException;
import java.net.URI;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.Queue;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;

/** Detection of a disagreement about TLS, after the first request has failed. */
class TlsMismatchTest {
  private final StoreUnavailableException failure =
      new StoreUnavailableException("failed", new IOException("closed"));

  private static RuntimeException explained(
      String scheme, ScriptedServer server, StoreUnavailableException failure) {
    URI unknown = URI.create(scheme + "://my_host:1");
    URI address = URI.create(server.uri().toString().replace("http", scheme));
    Duration timeout = Duration.ofSeconds(20);
    return TlsMismatch.explained(
        new HttpTarget("tested", List.of(unknown, address), timeout, null, "tested:a"), failure);
  }

  /** A server that hangs up on probes without a given answer. */
  private static ScriptedServer server(String inTls, String inPlain) {
    return new ScriptedServer(client -> client.send(client.firstByte() == 'G' ? inPlain : inTls));
  }

  @Test
  void givenServerAndUrlThatDoNotAgreeOnTls_thenItIsSaidWhichIsWrong() throws IOException {
    String alert = "\25";
    String refusal = "HTTP/1.0 400 Bad Request\r\n\r\n";
    try (ScriptedServer plain = server("", "HTTP/1.1 404 Not Found\r\n\r\n");
        ScriptedServer secured = server(alert, refusal);
        ScriptedServer mute = server("", "")) {
      assertThat(explained("https", plain, failure))
          .isInstanceOf(StoreUnfitException.class)
          .hasMessage(
              "Tested does not speak TLS on this port, and the URL asks for it (store=tested:a). Leave tls=true out, or give the port for TLS.")
          .hasCause(failure);
      assertThat(explained("http", secured, failure))
          .isInstanceOf(StoreUnfitException.class)
          .hasMessageEndingWith("speaks TLS, and the URL does not (store=tested:a). Add tls=true.");
      assertThat(explained("https", secured, failure)).isSameAs(failure);
      assertThat(explained("http", plain, failure)).isSameAs(failure);
      assertThat(explained("https", mute, failure)).isSameAs(failure);
    }
  }

  /** Neither by the probe, nor by the requests themselves. */
  @Test
  void givenProxyOfTheJvm_thenItIsNotAsked() throws Exception {
    Queue<URI> asked = new ConcurrentLinkedQueue<>();
    ProxySelector before = ProxySelector.getDefault();
    ProxySelector.setDefault(
        new ProxySelector() {
          @Override
          public List<Proxy> select(URI uri) {
            asked.add(uri);
            return List.of(Proxy.NO_PROXY);
          }

          @Override
          public void connectFailed(URI uri, SocketAddress address, IOException failure) {}
        });
    try (ScriptedServer server = ScriptedServer.counting();
        ScriptedServer mute = server("", "");
        HttpServers servers =
            new HttpServers(
                new HttpTarget("t", List.of(server.uri()), Duration.ofMinutes(1), null, "t:a"),
                1,
                "test",
                Ticker.SYSTEM)) {
      var request = new HttpServers.HttpRequest("GET", "/", Map.of(), null);
      assertThat(servers.send(request).get(20, TimeUnit.SECONDS).body()).isEqualTo("1");
      assertThat(explained("http", mute, failure)).isSameAs(failure);
      assertThat(mute.accepted).hasValue(1);
      assertThat(asked).noneMatch(uri -> isOf(server, uri) || isOf(mute, uri));
      try (Socket other = new Socket()) {
        other.connect(
            new InetSocketAddress(InetAddress.getLoopbackAddress(), server.uri().getPort()));
      }
      assertThat(asked).as("other sockets do").anyMatch(uri -> isOf(server, uri));
    } finally {
      ProxySelector.setDefault(before);
    }
  }

  private static boolean isOf(ScriptedServer server, URI asked) {
    return asked.getPort() == server.uri().getPort();
  }

  @Test
  void givenTimeout_thenTheServerIsNotAskedOnceMore() throws IOException {
    try (ScriptedServer plain = server("", "HTTP/1.1 404 Not Found\r\n\r\n")) {
      StoreUnavailableException late =
          new StoreUnavailableException("late", new SocketTimeoutException());
      assertThat(explained("https", plain, late)).isSameAs(late);
      assertThat(plain.accepted).hasValue(0);
    }
  }
}
