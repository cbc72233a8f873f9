package io.mortise.support.http;

import static org.assertj.core.api.Assertions.assertThat;

import io.mortise.spi.time.Ticker;
import io.mortise.support.http.HttpServers.HttpRequest;
import java.net.InetAddress;
import java.net.URI;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.LockSupport;
import java.util.function.BooleanSupplier;
import org.jspecify.annotations.Nullable;

/** A client of scripted servers, and waits with a bound. */
final class HttpServersFixture {
  static final Duration LONG = Duration.ofMinutes(1);
  static final HttpRequest GET = new HttpRequest("GET", "/x", Map.of(), null);

  private HttpServersFixture() {}

  static HttpServers servers(Duration timeout, URI... servers) {
    return servers(timeout, null, servers);
  }

  static HttpServers servers(Duration timeout, @Nullable Path ca, URI... servers) {
    return new HttpServers(
        new HttpTarget("Tested", List.of(servers), timeout, ca, "tested:a"),
        1,
        "test",
        Ticker.SYSTEM,
        InetAddress::getAllByName,
        LONG);
  }

  static <T> T join(CompletionStage<T> stage) throws Exception {
    return stage.toCompletableFuture().get(20, TimeUnit.SECONDS);
  }

  static void await(BooleanSupplier condition) {
    for (int i = 0; i < 20_000 && !condition.getAsBoolean(); i++) {
      LockSupport.parkNanos(1_000_000);
    }
    assertThat(condition.getAsBoolean()).isTrue();
  }
}
