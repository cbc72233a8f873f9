package io.mortise.spring.boot;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.micrometer.core.instrument.MeterRegistry;
import io.micrometer.core.instrument.search.RequiredSearch;
import io.mortise.Lease;
import io.mortise.LeaseLostException;
import io.mortise.spring.boot.BootApp.Part;
import io.mortise.spring.boot.BootApp.Setup;
import io.mortise.testkit.BoundedWait;
import jakarta.servlet.http.HttpServletRequest;
import jakarta.servlet.http.HttpServletResponse;
import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStream;
import java.io.InputStreamReader;
import java.io.UncheckedIOException;
import java.net.CookieManager;
import java.net.URI;
import java.net.URLEncoder;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpRequest.BodyPublishers;
import java.net.http.HttpResponse;
import java.net.http.HttpResponse.BodyHandlers;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.time.Duration;
import java.util.Base64;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.concurrent.TimeUnit;
import java.util.function.Supplier;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.condition.EnabledIfSystemProperty;
import org.junit.jupiter.api.io.TempDir;
import org.springframework.boot.autoconfigure.AutoConfigurations;
import org.springframework.boot.context.properties.source.InvalidConfigurationPropertyValueException;
import org.springframework.boot.json.JsonParserFactory;
import org.springframework.boot.test.context.FilteredClassLoader;
import org.springframework.boot.test.context.runner.WebApplicationContextRunner;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;
import org.springframework.security.access.hierarchicalroles.RoleHierarchy;
import org.springframework.security.access.hierarchicalroles.RoleHierarchyImpl;
import org.springframework.security.config.Customizer;
import org.springframework.security.config.annotation.web.builders.HttpSecurity;
import org.springframework.security.config.annotation.web.configurers.CsrfConfigurer;
import org.springframework.security.web.SecurityFilterChain;
import org.springframework.security.web.csrf.CookieCsrfTokenRepository;
import org.springframework.security.web.csrf.CsrfToken;
import org.springframework.security.web.csrf.CsrfTokenRequestAttributeHandler;
import org.springframework.security.web.csrf.CsrfTokenRequestHandler;
import org.springframework.security.web.csrf.XorCsrfTokenRequestAttributeHandler;

/** The console in an application, behind the application's security or without any. */
@EnabledIfSystemProperty(named = "mortise.boot", matches = ".+")
class ConsoleIT {
  private static final Duration LIMIT = Duration.ofSeconds(30);
  private static final String NAME = "invoice/42 %;#?&+鎖";

  private final HttpClient http =
      HttpClient.newBuilder().cookieHandler(new CookieManager()).build();
  private final Map<String, String> headers = new TreeMap<>();

  /** Without Spring Security. */
  private static Setup open(String store) {
    return BootApp.setup()
        .and(Part.WEB)
        .set("mortise.url=mem:" + store, "mortise.console.enabled=true");
  }

  private static Setup secured(String store, String roles) {
    return open(store)
        .and(Part.SECURITY)
        .set(
            "spring.security.user.name=alice",
            "spring.security.user.password=secret",
            "spring.security.user.roles=" + roles);
  }

  private void signIn() {
    headers.put(
        "Authorization",
        "Basic "
            + Base64.getEncoder().encodeToString("alice:secret".getBytes(StandardCharsets.UTF_8)));
  }

  private HttpRequest.Builder request(BootApp app, String path) {
    HttpRequest.Builder request =
        HttpRequest.newBuilder(URI.create(app.address() + path)).timeout(LIMIT);
    headers.forEach(request::header);
    return request;
  }

  private HttpResponse<String> get(BootApp app, String path)
      throws IOException, InterruptedException {
    return http.send(request(app, path).build(), BodyHandlers.ofString());
  }

  private Map<String, Object> json(BootApp app, String path)
      throws IOException, InterruptedException {
    HttpResponse<String> response = get(app, path);
    assertThat(response.statusCode()).as(response.body()).isEqualTo(200);
    return JsonParserFactory.getJsonParser().parseMap(response.body());
  }

  private HttpResponse<String> post(BootApp app, String path, String body)
      throws IOException, InterruptedException {
    return http.send(
        request(app, path)
            .header("Content-Type", "application/json")
            .POST(BodyPublishers.ofString(body))
            .build(),
        BodyHandlers.ofString());
  }

  private static String evict(String what) {
    return "/mortise/api/v1/lock/"
        + what
        + "?name="
        + URLEncoder.encode(NAME, StandardCharsets.UTF_8);
  }

  private static String holder(BootApp app) {
    var holder = app.locks().admin().find(NAME).orElseThrow().holders().get(0);
    return "{\"attempt\":\""
        + holder.attempt()
        + "\",\"token\":\""
        + holder.token()
        + "\",\"how\":\"close\"}";
  }

  private String text(BootApp app, String path) {
    try {
      return json(app, path).toString();
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
      throw new AssertionError("Interrupted while waiting for the history.", e);
    }
  }

  @SuppressWarnings("unchecked") // Each form is an object of texts.
  private List<Map<String, String>> writeHeaders(BootApp app, String api)
      throws IOException, InterruptedException {
    return (List<Map<String, String>>) json(app, api + "write-headers").get("forms");
  }

  /** As the page does it first. */
  private void takeWriteHeaders(BootApp app) throws IOException, InterruptedException {
    headers.putAll(writeHeaders(app, "/mortise/api/v1/").get(0));
    headers.put("Origin", app.address());
  }

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
  void givenNoSecurity_thenNobodyGetsIn() throws Exception {
    try (BootApp app = open("boot-console-open").set("mortise.console.allow=close").start();
        Lease held = app.locks().lock(NAME).tryAcquire().orElseThrow()) {
      HttpResponse<String> refused = get(app, "/mortise/api/v1/status");
      assertThat(refused.statusCode()).isEqualTo(403);
      assertThat(refused.body()).contains("Nobody is signed in").doesNotContain("mem:");
      headers.put("Origin", app.address());
      assertThat(post(app, evict("evict"), holder(app)).statusCode()).isEqualTo(403);
      assertThat(held.isValid()).isTrue();
    }
  }

  @Test
  void givenAnonymousIsSet_thenEverybodyMayLook_andNobodyMayAct() throws Exception {
    try (BootApp app =
            open("boot-console-anonymous")
                .set("mortise.console.anonymous=true", "mortise.console.allow=close")
                .start();
        Lease held = app.locks().lock(NAME).tryAcquire().orElseThrow()) {
      assertThat(json(app, "/mortise/api/v1/status").get("allowed")).asString().isEqualTo("[]");
      headers.put("Origin", app.address());
      assertThat(post(app, evict("evict"), holder(app)).statusCode()).isEqualTo(404);
      assertThat(held.isValid()).isTrue();
    }
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
              post(
                      app,
                      "/shop/ops/locks" + evict("evict").substring("/mortise".length()),
                      holder(app))
                  .statusCode())
          .isEqualTo(404);
      assertThat(held.isValid()).isTrue();
    }
  }

  @Test
  void givenUserWithoutTheRole_thenIsRefused_andWithTheOtherRoleMayOnlyLook() throws Exception {
    signIn();
    try (BootApp app = secured("boot-console-role", "CUSTOMER").start()) {
      HttpResponse<String> refused = get(app, "/mortise/api/v1/status");
      assertThat(refused.statusCode()).isEqualTo(403);
      assertThat(refused.body()).contains("You may not use this console");
    }
    try (BootApp app =
        secured("boot-console-roles", "SUPPORT")
            .set(
                "mortise.console.role=**",
                "mortise.console.allow-role=OPS",
                "mortise.console.allow=close")
            .start()) {
      assertThat(json(app, "/mortise/api/v1/status").get("allowed")).asString().isEqualTo("[]");
    }
  }

  @Test
  void givenAllowed_whenAttackersWrite_thenNothingIsDone_andThePageMayEvict() throws Exception {
    try (BootApp app =
        secured("boot-console-evict", "ADMIN").set("mortise.console.allow=close").start()) {
      Lease held = app.locks().lock(NAME).tryAcquire().orElseThrow();
      signIn();
      assertThat(json(app, "/mortise/api/v1/status").get("allowed"))
          .asString()
          .isEqualTo("[close]");
      headers.put("Origin", app.address());
      String body = holder(app);
      assertThat(post(app, evict("evict"), body).statusCode())
          .as("without the CSRF token of the application")
          // Without HTML, Spring Security asks to sign in again.
          .isIn(401, 403);
      takeWriteHeaders(app);
      headers.remove("Origin");
      assertThat(post(app, evict("evict"), body).body()).contains("foreign-origin");
      headers.put("Origin", "https://evil.example");
      assertThat(post(app, evict("evict"), body).body()).contains("foreign-origin");
      headers.put("Origin", app.address());
      headers.put("Sec-Fetch-Site", "same-site");
      assertThat(post(app, evict("evict"), body).body()).contains("foreign-origin");
      headers.put("Sec-Fetch-Site", "same-origin");
      assertThat(
              http.send(
                      request(app, evict("evict"))
                          .header("Content-Type", "text/plain")
                          .POST(BodyPublishers.ofString(body))
                          .build(),
                      BodyHandlers.ofString())
                  .statusCode())
          .isEqualTo(415);
      assertThat(held.isValid()).isTrue();
      assertThat(post(app, evict("evict"), body).body()).contains("hold_ended");
      assertThatThrownBy(held::close).isInstanceOf(LeaseLostException.class);
      // What has become of the hold is told by the next look at it.
      BoundedWait.until(
          LIMIT,
          "the history names the user who has ended the hold",
          () ->
              text(app, "/mortise/api/v1/events?kind=evicted").contains("ended by operator alice"));
    }
  }

  /** Signs in by a password, and hands the CSRF token to scripts in a cookie. */
  @Configuration(proxyBeanMethods = false)
  static class SinglePage {
    @Bean
    SecurityFilterChain chain(HttpSecurity http) throws Exception {
      return http.authorizeHttpRequests(each -> each.anyRequest().authenticated())
          .httpBasic(Customizer.withDefaults())
          .csrf(SinglePage::spa)
          .build();
    }

    @Bean
    static RoleHierarchy roles() {
      return RoleHierarchyImpl.fromHierarchy("ROLE_ADMIN > ROLE_OPS");
    }

    /** {@code csrf.spa()}, or what Spring Security before 7 tells people to write instead. */
    private static void spa(CsrfConfigurer<HttpSecurity> csrf) {
      try {
        CsrfConfigurer.class.getMethod("spa").invoke(csrf);
      } catch (NoSuchMethodException e) {
        csrf.csrfTokenRepository(CookieCsrfTokenRepository.withHttpOnlyFalse())
            .csrfTokenRequestHandler(new PlainInHeaders());
      } catch (ReflectiveOperationException e) {
        throw new IllegalStateException(e);
      }
    }
  }

  private static final class PlainInHeaders implements CsrfTokenRequestHandler {
    private final CsrfTokenRequestHandler plain = new CsrfTokenRequestAttributeHandler();
    private final CsrfTokenRequestHandler masked = new XorCsrfTokenRequestAttributeHandler();

    @Override
    public void handle(
        HttpServletRequest request, HttpServletResponse response, Supplier<CsrfToken> token) {
      masked.handle(request, response, token);
      CsrfToken unused = token.get();
    }

    @Override
    public String resolveCsrfTokenValue(HttpServletRequest request, CsrfToken token) {
      return (request.getHeader(token.getHeaderName()) == null ? masked : plain)
          .resolveCsrfTokenValue(request, token);
    }
  }

  @Test
  void givenSinglePageApplication_whenItsUserEvicts_thenTheSecondFormOfTheTokenIsTaken()
      throws Exception {
    try (BootApp app =
        secured("boot-console-spa", "ADMIN")
            .and(SinglePage.class)
            .set("mortise.console.role=OPS", "mortise.console.allow=close")
            .start()) {
      Lease held = app.locks().lock(NAME).tryAcquire().orElseThrow();
      signIn();
      List<Map<String, String>> forms = writeHeaders(app, "/mortise/api/v1/");
      assertThat(forms).hasSize(2);
      headers.put("Origin", app.address());
      String body = holder(app);
      headers.putAll(forms.get(0));
      HttpResponse<String> refused = post(app, evict("evict"), body);
      assertThat(refused.statusCode()).as("by the application").isIn(401, 403);
      assertThat(refused.body()).doesNotContain("foreign-origin", "hold_ended");
      assertThat(held.isValid()).isTrue();
      headers.putAll(forms.get(1));
      assertThat(post(app, evict("evict"), body).body()).contains("hold_ended");
      assertThatThrownBy(held::close).isInstanceOf(LeaseLostException.class);
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
      assertThat(app.locks().admin().listAll("", null, 10).locks()).as("of doctor").isEmpty();
      assertThat(app.locks().admin().sessions(null, 10).sessions()).as("of doctor").isEmpty();
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
