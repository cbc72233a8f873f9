package io.mortise.internal.storekit;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import com.sun.net.httpserver.HttpServer;
import io.mortise.StoreUnavailableException;
import io.mortise.internal.storekit.HttpServers.HttpTarget;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.NoRouteToHostException;
import java.net.ServerSocket;
import java.net.URI;
import java.net.UnknownHostException;
import java.net.http.HttpResponse.BodyHandlers;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.Supplier;
import org.junit.jupiter.api.Test;

/** Turns, and servers that the client refuses. */
class HttpServersTest {
  private static final Duration LONG = Duration.ofMinutes(1);
  private static final Duration SHORT = Duration.ofMillis(50);

  /** The client refuses it: the URI of such a name has no host. */
  private static final URI NAMELESS = URI.create("http://my_host:8500");

  private static HttpServers servers(Duration timeout, URI... servers) {
    return new HttpServers(
        new HttpTarget("Tested", List.of(servers), timeout, null, "tested:a"), 1, "test");
  }

  private static <T> CompletionStage<T> inTurn(
      HttpServers servers, Supplier<CompletionStage<T>> request) {
    return servers.inTurn(request, servers::translated);
  }

  private static <T> T join(CompletionStage<T> stage) throws Exception {
    return stage.toCompletableFuture().get(20, TimeUnit.SECONDS);
  }

  private static CompletionStage<String> fails() {
    throw new StoreUnavailableException("cannot be begun");
  }

  @Test
  void givenTurnThatDoesNotComeInTime_thenTheRequestFails_andIsNeverSent() throws Exception {
    AtomicInteger sent = new AtomicInteger();
    try (HttpServers servers = servers(SHORT, NAMELESS)) {
      CompletableFuture<String> first = new CompletableFuture<>();
      CompletionStage<String> before = inTurn(servers, () -> first);
      CompletionStage<Integer> late =
          inTurn(servers, () -> CompletableFuture.completedFuture(sent.incrementAndGet()));
      assertThatThrownBy(() -> join(late))
          .hasCauseInstanceOf(StoreUnavailableException.class)
          .hasMessageContaining("A request to Tested was not sent within 50ms");
      first.complete("answer");
      assertThat(join(before)).isEqualTo("answer");
      assertThat(sent).hasValue(0);
      assertThat(join(inTurn(servers, () -> CompletableFuture.completedFuture("next"))))
          .as("the turn is free again")
          .isEqualTo("next");
    }
  }

  @Test
  void givenManyThatCannotBeBegun_thenEachFails_andTheTurnPassesOn() throws Exception {
    try (HttpServers servers = servers(LONG, NAMELESS)) {
      CompletableFuture<String> first = new CompletableFuture<>();
      CompletionStage<String> before = inTurn(servers, () -> first);
      List<CompletionStage<String>> failing = new ArrayList<>();
      for (int i = 0; i < 20_000; i++) {
        failing.add(inTurn(servers, HttpServersTest::fails));
      }
      CompletionStage<String> last =
          inTurn(servers, () -> CompletableFuture.completedFuture("last"));
      first.complete("answer");
      assertThat(join(before)).isEqualTo("answer");
      assertThat(join(last)).isEqualTo("last");
      assertThat(failing)
          .allSatisfy(stage -> assertThat(stage.toCompletableFuture()).isCompletedExceptionally());
      assertThatThrownBy(() -> join(inTurn(servers, HttpServersTest::fails)))
          .hasMessageContaining("cannot be begun");
      assertThat(join(inTurn(servers, () -> CompletableFuture.completedFuture("one"))))
          .isEqualTo("one");
    }
  }

  @Test
  void givenServersThatCannotBeConnectedTo_thenItIsSaidWhy() throws Exception {
    int unused;
    try (ServerSocket socket = new ServerSocket(0, 1, InetAddress.getLoopbackAddress())) {
      unused = socket.getLocalPort();
    }
    URI refusing = URI.create("http://127.0.0.1:" + unused);
    URI unknown = URI.create("http://nowhere.invalid:1");
    try (HttpServers one = servers(LONG, refusing);
        HttpServers other = servers(LONG, unknown);
        HttpServers both = servers(LONG, unknown, refusing)) {
      String hint = " Check host and port, and that the server runs.";
      assertThatThrownBy(() -> statusOf(one))
          .hasMessageEndingWith("(store=tested:a): connection refused." + hint);
      assertThatThrownBy(() -> statusOf(other))
          .hasMessageEndingWith("(store=tested:a): unknown host." + hint);
      assertThat(one.translated(new NoRouteToHostException("No route to host")))
          .hasMessageEndingWith("(store=tested:a): No route to host." + hint);
      assertThat(one.translated(new UnknownHostException("nowhere")))
          .hasMessageEndingWith("(store=tested:a): unknown host." + hint);
      assertThatThrownBy(() -> statusOf(both))
          .hasMessageEndingWith("(store=tested:a): the last one: connection refused." + hint);
    }
  }

  @Test
  void givenServerWithoutAHost_thenTheNextOneIsAsked_andAloneItCannotBeConnectedTo()
      throws Exception {
    HttpServer server =
        HttpServer.create(new InetSocketAddress(InetAddress.getLoopbackAddress(), 0), 0);
    server.createContext(
        "/",
        exchange -> {
          exchange.sendResponseHeaders(204, -1);
          exchange.close();
        });
    server.start();
    URI good = URI.create("http://127.0.0.1:" + server.getAddress().getPort());
    try (HttpServers both = servers(LONG, NAMELESS, good);
        HttpServers streams = servers(LONG, NAMELESS, good);
        HttpServers alone = servers(LONG, NAMELESS)) {
      assertThat(statusOf(both)).isEqualTo(204);
      assertThatThrownBy(() -> stream(streams)).hasMessageContaining("my_host");
      assertThat(stream(streams)).as("the next one").isEqualTo(204);
      assertThatThrownBy(() -> statusOf(alone))
          .hasCauseInstanceOf(StoreUnavailableException.class)
          .hasMessageContaining("No server of Tested can be connected to (store=tested:a): ")
          .hasMessageContaining("my_host");
    } finally {
      server.stop(0);
    }
  }

  private static int statusOf(HttpServers servers) throws Exception {
    return join(inTurn(servers, () -> servers.send("/x", request -> request))).statusCode();
  }

  private static int stream(HttpServers servers) throws Exception {
    return join(servers.stream("/x", request -> request, BodyHandlers.discarding())).statusCode();
  }
}
