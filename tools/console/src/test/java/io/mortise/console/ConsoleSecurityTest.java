package io.mortise.console;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.awaitility.Awaitility.await;

import io.mortise.Lease;
import io.mortise.LockClient;
import io.mortise.console.RawHttp.Answer;
import io.mortise.testkit.BoundedWait;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.net.BindException;
import java.net.InetSocketAddress;
import java.net.ServerSocket;
import java.net.Socket;
import java.net.URI;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.EnumSet;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** The access rules, each attacked over the wire. */
class ConsoleSecurityTest extends ConsoleHarness {
  private static final String LOCK = "/api/v1/locks/a%2Fb";

  private static final List<String> EVERYWHERE =
      List.of(
          "Content-Security-Policy",
          "X-Content-Type-Options",
          "X-Frame-Options",
          "Referrer-Policy",
          "Cross-Origin-Opener-Policy",
          "Cross-Origin-Resource-Policy");

  private Map<String, String> without(String name) {
    Map<String, String> headers = http.authorized();
    headers.remove(name);
    return headers;
  }

  @Test
  void givenRightRequest_thenIsAnswered() throws IOException {
    assertThat(http.get(STATUS).status()).isEqualTo(200);
    assertThat(http.get(LOCK).status()).isEqualTo(200);
    assertThat(http.send("GET", "/", Map.of("Host", http.host()), "").status()).isEqualTo(200);
    assertThat(
            http.send("GET", STATUS, with("Host", "LOCALHOST:" + console.address().getPort()), "")
                .status())
        .isEqualTo(200);
    assertThat(http.send("GET", STATUS, with("Origin", "http://" + http.host()), "").status())
        .isEqualTo(200);
    assertThat(http.send("GET", STATUS, with("Sec-Fetch-Site", "same-origin"), "").status())
        .isEqualTo(200);
  }

  @ParameterizedTest
  @ValueSource(
      strings = {
        "/api/v1/status",
        "/api/v1/locks",
        "/api/v1/locks/x",
        "/api/v1/locks/x/history",
        "/api/v1/waits",
        "/api/v1/processes",
        "/api/v1/processes/x",
        "/api/v1/events",
        "/api/v1/doctor",
        "/api/v1/guarantees",
        "/api/v1/hazards",
        "/api/v1/stream",
        "/api/v1/nothing"
      })
  void givenNoOrWrongToken_thenNothingIsTold(String path) throws IOException {
    Answer none = http.send("GET", path, without("Authorization"), "");
    assertThat(none.status()).isEqualTo(401);
    assertThat(none.body()).contains("Take the new link");
    for (String wrong :
        List.of(
            "Bearer ",
            "Bearer x",
            "Bearer " + http.token() + "x",
            "bearer " + http.token(),
            "Basic " + http.token(),
            http.token(),
            "Bearer " + http.token().substring(1))) {
      assertThat(http.send("GET", path, with("Authorization", wrong), "").status())
          .as(wrong)
          .isEqualTo(401);
    }
    String asQuery = path + "?token=" + http.token();
    assertThat(http.send("GET", asQuery, without("Authorization"), "").status()).isEqualTo(401);
    assertThat(
            http.send(
                    "GET", path, Map.of("Host", http.host(), "Cookie", "token=" + http.token()), "")
                .status())
        .isEqualTo(401);
  }

  @Test
  void givenTwoAuthorizationHeaders_thenIsRefused() throws IOException {
    String raw =
        "GET "
            + STATUS
            + " HTTP/1.1\r\nHost: "
            + http.host()
            + "\r\nAuthorization: Bearer x\r\n"
            + "Authorization: Bearer "
            + http.token()
            + "\r\nConnection: close\r\n\r\n";
    assertThat(http.send(raw).status()).isEqualTo(400);
  }

  @ParameterizedTest
  @ValueSource(
      strings = {
        "evil.example",
        "evil.example:80",
        "127.0.0.1",
        "localhost",
        "127.0.0.1:1",
        "[::1]",
        "0.0.0.0",
        "127.1"
      })
  void givenForeignHost_thenIsRefused_forThePageToo(String host) throws IOException {
    assertThat(http.send("GET", STATUS, with("Host", host), "").status()).isEqualTo(421);
    assertThat(http.send("GET", "/", Map.of("Host", host), "").status()).isEqualTo(421);
  }

  @Test
  void givenNoHost_orTwo_thenIsRefused() throws IOException {
    assertThat(http.send("GET " + STATUS + " HTTP/1.0\r\n\r\n").status()).isEqualTo(421);
    String two =
        "GET / HTTP/1.1\r\nHost: "
            + http.host()
            + "\r\nHost: evil.example\r\nConnection: close\r\n\r\n";
    assertThat(http.send(two).status()).isEqualTo(400);
    String absolute =
        "GET http://evil.example"
            + STATUS
            + " HTTP/1.1\r\nHost: evil.example\r\nConnection: close\r\n\r\n";
    assertThat(http.send(absolute).status()).isEqualTo(421);
  }

  @ParameterizedTest
  @ValueSource(
      strings = {
        "https://evil.example",
        "null",
        "http://localhost:1",
        "https://localhost",
        "http://127.0.0.1"
      })
  void givenForeignOrigin_thenIsRefused_andNothingPermitsIt(String origin) throws IOException {
    Answer answer = http.send("GET", STATUS, with("Origin", origin), "");
    assertThat(answer.status()).isEqualTo(403);
    Answer asked =
        http.send(
            "OPTIONS",
            STATUS,
            Map.of(
                "Host",
                http.host(),
                "Origin",
                origin,
                "Access-Control-Request-Method",
                "POST",
                "Access-Control-Request-Headers",
                "authorization"),
            "");
    assertThat(asked.status()).isEqualTo(403);
    assertThat(answer.headers().keySet()).noneMatch(name -> name.startsWith("access-control"));
    assertThat(asked.headers().keySet()).noneMatch(name -> name.startsWith("access-control"));
  }

  @ParameterizedTest
  @ValueSource(strings = {"cross-site", "same-site", "CROSS-SITE"})
  void givenRequestThatAnotherSiteMade_thenIsRefused(String site) throws IOException {
    assertThat(http.send("GET", STATUS, with("Sec-Fetch-Site", site), "").status()).isEqualTo(403);
    assertThat(http.send("POST", LOCK + "/evict", with("Sec-Fetch-Site", site), "{}").status())
        .isEqualTo(403);
    // Another site loads this page's files as a script.
    Map<String, String> script = new LinkedHashMap<>(Map.of("Host", http.host()));
    script.put("Sec-Fetch-Site", site);
    script.put("Sec-Fetch-Mode", "no-cors");
    script.put("Sec-Fetch-Dest", "script");
    assertThat(http.send("GET", "/", script, "").status()).isEqualTo(403);
    script.put("Sec-Fetch-Mode", "navigate");
    script.put("Sec-Fetch-Dest", "iframe");
    assertThat(http.send("GET", "/", script, "").status()).isEqualTo(403);
    // A followed link.
    script.put("Sec-Fetch-Dest", "document");
    assertThat(http.send("GET", "/", script, "").status()).isEqualTo(200);
  }

  @Test
  void givenFormOfAnotherSite_thenIsRefused() throws IOException {
    console.close();
    start(EnumSet.allOf(ConsoleAction.class));
    for (String type :
        List.of("application/x-www-form-urlencoded", "multipart/form-data", "text/plain")) {
      Map<String, String> form = with("Content-Type", type);
      assertThat(http.send("POST", LOCK + "/evict", form, "{}").status()).isEqualTo(415);
    }
    assertThat(http.send("POST", LOCK + "/evict", http.authorized(), "{}").status()).isEqualTo(415);
  }

  @Test
  void givenReadOnly_thenThereIsNothingToWriteTo() throws Exception {
    try (Lease lease = client.lock("a/b").acquire()) {
      for (String path : List.of("/evict", "/open")) {
        assertThat(http.post(LOCK + path, "{}").status()).isEqualTo(404);
      }
      for (String method : List.of("PUT", "DELETE", "PATCH", "HEAD", "TRACE")) {
        assertThat(http.send(method, LOCK, http.authorized(), "").status())
            .as(method)
            .isEqualTo(405);
      }
      assertThat(http.get(STATUS).body()).contains("\"allowed\":[]");
      assertThat(lease.isValid()).isTrue();
    }
  }

  @Test
  void givenCloseIsAllowed_thenBreakAndOpenAreNot() throws Exception {
    console.close();
    start(EnumSet.of(ConsoleAction.CLOSE));
    try (Lease lease = client.lock("a/b").acquire()) {
      String body = "{\"attempt\":\"x\",\"token\":\"1\",\"how\":\"break\",\"confirm\":\"a/b\"}";
      Answer refused = http.post(LOCK + "/evict", body);
      assertThat(refused.status()).isEqualTo(404);
      assertThat(refused.body()).contains("ConsoleBuilder.allow", "--allow break");
      assertThat(http.post(LOCK + "/open", "{}").status()).isEqualTo(404);
      assertThat(http.get(STATUS).body()).contains("\"allowed\":[\"close\"]");
      assertThat(lease.isValid()).isTrue();
    }
  }

  @ParameterizedTest
  @ValueSource(
      strings = {
        "/../secret.txt",
        "/..%2f..%2fetc/passwd",
        "/%2e%2e/%2e%2e/etc/passwd",
        "/a/../../../etc/passwd",
        "//etc/passwd",
        "/.hidden.js",
        "/a//b.js",
        "/%00.js",
        "/index.html%00.js",
        "/..\\..\\windows.txt",
        "/module-info.class",
        "/META-INF/MANIFEST.MF",
        "/../../io/mortise/console/Console.class",
        "/file:/etc/passwd.txt",
        "/index.html/",
        "/api",
        "/api/",
        "/API/v1/status"
      })
  void givenPathTrick_thenNothingIsFound(String path) throws IOException {
    Answer answer = http.send("GET", path, http.authorized(), "");
    assertThat(answer.status()).isIn(400, 404);
    assertThat(answer.body()).doesNotContain("root:", "Manifest-Version");
  }

  @Test
  void givenLockNameOfAllKinds_thenItIsThatLock() throws Exception {
    String name = "a/../b%2F c#?&=+鎖\u202e<img src=x onerror=alert(1)>";
    try (Lease lease = client.lock(name).acquire()) {
      StringBuilder path = new StringBuilder();
      for (byte b : name.getBytes(StandardCharsets.UTF_8)) {
        path.append(String.format("%%%02X", b & 0xff));
      }
      Answer answer = http.get("/api/v1/locks/" + path);
      assertThat(answer.status()).isEqualTo(200);
      assertThat(answer.body()).contains("\"state\":\"held\"").contains("\\u202E");
      assertThat(answer.header("Content-Type")).isEqualTo("application/json; charset=utf-8");
      assertThat(lease.isValid()).isTrue();
    }
    assertThat(http.get("/api/v1/locks/%zz").status()).isEqualTo(400);
    assertThat(http.get("/api/v1/locks/a%0Ab").status()).isEqualTo(400);
    assertThat(http.get("/api/v1/locks/").status()).isEqualTo(400);
    assertThat(http.get("/api/v1/locks/" + "x".repeat(513)).status()).isEqualTo(400);
  }

  @Test
  void givenLongBodyOrQuery_thenIsRefused() throws IOException {
    assertThat(http.post(LOCK + "/evict", "{\"x\":\"" + "y".repeat(9 * 1024) + "\"}").status())
        .isEqualTo(413);
    assertThat(http.get("/api/v1/locks?q=" + "x".repeat(4096)).status()).isEqualTo(414);
    assertThat(http.get("/" + "x".repeat(5000)).status()).isEqualTo(414);
    assertThat(http.get("/api/v1/locks?limit=201").status()).isEqualTo(400);
    assertThat(http.get("/api/v1/locks?limit=-1").status()).isEqualTo(400);
    assertThat(http.get("/api/v1/locks?cursor=99999999999").status()).isEqualTo(400);
    assertThat(http.get("/api/v1/locks?state=best").status()).isEqualTo(400);
    assertThat(http.get("/api/v1/locks?sort=best").status()).isEqualTo(400);
    assertThat(http.get("/api/v1/stream?" + "lock=a&".repeat(17)).status()).isEqualTo(400);
    assertThat(http.get(STATUS).status()).isEqualTo(200);
  }

  @Test
  void givenBodyThatIsNoObject_thenIsRefused() throws IOException {
    console.close();
    start(EnumSet.allOf(ConsoleAction.class));
    for (String body :
        List.of("", "[]", "1", "{", "{\"attempt\":1,\"how\":\"close\"}", "[".repeat(4000))) {
      assertThat(http.post(LOCK + "/evict", body).status()).as(body).isEqualTo(400);
    }
  }

  @Test
  void givenAnyAnswer_thenItHasTheHeaders_andNoCookie() throws IOException {
    List<Answer> answers =
        List.of(
            http.send("GET", "/", Map.of("Host", http.host()), ""),
            http.send("GET", "/nothing.js", Map.of("Host", http.host()), ""),
            http.get(STATUS),
            http.get("/api/v1/nothing"),
            http.get("/api/v1/locks?limit=0"),
            http.send("GET", STATUS, Map.of("Host", http.host()), ""),
            http.send("GET", STATUS, Map.of("Host", "evil"), ""),
            http.send("DELETE", STATUS, http.authorized(), ""),
            http.post(LOCK + "/evict", "{}"));
    for (Answer answer : answers) {
      for (String header : EVERYWHERE) {
        assertThat(answer.header(header)).as("%s of %d", header, answer.status()).isNotEmpty();
      }
      assertThat(answer.header("Content-Security-Policy"))
          .contains("default-src 'none'", "frame-ancestors 'none'", "trusted-types 'none'")
          .doesNotContain("unsafe");
      assertThat(answer.headers()).doesNotContainKeys("set-cookie", "server");
    }
    assertThat(http.get(STATUS).header("Cache-Control")).isEqualTo("no-store");
  }

  @Test
  void givenOtherAddressThanLoopback_thenIsRefused_unlessBehindAProxy() throws IOException {
    ConsoleBuilder open = Console.builder(client).listen(new InetSocketAddress("0.0.0.0", 0));
    assertThatThrownBy(open::start)
        .isInstanceOf(IllegalArgumentException.class)
        .hasMessageContaining("ConsoleBuilder.behind");
    console.close();
    console =
        Console.builder(client)
            .listen(loopback(0))
            .behind(URI.create("https://ops.example.com/locks/"))
            .start();
    http = new RawHttp(console);
    assertThat(console.url().toString()).startsWith("https://ops.example.com/locks/#token=");
    Map<String, String> proxied = with("Host", "ops.example.com");
    proxied.put("Origin", "https://ops.example.com");
    assertThat(http.send("GET", STATUS, proxied, "").status()).isEqualTo(200);
    assertThat(http.send("GET", "/locks" + STATUS, proxied, "").status()).isEqualTo(200);
    Answer moved = http.send("GET", "/locks", Map.of("Host", "ops.example.com"), "");
    assertThat(moved.status()).isEqualTo(308);
    assertThat(moved.header("Location")).isEqualTo("/locks/");
    proxied.put("Origin", "http://ops.example.com");
    assertThat(http.send("GET", STATUS, proxied, "").status()).isEqualTo(403);
    assertThat(http.send("GET", STATUS, with("Host", "ops.example.com:80"), "").status())
        .isEqualTo(421);
  }

  @Test
  void givenToken_thenItIsShownNowhereButInTheLink() throws IOException {
    for (String path : List.of("/", STATUS, "/api/v1/events", "/nothing")) {
      Answer answer = http.get(path);
      assertThat(new String(answer.bytes(), StandardCharsets.UTF_8)).doesNotContain(http.token());
    }
    assertThat(http.token()).matches("[A-Za-z0-9_-]{22}");
    assertThatThrownBy(() -> Console.builder(client).listen(loopback(0)).token("short").start())
        .isInstanceOf(IllegalArgumentException.class)
        .hasMessageNotContaining("short\"");
  }

  /** The default port, held by this test or by another process. */
  private record DefaultPort(ServerSocket held) implements AutoCloseable {
    static DefaultPort take() throws IOException {
      ServerSocket socket = new ServerSocket();
      long end = System.nanoTime() + Duration.ofSeconds(5).toNanos();
      while (!socket.isBound()) {
        try {
          socket.bind(loopback(ConsoleBuilder.DEFAULT_PORT));
        } catch (BindException e) {
          // Another test may hold it for a moment, and free it too soon.
          if (System.nanoTime() - end > 0) {
            break;
          }
          BoundedWait.pass(Duration.ofMillis(20));
        }
      }
      return new DefaultPort(socket);
    }

    @Override
    public void close() throws IOException {
      held.close();
    }
  }

  @Test
  @SuppressWarnings("try") // the port is only held
  void givenTakenPort_whenNothingSaysWhereToListen_thenTheNextFreeOneIsTaken() throws IOException {
    try (DefaultPort taken = DefaultPort.take();
        Console first = Console.builder(client).start();
        Console second = Console.builder(client).start()) {
      assertThat(first.address().getPort()).isBetween(7421, 7439);
      assertThat(second.address().getPort()).isBetween(7421, 7439);
      assertThat(second.address()).isNotEqualTo(first.address());
    }
  }

  /** A proxy, or a stored link, would lead to the process that has taken the port. */
  @Test
  @SuppressWarnings("try") // the port is only held
  void givenTakenPort_whenSomethingLeadsToIt_thenTheConsoleDoesNotMove() throws IOException {
    String token = "0123456789abcdefghij";
    try (DefaultPort taken = DefaultPort.take();
        Console first = Console.builder(client).start()) {
      for (ConsoleBuilder settings :
          List.of(
              Console.builder(client).listen(first.address()),
              Console.builder(client)
                  .listen(first.address())
                  .behind(URI.create("https://ops.example.com/locks"))
                  .token(token))) {
        assertRefused(settings, first.address().getPort());
      }
      assertRefused(Console.builder(client).token(token), ConsoleBuilder.DEFAULT_PORT);
      assertRefused(
          Console.builder(client).behind(URI.create("https://ops.example.com/locks")),
          ConsoleBuilder.DEFAULT_PORT);
    }
  }

  private static void assertRefused(ConsoleBuilder settings, int port) {
    assertThatThrownBy(() -> settings.start().close())
        .isInstanceOf(UncheckedIOException.class)
        .hasMessageContaining("Cannot listen at ")
        .hasMessageContaining(":" + port + ": Address already in use");
  }

  @Test
  void givenNameOfAClientWithTerminalEscapes_thenNoAnswerHasThem() throws Exception {
    String evil = "\u009b2Jevil\u202e";
    try (LockClient other = LockClient.builder().url(store).name(evil).build();
        Lease lease = other.lock("a/b").acquire();
        Socket stream = http.open()) {
      await().until(() -> http.get("/api/v1/locks").body().contains("2Jevil"));
      stream.getOutputStream().write(http.stream("list=&lock=a%2Fb&processes=true"));
      Map<String, String> asCsv = with("Accept", "text/csv");
      for (String answer :
          List.of(
              http.get("/api/v1/locks").body(),
              http.get(LOCK).body(),
              http.send("GET", "/api/v1/locks", asCsv, "").body(),
              RawHttp.readUntil(stream.getInputStream(), "event: processes"))) {
        assertThat(answer).contains("2Jevil").doesNotContain("\u009b", "\u202e");
      }
      assertThat(lease.isValid()).isTrue();
    }
  }
}
