package shop;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import io.mortise.testkit.BoundedWait;
import io.mortise.testkit.TestPrerequisites;
import io.mortise.testserver.PostgresServer;
import io.mortise.testserver.RedisServer;
import java.io.File;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpRequest.BodyPublishers;
import java.net.http.HttpResponse;
import java.net.http.HttpResponse.BodyHandlers;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFilePermissions;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.TimeUnit;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/**
 * The script {@code run}, in a folder that looks like the repository: its Maven only records its
 * arguments, since this build has already made the artifacts.
 */
@Tag("extended")
class RunScriptTest {
  private static final Duration LIMIT = Duration.ofSeconds(60);

  @TempDir private Path folder;
  private final HttpClient http = HttpClient.newHttpClient();
  private Path script;
  private Process process;
  private List<ProcessHandle> started = List.of();

  @BeforeEach
  void copyScript() throws IOException {
    // PostgreSQL refuses to run as root, so it runs as another user.
    Files.setPosixFilePermissions(folder, PosixFilePermissions.fromString("rwxr-xr-x"));
    Path shop = Files.createDirectories(folder.resolve("examples/shop"));
    script = Files.copy(Path.of("run"), shop.resolve("run"));
    Files.createSymbolicLink(shop.resolve("target"), Path.of("target").toAbsolutePath());
    maven("exit 0");
  }

  @AfterEach
  void stop() throws Exception {
    if (process != null) {
      process.destroyForcibly().waitFor();
    }
    // Processes left by a failed test; each is killed by its own handle.
    started.forEach(ProcessHandle::destroyForcibly);
    // Deletes the link only: JUnit warns about links that lead outside.
    Files.delete(script.resolveSibling("target"));
  }

  private void maven(String end) throws IOException {
    Path maven = folder.resolve("mvnw");
    Files.writeString(maven, "#!/bin/sh\nprintf '%s\\n' \"$*\" >called\n" + end + "\n");
    assertThat(maven.toFile().setExecutable(true)).isTrue();
  }

  private void start(String line, String... words) throws IOException {
    ProcessBuilder builder = new ProcessBuilder(script.toString());
    builder.command().addAll(List.of(words));
    builder.environment().put("BOOT", line);
    builder.environment().put("JAVA_TOOL_OPTIONS", "-Djava.io.tmpdir=" + folder);
    builder
        .environment()
        .merge(
            "PATH",
            Path.of(System.getProperty("java.home"), "bin").toString(),
            (path, java) -> java + File.pathSeparator + path);
    process =
        builder.redirectErrorStream(true).redirectOutput(folder.resolve("said").toFile()).start();
  }

  private String said() {
    try {
      return Files.readString(folder.resolve("said"));
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }

  private void awaitInstances() {
    await()
        .atMost(BoundedWait.scaled(LIMIT))
        .until(
            () -> {
              assertThat(process.isAlive()).as(said()).isTrue();
              return said().contains("Enter ends them.");
            });
    started = process.descendants().toList();
    assertThat(started).as("two instances, and servers").hasSizeGreaterThan(2);
  }

  private String address(String instance) {
    Matcher line = Pattern.compile("Instance " + instance + ": (\\S+),").matcher(said());
    assertThat(line.find()).as(said()).isTrue();
    return line.group(1);
  }

  private String answer(String method, String url) throws Exception {
    HttpResponse<String> response =
        http.send(
            HttpRequest.newBuilder(URI.create(url))
                .method(method, BodyPublishers.noBody())
                .timeout(LIMIT)
                .build(),
            BodyHandlers.ofString());
    assertThat(response.statusCode()).as(response.body()).isEqualTo(200);
    return response.body();
  }

  private void assertAllEnd() {
    await()
        .atMost(BoundedWait.scaled(LIMIT))
        .untilAsserted(() -> assertThat(started).noneMatch(ProcessHandle::isAlive));
  }

  @Test
  void givenRedis_whenEnterIsPressed_thenBothInstancesHaveSold_andAllEnds() throws Exception {
    TestPrerequisites.required(PostgresServer.installed(), "PostgreSQL");
    TestPrerequisites.required(RedisServer.bundled(), "Redis");
    start("", "redis");
    awaitInstances();
    assertThat(Files.readString(folder.resolve("called")))
        .contains("-pl examples/shop -am", "package")
        .doesNotContain("-Dboot");
    answer("POST", address("a") + "/orders?product=1");
    answer("POST", address("b") + "/orders?product=1");
    await()
        .atMost(BoundedWait.scaled(LIMIT))
        .untilAsserted(
            () -> assertThat(answer("GET", address("b") + "/summary")).contains("\"sold\":2"));
    assertThat(answer("GET", address("a") + "/actuator/locks")).contains("redis:", "summary");
    assertThat(answer("GET", address("a") + "/actuator/prometheus")).contains("mortise_acquire");
    process.getOutputStream().write('\n');
    process.getOutputStream().flush();
    assertThat(process.waitFor(BoundedWait.scaled(LIMIT).toSeconds(), TimeUnit.SECONDS)).isTrue();
    assertThat(process.exitValue()).as(said()).isZero();
    assertAllEnd();
  }

  @Test
  void givenNoWords_whenItIsTerminated_thenLocksWereInPostgres_andAllEnds() throws Exception {
    TestPrerequisites.required(PostgresServer.installed(), "PostgreSQL");
    start("");
    awaitInstances();
    assertThat(answer("GET", address("a") + "/actuator/locks")).contains("postgresql");
    process.destroy();
    assertThat(process.waitFor(BoundedWait.scaled(LIMIT).toSeconds(), TimeUnit.SECONDS)).isTrue();
    assertAllEnd();
  }

  @Test
  void givenAnotherLine_whenMavenFails_thenItWasAskedForThatLine_andNothingStarts()
      throws Exception {
    maven("exit 3");
    start("3.5", "redis");
    assertThat(process.waitFor(BoundedWait.scaled(LIMIT).toSeconds(), TimeUnit.SECONDS)).isTrue();
    assertThat(process.exitValue()).isEqualTo(3);
    assertThat(Files.readString(folder.resolve("called"))).contains("-Dboot=3.5");
    assertThat(said()).doesNotContain("Instance");
  }
}
