package io.mortise.cli;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import io.mortise.Lease;
import io.mortise.LeaseLostException;
import io.mortise.LockClient;
import io.mortise.admin.LockQuery;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse.BodyHandlers;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.Map;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/** {@code mortise console}, on an existing store. */
class ConsoleCommandTest extends CommandHarness {
  private static final Pattern LINK =
      Pattern.compile(
          "mortise: console on (http://127\\.0\\.0\\.1:\\d+/)#token=(\\S+) \\((.*)\\)\n");

  @TempDir Path folder;

  private interface Check {
    void run(Matcher link) throws Exception;
  }

  private void whileItRuns(Check check, String... options) throws Exception {
    String[] words = new String[options.length + 1];
    words[0] = "console";
    System.arraycopy(options, 0, words, 1, options.length);
    AtomicInteger status = new AtomicInteger(-1);
    Thread running =
        new Thread(() -> status.set(execute(new StoreConnector(), words)), "mortise console");
    running.start();
    try {
      await()
          .atMost(Duration.ofSeconds(60))
          .until(() -> LINK.matcher(err()).find() || !running.isAlive());
      Matcher link = LINK.matcher(err());
      assertThat(link.find()).as(err()).isTrue();
      check.run(link);
    } finally {
      running.interrupt();
      running.join(30_000);
    }
    assertThat(running.isAlive()).isFalse();
    assertThat(status).hasValue(ExitStatus.OK);
  }

  private static String get(Matcher link, String path) throws Exception {
    HttpRequest request =
        HttpRequest.newBuilder(URI.create(link.group(1) + path))
            .header("Authorization", "Bearer " + link.group(2))
            .timeout(Duration.ofSeconds(30))
            .build();
    return HttpClient.newHttpClient().send(request, BodyHandlers.ofString(UTF_8)).body();
  }

  @Test
  void givenLockThatIsHeld_thenTheConsoleShowsIt_andTheStoreStaysAsItIs() throws Exception {
    String url = "jdbc:sqlite:" + folder.resolve("locks.db") + "?namespace=orders";
    variables.put("MORTISE_STORE", url);
    try (LockClient locks = LockClient.connect(url);
        Lease lease = locks.lock("settlement/today").acquire()) {
      whileItRuns(
          link -> {
            assertThat(link.group(3)).isEqualTo("read-only");
            assertThat(get(link, "api/v1/locks/settlement%2Ftoday"))
                .contains("\"state\":\"held\"", "\"token\":\"" + lease.token() + "\"");
            assertThat(get(link, "api/v1/doctor")).contains("\"findings\":[", "\"mode\":\"sqlite");
            assertThat(get(link, "api/v1/status"))
                .contains("\"mode\":\"sqlite", "\"namespace\":\"orders\"");
            assertThat(get(link, "")).contains("<!doctype html>");
            assertThat(locks.admin().list(LockQuery.all().withIdle().page(null, 10)).items())
                .hasSize(1);
          },
          "--listen=0");
      assertThat(lease.isValid()).isTrue();
    }
  }

  @Test
  void givenOptions_thenTheyAreKept() throws Exception {
    Path token = Files.writeString(folder.resolve("token"), "0123456789abcdefghij\n");
    String url = "jdbc:sqlite:" + folder.resolve("locks.db");
    variables.put("MORTISE_STORE", url);
    try (LockClient locks = LockClient.connect(url);
        Lease lease = locks.lock("a").acquire()) {
      whileItRuns(
          link -> {
            assertThat(link.group(2)).isEqualTo("0123456789abcdefghij");
            assertThat(link.group(3)).isEqualTo("may close, break");
            assertThat(get(link, "api/v1/status")).contains("\"share\":0.005");
          },
          "--listen=127.0.0.1:0",
          "--allow=close,break",
          "--budget=0.5%",
          "--token=@" + token);
      assertThat(lease.isValid()).isTrue();
    }
  }

  /** A proxy, or a stored link, would lead to the process that has taken the port. */
  @Test
  @Timeout(value = 60, threadMode = Timeout.ThreadMode.SEPARATE_THREAD)
  void givenTakenPort_whenItWasAskedFor_thenTheConsoleDoesNotMove() throws Exception {
    variables.put("MORTISE_STORE", "jdbc:sqlite:" + folder.resolve("locks.db") + "?create=true");
    try (ServerSocket taken = new ServerSocket(0, 1, InetAddress.getLoopbackAddress())) {
      assertThat(
              execute(
                  new StoreConnector(),
                  "console",
                  "--listen=127.0.0.1:" + taken.getLocalPort(),
                  "--behind=https://ops.example.com/locks"))
          .isEqualTo(ExitStatus.FAILED);
      assertThat(err())
          .contains("Cannot listen at 127.0.0.1:" + taken.getLocalPort())
          .doesNotContain("#token=");
    }
  }

  @Test
  void givenHistoryFile_whenStartedAgain_thenWhatWasSeenBeforeIsThere() throws Exception {
    String url = "jdbc:sqlite:" + folder.resolve("locks.db");
    String file = "--history=" + folder.resolve("history.db");
    variables.put("MORTISE_STORE", url);
    try (LockClient locks = LockClient.connect(url)) {
      whileItRuns(
          link -> {
            await()
                .atMost(Duration.ofSeconds(60))
                .until(() -> !get(link, "api/v1/status").contains("\"asOfAt\":null"));
            try (Lease lease = locks.lock("settlement").acquire()) {
              await()
                  .atMost(Duration.ofSeconds(60))
                  .until(() -> get(link, "api/v1/events").contains("\"kind\":\"granted\""));
              assertThat(lease.isValid()).isTrue();
            }
          },
          "--listen=0",
          "--budget=50%",
          file);
    }
    err.reset();
    whileItRuns(
        link ->
            assertThat(get(link, "api/v1/events"))
                .contains("\"kind\":\"granted\",\"lock\":\"settlement\"", "\"kind\":\"gap\""),
        "--listen=0",
        file);
    assertThat(execute(new StoreConnector(), "console", "--history=" + folder.resolve("locks.db")))
        .isEqualTo(ExitStatus.USAGE);
    assertThat(err()).contains("is a database of something else");
  }

  @Test
  void givenQuietConsole_whenItEvicts_thenItsLogSaysSoAllTheSame() throws Exception {
    String url = "jdbc:sqlite:" + folder.resolve("locks.db");
    try (LockClient locks = LockClient.connect(url);
        Lease lease = locks.lock("a").acquire();
        CliProcess tool =
            CliProcess.start(
                folder,
                Main.class,
                Map.of("MORTISE_STORE", url),
                ProcessBuilder.Redirect.PIPE,
                "console",
                "--quiet",
                "--listen=0",
                "--allow=break")) {
      await().atMost(Duration.ofSeconds(60)).until(() -> LINK.matcher(tool.err()).find());
      Matcher link = LINK.matcher(tool.err());
      assertThat(link.find()).isTrue();
      String attempt = locks.admin().find("a").orElseThrow().holders().get(0).attempt();
      String body =
          "{\"attempt\":\"%s\",\"token\":\"%d\",\"how\":\"break\",\"confirm\":\"a\"}"
              .formatted(attempt, lease.token());
      HttpRequest request =
          HttpRequest.newBuilder(URI.create(link.group(1) + "api/v1/locks/a/evict"))
              .header("Authorization", "Bearer " + link.group(2))
              .header("Content-Type", "application/json")
              .timeout(Duration.ofSeconds(30))
              .POST(HttpRequest.BodyPublishers.ofString(body))
              .build();
      assertThat(HttpClient.newHttpClient().send(request, BodyHandlers.ofString(UTF_8)).body())
          .contains("hold_ended");
      await()
          .atMost(Duration.ofSeconds(30))
          .untilAsserted(
              () ->
                  assertThat(tool.err())
                      .contains(
                          "An operator at the console evicted from lock 'a' (store=jdbc:sqlite:"));
    } catch (LeaseLostException e) {
      assertThat(e).hasMessageContaining("'a'");
    }
  }

  @Test
  void givenWrongOptions_thenTheyAreRefused() throws Exception {
    variables.put("MORTISE_STORE", "fake:");
    for (String option :
        new String[] {
          "--listen=here",
          "--listen=127.0.0.1:99999",
          "--listen=0.0.0.0:0",
          "--allow=all",
          "--budget=0%",
          "--budget=2",
          "--token=secret",
          "--token=@" + folder.resolve("none"),
          "--behind=ops"
        }) {
      assertThat(execute("console", option)).as(option).isEqualTo(ExitStatus.USAGE);
    }
    assertThat(err())
        .contains("--behind URL", "others see a command line")
        .doesNotContain("defect");
  }

  @Test
  void givenNoLockFile_thenNoneIsMade() {
    Path file = folder.resolve("none.db");
    int status = execute(new StoreConnector(), "console", "--store=jdbc:sqlite:" + file);
    assertThat(status).isEqualTo(ExitStatus.STORE);
    assertThat(err()).contains("looking makes none");
    assertThat(file).doesNotExist();
  }
}
