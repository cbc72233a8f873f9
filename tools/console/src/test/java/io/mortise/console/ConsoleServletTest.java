package io.mortise.console;

import static org.assertj.core.api.Assertions.assertThat;

import io.mortise.Lease;
import io.mortise.LockClient;
import io.mortise.testserver.TestStore;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpRequest.BodyPublishers;
import java.net.http.HttpResponse;
import java.net.http.HttpResponse.BodyHandlers;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.EnumSet;
import java.util.List;
import java.util.logging.Level;
import java.util.logging.Logger;
import org.apache.catalina.Context;
import org.apache.catalina.startup.Tomcat;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Authorization by an application's access function. */
class ConsoleServletTest {
  private static final Logger TOMCAT = Logger.getLogger("org.apache");
  private static final String NAME = "job";

  @TempDir private Path folder;
  private final HttpClient http = HttpClient.newHttpClient();
  private final Tomcat tomcat = new Tomcat();
  private volatile @Nullable ConsoleAccess granted;
  private LockClient locks;
  private String address;
  private Path history;

  @BeforeEach
  void serve() throws Exception {
    TOMCAT.setLevel(Level.WARNING);
    locks = LockClient.connect(TestStore.MEMORY.newUrl());
    history = folder.resolve("history.db");
    ConsoleServlet servlet =
        new ConsoleServlet(
            Console.builder(locks).allow(EnumSet.allOf(ConsoleAction.class)).history(history),
            request -> granted,
            request -> List.of());
    tomcat.setBaseDir(folder.toString());
    tomcat.setHostname("127.0.0.1");
    tomcat.setPort(0);
    tomcat.getConnector().setProperty("address", "127.0.0.1");
    Context context = tomcat.addContext("", folder.toString());
    Tomcat.addServlet(context, "console", servlet).setAsyncSupported(true);
    context.addServletMappingDecoded("/locks/*", "console");
    tomcat.start();
    address = "http://127.0.0.1:" + tomcat.getConnector().getLocalPort();
  }

  @AfterEach
  void stop() throws Exception {
    tomcat.stop();
    tomcat.destroy();
    locks.close();
  }

  private HttpRequest.Builder request(String path) {
    return HttpRequest.newBuilder(URI.create(address + "/locks/api/v1/" + path))
        .timeout(Duration.ofSeconds(30));
  }

  private HttpResponse<String> get(String path) throws Exception {
    return http.send(request(path).build(), BodyHandlers.ofString());
  }

  private HttpResponse<String> evict(Lease lease) throws Exception {
    String attempt = locks.admin().find(NAME).orElseThrow().holders().get(0).attempt();
    String body =
        "{\"attempt\":\""
            + attempt
            + "\",\"token\":\""
            + lease.token()
            + "\",\"how\":\"break\",\"confirm\":\""
            + NAME
            + "\"}";
    return http.send(
        request("locks/" + NAME + "/evict")
            .header("Origin", address)
            .header("Content-Type", "application/json")
            .POST(BodyPublishers.ofString(body))
            .build(),
        BodyHandlers.ofString());
  }

  @Test
  void givenAccessFunctionThatReturnsNull_thenNobodyGetsIn() throws Exception {
    try (Lease lease = locks.lock(NAME).acquire()) {
      granted = ConsoleAccess.LOOK;
      assertThat(get("locks").statusCode()).isEqualTo(200);
      assertThat(evict(lease).statusCode()).isEqualTo(404);
      for (ConsoleAccess none : new ConsoleAccess[] {null, ConsoleAccess.NONE}) {
        granted = none;
        for (String path : new String[] {"status", "locks", "locks/" + NAME, "events", "stream"}) {
          HttpResponse<String> refused = get(path);
          assertThat(refused.statusCode()).as("%s with %s", path, none).isEqualTo(403);
          assertThat(refused.body()).contains("Nobody is signed in").doesNotContain("mem:");
        }
        assertThat(evict(lease).statusCode()).as("eviction with %s", none).isEqualTo(403);
      }
      assertThat(lease.isValid()).isTrue();
    }
  }

  @Test
  void givenHistoryFileOfSomethingElse_thenEachAnswerSaysSo_andThePageIsServed() throws Exception {
    granted = ConsoleAccess.LOOK;
    Files.writeString(history, "no database at all, but long enough for a header".repeat(9));
    HttpResponse<String> refused = get("status");
    assertThat(refused.statusCode()).isEqualTo(503);
    assertThat(refused.body())
        .contains("history-file", "the log of the application says why")
        .doesNotContain(history.getFileName().toString());
    assertThat(get("locks").statusCode()).isEqualTo(503);
    HttpRequest page = HttpRequest.newBuilder(URI.create(address + "/locks/")).build();
    assertThat(http.send(page, BodyHandlers.ofString()).statusCode()).isEqualTo(200);
  }
}
