package io.mortise.support.http;

import static io.mortise.support.http.HttpServersFixture.GET;
import static io.mortise.support.http.HttpServersFixture.LONG;
import static io.mortise.support.http.HttpServersFixture.await;
import static io.mortise.support.http.HttpServersFixture.join;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.mortise.internal.runtime.CompletionStages;
import io.mortise.spi.time.Ticker;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.net.SocketTimeoutException;
import java.net.URI;
import java.time.Duration;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.condition.EnabledOnOs;
import org.junit.jupiter.api.condition.OS;

/** The choice of a server, and of an address of its host, after a failure. */
@EnabledOnOs(value = OS.LINUX, disabledReason = "Other systems have no address 127.0.0.2.")
class HttpRoutesTest {
  private static final Duration LIMIT = Duration.ofSeconds(3);
  private static final String HOST = "servers.example";

  /** Accepts connections, and answers nothing. */
  private static ServerSocket silent(String address, int port) throws Exception {
    return new ServerSocket(port, 50, InetAddress.getByName(address));
  }

  private static HttpServers servers(List<URI> servers, String... addresses) throws Exception {
    InetAddress[] resolved = new InetAddress[addresses.length];
    for (int i = 0; i < addresses.length; i++) {
      resolved[i] = InetAddress.getByName(addresses[i]);
    }
    return new HttpServers(
        new HttpTarget("Tested", servers, LIMIT, null, "tested:a"),
        64,
        "test",
        Ticker.SYSTEM,
        host -> host.equals(HOST) ? resolved : InetAddress.getAllByName(host),
        LONG);
  }

  private static String sent(HttpServers servers) throws Exception {
    return join(servers.send(GET)).body();
  }

  /** Sends as a store does when it is opened. */
  private static String ofAny(HttpServers servers) throws Exception {
    return join(servers.askAny(
            () ->
                servers
                    .send(GET)
                    .exceptionally(
                        failure -> {
                          throw servers.translated(CompletionStages.cause(failure));
                        })))
        .body();
  }

  @Test
  void givenAddressThatTakesConnectionsAndIsSilent_thenTheNextRequestGoesToAnotherAddress()
      throws Exception {
    try (ScriptedServer server = ScriptedServer.counting();
        ServerSocket unanswered = silent("127.0.0.2", server.uri().getPort());
        HttpServers servers =
            servers(
                List.of(URI.create("http://" + HOST + ":" + unanswered.getLocalPort())),
                "127.0.0.2",
                "127.0.0.1")) {
      assertThatThrownBy(() -> sent(servers)).hasRootCauseInstanceOf(SocketTimeoutException.class);
      assertThat(sent(servers)).isEqualTo("1");
      await(() -> servers.idleConnections() == 1);
      assertThat(sent(servers)).isEqualTo("2");
      assertThat(server.accepted).as("connections").hasValue(1);
    }
  }

  @Test
  void givenSilentAddressOrServer_whenAnyMayAnswer_thenAnotherDoesAtOnce() throws Exception {
    try (ScriptedServer server = ScriptedServer.counting();
        ServerSocket unanswered = silent("127.0.0.2", server.uri().getPort())) {
      URI named = URI.create("http://" + HOST + ":" + unanswered.getLocalPort());
      try (HttpServers servers = servers(List.of(named), "127.0.0.2", "127.0.0.1")) {
        assertThat(ofAny(servers)).isEqualTo("1");
      }
      try (HttpServers servers = servers(List.of(named, server.uri()), "127.0.0.2")) {
        assertThat(ofAny(servers)).isEqualTo("2");
      }
      try (HttpServers servers = servers(List.of(named), "127.0.0.2")) {
        assertThatThrownBy(() -> ofAny(servers))
            .hasRootCauseInstanceOf(SocketTimeoutException.class);
      }
    }
  }

  @Test
  void givenAddressThatRefuses_thenLaterConnectionsBeginWithTheOneThatWorks() throws Exception {
    try (ScriptedServer server = ScriptedServer.counting()) {
      URI named = URI.create("http://" + HOST + ":" + server.uri().getPort());
      try (HttpServers servers = servers(List.of(named), "127.0.0.2", "127.0.0.1")) {
        assertThat(sent(servers)).isEqualTo("1");
        try (ServerSocket unanswered = silent("127.0.0.2", named.getPort())) {
          // Not used any more, although it accepts connections now.
          server.hangUp();
          await(() -> servers.connections() == 0);
          assertThat(sent(servers)).isEqualTo("2");
          assertThat(unanswered.isClosed()).isFalse();
        }
      }
    }
  }
}
