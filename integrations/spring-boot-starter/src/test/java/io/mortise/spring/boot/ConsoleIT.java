package io.mortise.spring.boot;

import static org.assertj.core.api.Assertions.assertThat;

import io.micrometer.core.instrument.MeterRegistry;
import io.micrometer.core.instrument.search.RequiredSearch;
import io.mortise.Lease;
import io.mortise.admin.LockQuery;
import io.mortise.spring.boot.BootApp.Setup;
import io.mortise.testkit.BoundedWait;
import java.io.BufferedReader;
import java.io.InputStream;
import java.io.InputStreamReader;
import java.net.URI;
import java.net.URLEncoder;
import java.net.http.HttpResponse;
import java.net.http.HttpResponse.BodyHandlers;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.time.Duration;
import java.util.Map;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.condition.EnabledIfSystemProperty;
import org.junit.jupiter.api.io.TempDir;
import org.springframework.boot.autoconfigure.AutoConfigurations;
import org.springframework.boot.context.properties.source.InvalidConfigurationPropertyValueException;
import org.springframework.boot.test.context.FilteredClassLoader;
import org.springframework.boot.test.context.runner.WebApplicationContextRunner;

/** The console in an application: its page, history and streams. */
@EnabledIfSystemProperty(named = "mortise.boot", matches = ".+")
class ConsoleIT extends ConsoleRequests {
  @Test
  void givenDefaults_thenNothingIsServed() throws Exception {
    try (BootApp app = open("boot-console-off").set("mortise.console.enabled=false").start()) {
      assertThat(get(app, "/mortise/").statusCode()).isEqualTo(404);
      assertThat(app.context().containsBean("mortiseConsole")).isFalse();
    }
  }

  @Test
  void givenArtifactIsMissing_whenEnabled_thenTheStartSaysSo() {
    WebApplicationContextRunner application =
        new WebApplicationContextRunner()
            .withConfiguration(
                AutoConfigurations.of(
                    MortiseAutoConfiguration.class, MortiseConsoleAutoConfiguration.class))
            .withPropertyValues("mortise.url=mem:boot-console-missing");
    ClassLoader without = new FilteredClassLoader("io.mortise.console");
    application
        .withClassLoader(without)
        .run(context -> assertThat(context.getStartupFailure()).isNull());
    application
        .withPropertyValues("mortise.console.enabled=true")
        .run(context -> assertThat(context.containsBean("mortiseConsole")).isTrue());
    application
        .withPropertyValues("mortise.console.enabled=true")
        .withClassLoader(without)
        .run(
            context ->
                assertThat(context.getStartupFailure())
                    .rootCause()
                    .hasMessageContaining("mortise.console.enabled")
                    .extracting(
                        each -> ((InvalidConfigurationPropertyValueException) each).getReason())
                    .asString()
                    .contains("mortise-console is not on the class path"));
  }

  @Test
  void givenUserWithTheRole_thenThePageIsServedReadOnly() throws Exception {
    try (BootApp app =
            secured("boot-console-read", "ADMIN")
                .set("server.servlet.context-path=/shop", "mortise.console.path=/ops/locks")
                .start();
        Lease held = app.locks().lock(NAME).tryAcquire().orElseThrow()) {
      assertThat(get(app, "/shop/ops/locks/api/v1/status").statusCode()).isEqualTo(401);
      signIn();
      HttpResponse<String> moved = get(app, "/shop/ops/locks");
      assertThat(moved.statusCode()).isEqualTo(308);
      assertThat(
              URI.create(app.address() + "/shop/ops/locks")
                  .resolve(moved.headers().firstValue("Location").orElseThrow())
                  .getPath())
          .isEqualTo("/shop/ops/locks/");
      HttpResponse<String> page = get(app, "/shop/ops/locks/");
      assertThat(page.body()).contains("<title>Mortise</title>");
      assertThat(page.headers().firstValue("Content-Security-Policy").orElse(""))
          .contains("default-src 'none'");
      for (String file : new String[] {"app.js", "preact/preact.module.js", "style.css"}) {
        assertThat(get(app, "/shop/ops/locks/" + file).statusCode()).as(file).isEqualTo(200);
      }
      String api = "/shop/ops/locks/api/v1/";
      assertThat(json(app, api + "status").get("allowed")).asString().isEqualTo("[]");
      assertThat(
              json(app, api + "lock?name=" + URLEncoder.encode(NAME, StandardCharsets.UTF_8))
                  .get("lock"))
          .asString()
          .contains(Long.toString(held.token()));
      headers.putAll(writeHeaders(app, api).get(0));
      headers.put("Origin", app.address());
      assertThat(
              post(app, "/shop/ops/locks" + evict().substring("/mortise".length()), holder(app))
                  .statusCode())
          .isEqualTo(404);
      assertThat(held.isValid()).isTrue();
    }
  }

  @Test
  void givenHistoryFile_whenApplicationStartsAnew_thenItsConsoleHasTheEvents_andCountsItsCost(
      @TempDir Path folder) throws Exception {
    signIn();
    Setup setup =
        secured("boot-console-history", "ADMIN")
            .set(
                "mortise.url=jdbc:sqlite:" + folder.resolve("locks.db"),
                "mortise.console.history-file=" + folder.resolve("history.db"));
    String granted = "/mortise/api/v1/events?kind=granted";
    try (BootApp app = setup.start()) {
      assertThat(json(app, "/mortise/api/v1/doctor"))
          .containsEntry("mode", "sqlite")
          .containsKey("findings");
      assertThat(json(app, "/mortise/api/v1/status")).containsEntry("mode", "sqlite");
      assertThat(app.locks().admin().list(LockQuery.all().withIdle().page(null, 10)).items())
          .as("of doctor")
          .isEmpty();
      assertThat(app.locks().admin().sessions(null, 10).items()).as("of doctor").isEmpty();
      BoundedWait.until(
          LIMIT,
          "the first survey",
          () -> meter(app, "mortise.console.survey").timeGauge().value(TimeUnit.NANOSECONDS) > 0);
      try (Lease held = app.locks().lock(NAME).tryAcquire().orElseThrow()) {
        BoundedWait.until(LIMIT, "the grant is seen", () -> text(app, granted).contains("invoice"));
        assertThat(held.isValid()).isTrue();
      }
      assertThat(meter(app, "mortise.console.look").functionTimer().count()).isPositive();
      assertThat(meter(app, "mortise.console.streams").gauge().value()).isZero();
    }
    try (BootApp app = setup.start()) {
      assertThat(text(app, granted)).contains("invoice");
    }
  }

  private static RequiredSearch meter(BootApp app, String name) {
    return app.bean(MeterRegistry.class).get(name);
  }

  @Test
  void givenHistoryFileThatCannotBe_thenTheStartSaysSo(@TempDir Path folder) {
    WebApplicationContextRunner application =
        new WebApplicationContextRunner()
            .withConfiguration(
                AutoConfigurations.of(
                    MortiseAutoConfiguration.class, MortiseConsoleAutoConfiguration.class))
            .withPropertyValues(
                "mortise.url=mem:boot-console-history-path", "mortise.console.enabled=true");
    Map<String, String> refused =
        Map.of(
            folder.resolve("missing/history.db").toString(), "its folder does not exist",
            folder.toString(), "it cannot be written");
    refused.forEach(
        (file, reason) ->
            application
                .withPropertyValues("mortise.console.history-file=" + file)
                .run(
                    context ->
                        assertThat(context.getStartupFailure())
                            .rootCause()
                            .hasMessageContaining("mortise.console.history-file")
                            .extracting(
                                each ->
                                    ((InvalidConfigurationPropertyValueException) each).getReason())
                            .asString()
                            .contains(reason)));
    application
        .withPropertyValues("mortise.console.history-file=" + folder.resolve("history.db"))
        .run(context -> assertThat(context.getStartupFailure()).isNull());
  }

  @Test
  void givenOpenStream_whenApplicationEnds_thenItDoesNotWaitForTheStream() throws Exception {
    BootApp app = secured("boot-console-shutdown", "ADMIN").set("server.shutdown=graceful").start();
    try {
      signIn();
      HttpResponse<InputStream> stream =
          http.send(request(app, "/mortise/api/v1/stream").build(), BodyHandlers.ofInputStream());
      assertThat(stream.statusCode()).isEqualTo(200);
      assertThat(stream.body().read()).isNotNegative();
      long began = System.nanoTime();
      app.close();
      assertThat(Duration.ofNanos(System.nanoTime() - began)).isLessThan(Duration.ofSeconds(15));
    } finally {
      app.close();
    }
  }

  @Test
  void givenStream_thenChangesArrive() throws Exception {
    try (BootApp app = secured("boot-console-stream", "ADMIN").start()) {
      signIn();
      HttpResponse<InputStream> stream =
          http.send(
              request(app, "/mortise/api/v1/stream?list=limit%3D10").build(),
              BodyHandlers.ofInputStream());
      try (BufferedReader lines =
              new BufferedReader(new InputStreamReader(stream.body(), StandardCharsets.UTF_8));
          Lease held = app.locks().lock(NAME).tryAcquire().orElseThrow()) {
        assertThat(held.isValid()).isTrue();
        assertThat(lines.lines().filter(line -> line.contains("invoice/42")).findFirst())
            .isPresent();
      }
    }
  }
}
