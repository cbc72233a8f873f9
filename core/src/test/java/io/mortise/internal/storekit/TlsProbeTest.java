package io.mortise.internal.storekit;

import static org.assertj.core.api.Assertions.assertThat;

import io.mortise.StoreUnavailableException;
import io.mortise.StoreUnfitException;
import io.mortise.internal.storekit.HttpServers.HttpTarget;
import java.io.IOException;
import java.net.SocketTimeoutException;
import java.net.URI;
import java.time.Duration;
import java.util.List;
import org.junit.jupiter.api.Test;

/** Whether server and URL agree on TLS, after the first request has failed. */
class TlsProbeTest {
  private final StoreUnavailableException failure =
      new StoreUnavailableException("failed", new IOException("closed"));

  private static RuntimeException explained(
      String scheme, ScriptedServer server, StoreUnavailableException failure) {
    URI unknown = URI.create(scheme + "://my_host:1");
    URI address = URI.create(server.uri().toString().replace("http", scheme));
    Duration timeout = Duration.ofSeconds(20);
    return TlsProbe.explained(
        new HttpTarget("tested", List.of(unknown, address), timeout, null, "tested:a"), failure);
  }

  /** Hangs up where a kind of question has no answer. */
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
