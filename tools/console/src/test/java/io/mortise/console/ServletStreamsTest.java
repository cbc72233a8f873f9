package io.mortise.console;

import static org.assertj.core.api.Assertions.assertThat;

import io.mortise.LockClient;
import io.mortise.testkit.BoundedWait;
import io.mortise.testserver.TestStore;
import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStream;
import java.io.InputStreamReader;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.Socket;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpRequest.BodyPublishers;
import java.net.http.HttpResponse;
import java.net.http.HttpResponse.BodyHandlers;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.logging.Level;
import java.util.logging.Logger;
import java.util.stream.Collectors;
import org.apache.catalina.Context;
import org.apache.catalina.startup.Tomcat;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** The console in a servlet container, which admits requests with {@code ?in} or {@code ?look}. */
class ServletStreamsTest {
  private static final Logger TOMCAT = Logger.getLogger("org.apache");

  @TempDir private Path folder;
  private final HttpClient http = HttpClient.newHttpClient();
  private final Set<Thread> before = observers();
  private final Tomcat tomcat = new Tomcat();
  private LockClient locks;
  private CountedAdmin admin;
  private ConsoleServlet servlet;

  @BeforeEach
  void start() throws Exception {
    TOMCAT.setLevel(Level.SEVERE);
    locks = LockClient.connect(TestStore.MEMORY.newUrl());
    admin = new CountedAdmin(locks);
    servlet =
        new ConsoleServlet(
            Console.builder(admin.client()).allow(Set.of(ConsoleAction.CLOSE)),
            request ->
                "in".equals(request.getQueryString())
                    ? ConsoleAccess.ACT
                    : "look".equals(request.getQueryString())
                        ? ConsoleAccess.LOOK
                        : ConsoleAccess.NONE,
            request -> List.of());
    tomcat.setBaseDir(folder.toString());
    tomcat.setHostname("127.0.0.1");
    tomcat.setPort(0);
    tomcat.getConnector().setProperty("address", "127.0.0.1");
    tomcat.getConnector().setProperty("continueResponseTiming", "onRead");
    tomcat.getConnector().setProperty("maxThreads", "12");
    Context context = tomcat.addContext("", folder.toString());
    Tomcat.addServlet(context, "console", servlet).setAsyncSupported(true);
    context.addServletMappingDecoded("/mortise/*", "console");
    tomcat.start();
  }

  @AfterEach
  void stop() throws Exception {
    tomcat.stop();
    tomcat.destroy();
    locks.close();
    assertThat(observers()).as("observers that go on").isSubsetOf(before);
  }

  private static Set<Thread> observers() {
    return Thread.getAllStackTraces().keySet().stream()
        .filter(each -> each.getName().equals("mortise-console-observer"))
        .collect(Collectors.toSet());
  }

  private <T> HttpResponse<T> get(String path, HttpResponse.BodyHandler<T> body)
      throws IOException, InterruptedException {
    return http.send(request(path), body);
  }

  private HttpRequest request(String path) {
    return HttpRequest.newBuilder(
            URI.create(
                "http://127.0.0.1:" + tomcat.getConnector().getLocalPort() + "/mortise" + path))
        .timeout(Duration.ofSeconds(30))
        .build();
  }

  private int status(String path) throws IOException, InterruptedException {
    return get(path, BodyHandlers.ofString()).statusCode();
  }

  @Test
  void givenVisitorsWhoMayNotLook_thenNothingLooksAtTheStore_untilOneMay() throws Exception {
    assertThat(status("/")).isEqualTo(200);
    assertThat(status("/api/v1/status")).isEqualTo(403);
    assertThat(observers()).isSubsetOf(before);
    assertThat(status("/api/v1/status?in")).isEqualTo(200);
    assertThat(status("/api/v1/status?in")).isEqualTo(200);
    assertThat(observers()).filteredOn(each -> !before.contains(each)).hasSize(1);
  }

  @Test
  void givenBodyThatIsNeverSent_whenItsSenderMayNotAct_thenIsRefusedWithoutReadingIt()
      throws Exception {
    assertThat(firstLineAfterHeaders("")).contains("403");
    assertThat(firstLineAfterHeaders("?look")).contains("404");
    assertThat(firstLineAfterHeaders("?in")).as("positive control").contains("100");
  }

  @Test
  void givenAHundredStreamsWhoseClientsDoNotRead_thenTheyHoldNoneOfTheContainersThreads()
      throws Exception {
    int port = tomcat.getConnector().getLocalPort();
    List<Socket> open = new ArrayList<>();
    try {
      for (int i = 0; i < 100; i++) {
        Socket socket = new Socket();
        open.add(socket);
        socket.setReceiveBufferSize(4096);
        socket.connect(new InetSocketAddress(InetAddress.getLoopbackAddress(), port), 5_000);
        socket.setSoTimeout(30_000);
        String request = "GET /mortise/api/v1/stream?in HTTP/1.1\r\nHost: 127.0.0.1\r\n\r\n";
        socket.getOutputStream().write(request.getBytes(StandardCharsets.UTF_8));
      }
      List<String> answers = new ArrayList<>();
      for (Socket socket : open) {
        answers.add(RawHttp.readUntil(socket.getInputStream(), "\r\n").strip());
      }
      assertThat(answers.stream().filter(each -> each.contains(" 200"))).hasSize(32);
      assertThat(answers.stream().filter(each -> each.contains(" 503"))).hasSize(68);
      assertThat(servlet.cost().streams()).isEqualTo(32);
      for (int i = 0; i < 20; i++) {
        assertThat(status("/")).isEqualTo(200);
        assertThat(status("/api/v1/status?in")).isEqualTo(200);
      }
      BoundedWait.until(
          BoundedWait.ANSWER, "the store is looked at", () -> servlet.cost().looks() > 0);
    } finally {
      for (Socket socket : open) {
        socket.close();
      }
    }
  }

  @Test
  void givenSilentStore_whenManyLookAtSingleLocks_thenEightWait_andTheRestIsAnswered()
      throws Exception {
    List<CompletableFuture<HttpResponse<String>>> looks = new ArrayList<>();
    admin.stop();
    try {
      for (int i = 0; i < 60; i++) {
        // Each inspects another lock, so that no result is shared.
        looks.add(
            http.sendAsync(request("/api/v1/locks/job" + i + "?in"), BodyHandlers.ofString()));
      }
      BoundedWait.until(
          BoundedWait.ANSWER,
          "all but eight are refused",
          () -> looks.stream().filter(CompletableFuture::isDone).count() == 52);
      assertThat(looks.stream().filter(CompletableFuture::isDone).map(CompletableFuture::join))
          .allSatisfy(
              refused -> {
                assertThat(refused.statusCode()).isEqualTo(503);
                assertThat(refused.headers().firstValue("Retry-After")).hasValue("1");
                assertThat(refused.body())
                    .contains("8 requests wait for the store already.", "Ask again in a second.");
              });
      assertThat(evict()).as("an eviction looks first").isEqualTo(503);
      assertThat(status("/")).isEqualTo(200);
      assertThat(status("/api/v1/status?in")).isEqualTo(200);
      assertThat(status("/api/v1/locks?in")).isEqualTo(200);
    } finally {
      admin.goOn();
    }
    assertThat(looks.stream().map(CompletableFuture::join).map(HttpResponse::statusCode))
        .as("those that waited")
        .filteredOn(status -> status == 200)
        .hasSize(8);
    assertThat(status("/api/v1/locks/job?in")).as("there is room again").isEqualTo(200);
    assertThat(evict()).as("of an attempt that is not there").isEqualTo(409);
  }

  private int evict() throws IOException, InterruptedException {
    String body = "{\"attempt\": \"AAAAAAAAAAAA.1\", \"how\": \"close\"}";
    HttpRequest request =
        HttpRequest.newBuilder(request("/api/v1/locks/job/evict?in").uri())
            .timeout(Duration.ofSeconds(30))
            .header("Sec-Fetch-Site", "same-origin")
            .header("Content-Type", "application/json")
            .POST(BodyPublishers.ofString(body))
            .build();
    return http.send(request, BodyHandlers.ofString()).statusCode();
  }

  private String firstLineAfterHeaders(String query) throws IOException {
    int port = tomcat.getConnector().getLocalPort();
    try (Socket socket = new Socket(InetAddress.getLoopbackAddress(), port)) {
      socket.setSoTimeout(15_000);
      String request =
          ("POST /mortise/api/v1/lock/evict" + query + " HTTP/1.1\r\nHost: 127.0.0.1:" + port)
              + ("\r\nOrigin: http://127.0.0.1:" + port + "\r\nContent-Type: application/json")
              + "\r\nContent-Length: 100\r\nExpect: 100-continue\r\n\r\n";
      socket.getOutputStream().write(request.getBytes(StandardCharsets.UTF_8));
      return new BufferedReader(
              new InputStreamReader(socket.getInputStream(), StandardCharsets.UTF_8))
          .readLine();
    }
  }

  @Test
  void givenOpenStream_whenStreamsAreClosed_thenItEnds_andNewOnesAreRefused_butTheRestIsAnswered()
      throws Exception {
    HttpResponse<InputStream> stream = get("/api/v1/stream?in", BodyHandlers.ofInputStream());
    assertThat(stream.statusCode()).isEqualTo(200);
    try (InputStream body = stream.body()) {
      assertThat(body.read()).isNotNegative();
      servlet.closeStreams();
      body.readAllBytes();
    }
    HttpResponse<String> refused = get("/api/v1/stream?in", BodyHandlers.ofString());
    assertThat(refused.statusCode()).isEqualTo(503);
    assertThat(refused.body()).contains("closed");
    assertThat(status("/api/v1/status?in")).isEqualTo(200);
  }
}
