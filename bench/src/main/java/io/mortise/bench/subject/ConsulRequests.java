package io.mortise.bench.subject;

import io.mortise.bench.subject.Subjects.StoreKind;
import java.io.IOException;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpRequest.BodyPublishers;
import java.net.http.HttpResponse;
import java.net.http.HttpResponse.BodyHandlers;
import java.time.Duration;

/** Requests to Consul's HTTP API, by hand. */
final class ConsulRequests {
  private final HttpClient client =
      HttpClient.newBuilder().version(HttpClient.Version.HTTP_1_1).build();
  private final String base;

  ConsulRequests(StoreUrls storeUrls) {
    base = "http://" + storeUrls.address(StoreKind.CONSUL);
  }

  String put(String path, String body) throws IOException, InterruptedException {
    HttpRequest request =
        HttpRequest.newBuilder(URI.create(base + path)).PUT(BodyPublishers.ofString(body)).build();
    HttpResponse<String> answer = client.send(request, BodyHandlers.ofString());
    if (answer.statusCode() / 100 == 5) {
      throw new IOException("Consul: " + answer.body());
    }
    return answer.body();
  }

  HttpResponse<String> get(String path, Duration timeout) throws IOException, InterruptedException {
    HttpRequest request =
        HttpRequest.newBuilder(URI.create(base + path)).timeout(timeout).GET().build();
    return client.send(request, BodyHandlers.ofString());
  }
}
