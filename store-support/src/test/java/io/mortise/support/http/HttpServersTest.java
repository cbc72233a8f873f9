package io.mortise.support.http;

import static io.mortise.support.http.HttpServersFixture.GET;
import static io.mortise.support.http.HttpServersFixture.LONG;
import static io.mortise.support.http.HttpServersFixture.await;
import static io.mortise.support.http.HttpServersFixture.join;
import static io.mortise.support.http.HttpServersFixture.servers;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.mortise.StoreUnavailableException;
import io.mortise.spi.time.Ticker;
import io.mortise.support.http.HttpServers.HttpRequest;
import io.mortise.support.http.HttpServers.HttpResponse;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.net.InetAddress;
import java.net.NoRouteToHostException;
import java.net.ServerSocket;
import java.net.URI;
import java.net.UnknownHostException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Queue;
import java.util.Random;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicReference;
import java.util.concurrent.locks.LockSupport;
import org.junit.jupiter.api.Test;

/** Connections that are reused, break or stall; turns; servers that refuse connections. */
class HttpServersTest {
  /** An unknown host: connecting fails. Its URI has no host. */
  private static final URI UNKNOWN = URI.create("http://my_host.invalid:8500");

  private static String body(HttpServers servers) throws Exception {
    return join(servers.send(GET)).body();
  }

  /** Asserts that it fails as the stores that use it do. */
  private static void assertFails(
      HttpServers servers, CompletionStage<HttpResponse> answer, String message) {
    assertThatThrownBy(
            () -> {
              try {
                join(answer);
              } catch (ExecutionException e) {
                throw servers.translated(e.getCause());
              }
            })
        .isInstanceOf(StoreUnavailableException.class)
        .hasMessageContaining(message);
  }

  private static URI overTls(ScriptedServer server) {
    return URI.create(server.uri().toString().replace("http", "https"));
  }

  private static void awaitAllClosed(ScriptedServer server) {
    await(() -> server.open.get() == 0);
  }

  @Test
  void givenRequests_thenTheyShareAConnection_andEachIsWrittenAsHttpHasIt() throws Exception {
    try (ScriptedServer server = ScriptedServer.counting();
        HttpServers servers = servers(LONG, server.uri())) {
      HttpRequest post = new HttpRequest("POST", "/a?b=%20", Map.of("X-Token", "s3cret"), "{é}");
      assertThat(join(servers.send(post)).body()).isEqualTo("1");
      for (int i = 2; i <= 20; i++) {
        await(() -> servers.idleConnections() > 0);
        assertThat(body(servers)).isEqualTo("" + i);
      }
      assertThat(server.accepted.get()).isEqualTo(1);
      for (int i = 21; i <= 60; i++) {
        await(() -> servers.idleConnections() > 0);
        assertThat(join(servers.stream(GET, LONG, null)).body()).isEqualTo("" + i);
      }
      assertThat(server.accepted.get()).as("streams without a body too").isEqualTo(1);
      String host = server.uri().getAuthority();
      assertThat(server.requests)
          .startsWith(
              "POST /a?b=%20 HTTP/1.1\r\nHost: "
                  + host
                  + "\r\nX-Token: s3cret\r\nContent-Length: 4\r\n\r\n{Ã©}",
              "GET /x HTTP/1.1\r\nHost: " + host + "\r\n\r\n");
      assertThat(post.toString()).doesNotContain("s3cret");
    }
  }

  @Test
  void givenRequestThatIsLongerThanAnAnswerMayBe_thenItIsNotSent() throws Exception {
    try (ScriptedServer server = ScriptedServer.counting();
        HttpServers servers = servers(LONG, server.uri())) {
      String body = "x".repeat(4 << 20);
      assertFails(
          servers,
          servers.send(new HttpRequest("POST", "/x", Map.of(), body)),
          "A request of 4194304 characters to Tested was not sent");
      assertThat(body(servers)).isEqualTo("1");
    }
  }

  @Test
  void givenValuesThatWouldBeAnotherRequest_thenTheyAreRefused() {
    for (String text : List.of("a\r\nb", "a\nb", "a\rb", "a\0b", "é")) {
      assertThatThrownBy(() -> new HttpRequest("GET", "/" + text, Map.of(), null))
          .isInstanceOf(IllegalArgumentException.class);
      assertThatThrownBy(() -> new HttpRequest("GET", "/", Map.of("X-Token", text), null))
          .isInstanceOf(IllegalArgumentException.class)
          .hasMessageNotContaining(text);
    }
    assertThatThrownBy(() -> new HttpRequest("GET", "/a b", Map.of(), null))
        .isInstanceOf(IllegalArgumentException.class);
  }

  @Test
  void givenConnectionsThatTheServerEnds_thenNoRequestFailsForIt() throws Exception {
    try (ScriptedServer closing =
            new ScriptedServer(
                client -> {
                  client.request();
                  client.send("HTTP/1.1 200 OK\r\nConnection: close\r\n\r\nlast");
                });
        ScriptedServer idle = ScriptedServer.counting();
        HttpServers servers = servers(LONG, closing.uri());
        HttpServers others = servers(LONG, idle.uri())) {
      assertThat(body(servers)).isEqualTo("last");
      assertThat(body(servers)).isEqualTo("last");
      for (int i = 1; i < 10; i++) {
        assertThat(body(others)).isEqualTo("" + i);
        idle.hangUp();
        awaitAllClosed(idle);
        // The thread of the connection detects the close.
        await(() -> others.connections() == 0);
      }
    }
  }

  @Test
  void givenServerThatEndsWithoutAnAnswer_thenTheRequestFails_andIsNotSentAgain() throws Exception {
    try (ScriptedServer silent = new ScriptedServer(client -> client.request());
        ScriptedServer torn =
            new ScriptedServer(
                client -> {
                  client.request();
                  client.send("HTTP/1.1 200 OK\r\nContent-Length: 9\r\n\r\nfour");
                });
        HttpServers one = servers(LONG, silent.uri());
        HttpServers other = servers(LONG, torn.uri())) {
      assertFails(
          one,
          one.send(GET),
          "(store=tested:a): the server closed it without an answer. Check that it runs, that this is the HTTP port of Tested, and tls.");
      assertThat(silent.requests).hasSize(1);
      assertFails(other, other.send(GET), "in the middle of an answer");
      assertThat(torn.requests).hasSize(1);
    }
  }

  @Test
  void givenAnswersThatStallOrDrip_thenEachIsGivenUp() throws Exception {
    Duration timeout = Duration.ofSeconds(2);
    CountDownLatch over = new CountDownLatch(1);
    try (ScriptedServer stalling = new ScriptedServer(client -> over.await());
        ScriptedServer dripping =
            new ScriptedServer(
                client -> {
                  client.send("HTTP/1.1 200 OK\r\n\r\n");
                  while (!over.await(10, TimeUnit.MILLISECONDS)) {
                    client.send("x");
                  }
                });
        ScriptedServer handshaking =
            new ScriptedServer(
                client -> {
                  // The begin of a TLS record of 16 KiB.
                  client.send("\26\3\3\100\0");
                  while (!over.await(10, TimeUnit.MILLISECONDS)) {
                    client.send("x");
                  }
                });
        HttpServers one = servers(timeout, stalling.uri());
        HttpServers tls = servers(timeout, overTls(stalling));
        HttpServers slow = servers(timeout, overTls(handshaking));
        HttpServers other = servers(timeout, dripping.uri())) {
      CompletionStage<HttpResponse> drips = other.send(GET);
      CompletionStage<HttpResponse> shakes = slow.send(GET);
      CompletionStage<HttpResponse> shakesForStream = slow.stream(GET, LONG, null);
      CompletionStage<HttpResponse> silent = tls.send(GET);
      assertFails(one, one.send(GET), "did not answer within 2s");
      assertFails(one, one.send(GET), "did not answer within 2s");
      assertFails(tls, silent, "did not answer within 2s");
      assertFails(other, drips, "did not answer within 4s");
      String unconnected = "No server of Tested could be connected to within 4s";
      assertFails(slow, shakes, unconnected);
      assertFails(slow, shakesForStream, unconnected);
      awaitAllClosed(dripping);
      awaitAllClosed(handshaking);
    } finally {
      over.countDown();
    }
  }

  @Test
  void givenConnectionsThatAllBrokeUnseen_thenOneRequestFails_andTheNextHasANewOne()
      throws Exception {
    CountDownLatch both = new CountDownLatch(2);
    try (ScriptedServer server =
            new ScriptedServer(
                client -> {
                  client.request();
                  both.countDown();
                  both.await();
                  client.answer("first");
                  while (client.request() != null) {
                    // No answer comes.
                  }
                });
        HttpServers servers = servers(Duration.ofSeconds(3), server.uri())) {
      CompletableFuture<HttpResponse> one = servers.stream(GET, LONG, null);
      join(servers.stream(GET, LONG, null));
      join(one);
      await(() -> servers.idleConnections() == 2);
      assertFails(servers, servers.send(GET), "did not answer within 3s");
      assertThat(body(servers)).isEqualTo("first");
    }
  }

  @Test
  void givenServerThatReadsNothing_thenNoStreamBlocks_andLargeRequestsAreGivenUp()
      throws Exception {
    HttpRequest large = new HttpRequest("POST", "/x", Map.of(), "x".repeat(32 << 20), 64 << 20);
    AtomicInteger connections = new AtomicInteger();
    CountDownLatch over = new CountDownLatch(1);
    try (ScriptedServer server =
            new ScriptedServer(
                client -> {
                  if (connections.getAndIncrement() == 0) {
                    client.request();
                    client.answer("idle");
                  }
                  over.await();
                });
        HttpServers servers = servers(Duration.ofSeconds(2), server.uri())) {
      assertThat(body(servers)).isEqualTo("idle");
      CompletableFuture<HttpResponse> stream = servers.stream(large, LONG, line -> {});
      assertThat(stream).as("its caller does not wait for the write").isNotDone();
      stream.cancel(true);
      await(() -> servers.connections() == 1);
      assertFails(servers, servers.send(large), "did not answer within 2s");
      await(() -> servers.connections() == 0);
      assertFails(servers, servers.send(large), "did not answer within 2s");
    } finally {
      over.countDown();
    }
  }

  @Test
  void givenAnswerThatComesBeforeItsRequestIsRead_thenTheConnectionIsNotUsedAgain()
      throws Exception {
    HttpRequest large = new HttpRequest("POST", "/x", Map.of(), "x".repeat(32 << 20), 64 << 20);
    CountDownLatch over = new CountDownLatch(1);
    try (ScriptedServer server =
            new ScriptedServer(
                client -> {
                  while (client.firstByte() == 'G') {
                    client.request();
                    client.answer("read");
                  }
                  client.send("HTTP/1.1 413 Too Large\r\nContent-Length: 0\r\n\r\n");
                  over.await();
                });
        HttpServers servers = servers(Duration.ofSeconds(2), server.uri())) {
      assertThat(body(servers)).isEqualTo("read");
      // Otherwise the thread of the connection writes, and reads no answer meanwhile.
      await(() -> servers.idleConnections() == 1);
      assertThat(join(servers.send(large)).status()).isEqualTo(413);
      assertThat(body(servers)).isEqualTo("read");
    } finally {
      over.countDown();
    }
  }

  @Test
  void givenTurnThatDoesNotComeInTime_thenTheRequestFails_andIsNeverSent() throws Exception {
    CountDownLatch begun = new CountDownLatch(1);
    CountDownLatch rest = new CountDownLatch(1);
    try (ScriptedServer slow =
            new ScriptedServer(
                client -> {
                  while (client.request() != null) {
                    client.send("HTTP/1.1 200 OK\r\nContent-Length: 4\r\n\r\nre");
                    begun.countDown();
                    rest.await();
                    client.send("st");
                  }
                });
        HttpServers servers = servers(Duration.ofSeconds(3), slow.uri())) {
      CompletionStage<HttpResponse> first = servers.send(GET);
      assertThat(begun.await(20, TimeUnit.SECONDS)).isTrue();
      CompletableFuture<HttpResponse> cancelled = servers.send(GET);
      cancelled.cancel(true);
      assertFails(servers, servers.send(GET), "A request to Tested was not sent within 3s");
      rest.countDown();
      assertThat(join(first).body()).isEqualTo("rest");
      assertThat(body(servers)).as("the turn is free again").isEqualTo("rest");
      assertThat(slow.requests).hasSize(2);
    }
  }

  /** The worst cases: a request gets the answer of another one, or is sent twice. */
  @Test
  void givenServerThatMisbehavesAtRandom_thenEachAnswerIsThatOfItsRequest_whichIsSentOnce() {
    long seed = Long.getLong("mortise.seed", new Random().nextLong());
    Random random = new Random(seed);
    AtomicInteger answered = new AtomicInteger();
    AtomicInteger failed = new AtomicInteger();
    Queue<String> wrong = new ConcurrentLinkedQueue<>();
    AtomicInteger connections = new AtomicInteger();
    try (ScriptedServer server =
            new ScriptedServer(
                client -> {
                  Random faults = new Random(seed + connections.incrementAndGet());
                  String request = client.request();
                  while (request != null && faults.nextInt(20) > 0) {
                    String id = request.substring(request.indexOf('/') + 1, request.indexOf(" H"));
                    client.send("HTTP/1.1 200 OK\r\nContent-Length: " + id.length() + "\r\n\r\n");
                    if (faults.nextInt(20) == 0) {
                      LockSupport.parkNanos(faults.nextInt(300) * 1_000_000L);
                    }
                    client.send(id + (faults.nextInt(20) == 0 ? "HTTP/1.1 200 OK\r\n\r\n" : ""));
                    request = faults.nextInt(20) == 0 ? null : client.request();
                  }
                });
        HttpServers servers = servers(Duration.ofMillis(100), server.uri())) {
      for (int i = 0; i < 600; i++) {
        String id = "" + random.nextInt(1 + random.nextInt(1_000_000)) + "-" + i;
        CompletableFuture<HttpResponse> answer =
            servers.send(new HttpRequest("GET", "/" + id, Map.of(), null));
        if (random.nextInt(20) == 0) {
          answer.cancel(true);
        } else if (random.nextInt(3) > 0) {
          answer.handle((found, failure) -> "").join();
        }
        if (random.nextInt(40) == 0) {
          // Longer than an idle connection waits for bytes at a time.
          LockSupport.parkNanos(25_000_000);
        }
        var unused =
            answer.whenComplete(
                (found, failure) -> {
                  if (failure == null && !found.body().equals(id)) {
                    wrong.add(id + " got " + found.body());
                  } else {
                    (failure == null ? answered : failed).incrementAndGet();
                  }
                });
      }
      await(() -> answered.get() + failed.get() + wrong.size() == 600);
      assertThat(wrong).as("-Dmortise.seed=" + seed).isEmpty();
      assertThat(server.requests).as("-Dmortise.seed=" + seed).doesNotHaveDuplicates();
      assertThat(answered.get()).as("-Dmortise.seed=" + seed).isGreaterThan(100);
      assertThat(failed.get()).as("-Dmortise.seed=" + seed).isGreaterThan(20);
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }

  @Test
  void givenManyRequests_thenEachIsAnsweredOnce_whateverHappensToConnections() throws Exception {
    AtomicReference<CompletableFuture<HttpResponse>> nested = new AtomicReference<>();
    try (ScriptedServer server =
            new ScriptedServer(
                client -> {
                  for (int i = 0; i < 7 && client.request() != null; i++) {
                    client.send("HTTP/1.1 200 OK\r\nContent-Length: 2\r\n");
                    client.send((i == 6 ? "Connection: close\r\n" : "") + "\r\nok");
                  }
                });
        HttpServers servers = servers(LONG, server.uri())) {
      List<CompletableFuture<HttpResponse>> answers = new ArrayList<>();
      for (int i = 0; i < 500; i++) {
        answers.add(servers.send(GET));
      }
      answers.get(0).thenRun(() -> nested.set(servers.send(GET))).join();
      for (CompletableFuture<HttpResponse> answer : answers) {
        assertThat(join(answer).body()).isEqualTo("ok");
      }
      assertThat(join(nested.get()).body()).isEqualTo("ok");
      assertThat(server.requests).hasSize(501);
    }
  }

  @Test
  void givenStream_thenItsLinesComeOneByOne_andCancellingOrClosingEndsItsConnection()
      throws Exception {
    LinkedBlockingQueue<String> lines = new LinkedBlockingQueue<>();
    try (ScriptedServer server =
        new ScriptedServer(
            client -> {
              client.request();
              client.send("HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n");
              client.send("4\r\none\n\r\n3\r\ntw\303\r\n3\r\n\266\nt\r\n");
              client.request();
            })) {
      HttpServers servers = servers(Duration.ofSeconds(2), server.uri());
      CompletableFuture<HttpResponse> first = servers.stream(GET, LONG, lines::add);
      assertThat(lines.poll(20, TimeUnit.SECONDS)).isEqualTo("one");
      assertThat(lines.poll(20, TimeUnit.SECONDS)).isEqualTo("twö");
      first.cancel(true);
      awaitAllClosed(server);

      CompletableFuture<HttpResponse> second = servers.stream(GET, LONG, lines::add);
      assertThat(lines.poll(20, TimeUnit.SECONDS)).isEqualTo("one");
      servers.close();
      awaitAllClosed(server);
      assertThatThrownBy(() -> join(second)).isInstanceOf(ExecutionException.class);
      assertFails(servers, servers.send(GET), "The store is closed (store=tested:a).");
      assertThat(server.accepted).hasValue(2);
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
      List<CompletableFuture<HttpResponse>> failing = new ArrayList<>();
      for (int i = 0; i < 200; i++) {
        failing.add(one.send(GET));
      }
      for (CompletableFuture<HttpResponse> each : failing) {
        assertFails(one, each, "(store=tested:a): connection refused." + hint);
      }
      assertFails(other, other.send(GET), "(store=tested:a): unknown host." + hint);
      assertThat(one.translated(new NoRouteToHostException("No route to host")))
          .hasMessageEndingWith("(store=tested:a): No route to host." + hint);
      assertThat(one.translated(new UnknownHostException("nowhere")))
          .hasMessageEndingWith("(store=tested:a): unknown host." + hint);
      assertFails(
          both, both.send(GET), "(store=tested:a): the last one: connection refused." + hint);
    }
  }

  @Test
  void givenServerWhoseHostIsUnknown_thenTheNextOneIsAsked_andAloneItCannotBeConnectedTo()
      throws Exception {
    try (ScriptedServer good = ScriptedServer.counting();
        HttpServers both = servers(LONG, UNKNOWN, good.uri());
        HttpServers streams = servers(LONG, UNKNOWN, good.uri());
        HttpServers alone = servers(LONG, UNKNOWN)) {
      HttpResponse answer = join(both.send(GET));
      assertThat(answer.body()).isEqualTo("1");
      both.moveOn(answer);
      assertThat(body(both)).as("back from the unknown one").isEqualTo("2");
      assertThat(join(streams.stream(GET, LONG, null)).body()).isEqualTo("3");
      assertFails(alone, alone.send(GET), "No server of Tested can be connected to");
      assertFails(alone, alone.send(GET), ": unknown host.");
    }
  }

  @Test
  void givenAnswersThatAreTooLong_thenTheyAreNotRead_andTheMessageTellsTheLimit() throws Exception {
    String part = "10000\r\n" + "x".repeat(0x10000) + "\r\n";
    try (ScriptedServer server =
            new ScriptedServer(
                client -> {
                  client.request();
                  client.send("HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n");
                  while (true) {
                    client.send(part);
                  }
                });
        HttpServers servers = servers(LONG, server.uri())) {
      assertFails(servers, servers.send(GET), "too long: more than 4194304 bytes");
      HttpRequest small = new HttpRequest("GET", "/x", Map.of(), null, 1_000);
      assertFails(servers, servers.send(small), "too long: more than 1000 bytes");
      assertFails(
          servers, servers.stream(small, LONG, line -> {}), "line of the answer is too long");
      awaitAllClosed(server);
    }
  }

  @Test
  void givenListThatMayBeLong_thenItHasAShareOfTheHeapAtMost_andADocumentItsWholeSize() {
    long share = Runtime.getRuntime().maxMemory() / 16;
    assertThat(HttpExchange.mostBytes(new HttpRequest("GET", "/", Map.of(), null, Long.MAX_VALUE)))
        .isEqualTo(Math.max(HttpRequest.MAX_DOCUMENT_BYTES, share));
    assertThat(HttpExchange.mostBytes(new HttpRequest("GET", "/", Map.of(), null)))
        .isEqualTo(HttpRequest.MAX_DOCUMENT_BYTES);
  }

  /**
   * As after a firewall has dropped it: the server receives nothing, the client is not notified.
   */
  @Test
  void givenConnectionThatWasIdleForLong_thenTheNextRequestHasANewOne() throws Exception {
    AtomicInteger connections = new AtomicInteger();
    try (ScriptedServer server =
            new ScriptedServer(
                client -> {
                  client.request();
                  client.answer("" + connections.incrementAndGet());
                  client.request();
                });
        HttpServers servers =
            new HttpServers(
                new HttpTarget("Tested", List.of(server.uri()), LONG, null, "tested:a"),
                1,
                "test",
                Ticker.SYSTEM,
                InetAddress::getAllByName,
                Duration.ofMillis(50))) {
      assertThat(body(servers)).isEqualTo("1");
      await(() -> servers.connections() == 0);
      assertThat(body(servers)).isEqualTo("2");
    }
  }
}
