package io.mortise.spring.boot;

import static org.assertj.core.api.Assertions.assertThat;

import io.mortise.spring.boot.BootApp.Part;
import io.mortise.spring.boot.BootApp.Setup;
import java.io.IOException;
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
import java.time.Duration;
import java.util.Base64;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import org.springframework.boot.json.JsonParserFactory;

/** A browser's requests to the console in an application. */
abstract class ConsoleRequests {
  static final Duration LIMIT = Duration.ofSeconds(30);
  static final String NAME = "invoice/42 %;#?&+鎖";

  final HttpClient http = HttpClient.newBuilder().cookieHandler(new CookieManager()).build();
  final Map<String, String> headers = new TreeMap<>();

  /** Without Spring Security. */
  static Setup open(String store) {
    return BootApp.setup()
        .and(Part.WEB)
        .set("mortise.url=mem:" + store, "mortise.console.enabled=true");
  }

  static Setup secured(String store, String roles) {
    return open(store)
        .and(Part.SECURITY)
        .set(
            "spring.security.user.name=alice",
            "spring.security.user.password=secret",
            "spring.security.user.roles=" + roles);
  }

  void signIn() {
    headers.put(
        "Authorization",
        "Basic "
            + Base64.getEncoder().encodeToString("alice:secret".getBytes(StandardCharsets.UTF_8)));
  }

  HttpRequest.Builder request(BootApp app, String path) {
    HttpRequest.Builder request =
        HttpRequest.newBuilder(URI.create(app.address() + path)).timeout(LIMIT);
    headers.forEach(request::header);
    return request;
  }

  HttpResponse<String> get(BootApp app, String path) throws IOException, InterruptedException {
    return http.send(request(app, path).build(), BodyHandlers.ofString());
  }

  Map<String, Object> json(BootApp app, String path) throws IOException, InterruptedException {
    HttpResponse<String> response = get(app, path);
    assertThat(response.statusCode()).as(response.body()).isEqualTo(200);
    return JsonParserFactory.getJsonParser().parseMap(response.body());
  }

  HttpResponse<String> post(BootApp app, String path, String body)
      throws IOException, InterruptedException {
    return http.send(
        request(app, path)
            .header("Content-Type", "application/json")
            .POST(BodyPublishers.ofString(body))
            .build(),
        BodyHandlers.ofString());
  }

  static String evict() {
    return "/mortise/api/v1/lock/evict?name=" + URLEncoder.encode(NAME, StandardCharsets.UTF_8);
  }

  static String holder(BootApp app) {
    var holder = app.locks().admin().find(NAME).orElseThrow().holders().get(0);
    return "{\"attempt\":\""
        + holder.attempt()
        + "\",\"token\":\""
        + holder.token()
        + "\",\"how\":\"close\"}";
  }

  String text(BootApp app, String path) {
    try {
      return json(app, path).toString();
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
      throw new AssertionError("Interrupted while reading " + path, e);
    }
  }

  @SuppressWarnings("unchecked") // Each form is an object of texts.
  List<Map<String, String>> writeHeaders(BootApp app, String api)
      throws IOException, InterruptedException {
    return (List<Map<String, String>>) json(app, api + "write-headers").get("forms");
  }

  /** As the page does first. */
  void takeWriteHeaders(BootApp app) throws IOException, InterruptedException {
    headers.putAll(writeHeaders(app, "/mortise/api/v1/").get(0));
    headers.put("Origin", app.address());
  }
}
