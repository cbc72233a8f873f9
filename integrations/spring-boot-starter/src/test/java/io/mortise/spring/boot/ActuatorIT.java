package io.mortise.spring.boot;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.micrometer.observation.Observation;
import io.micrometer.observation.ObservationHandler;
import io.micrometer.observation.ObservationRegistry;
import io.mortise.DistributedLock;
import io.mortise.Lease;
import io.mortise.LeaseLostException;
import io.mortise.LockOptions;
import io.mortise.spi.AttemptId;
import io.mortise.spring.boot.BootApp.Part;
import io.mortise.spring.boot.BootApp.Setup;
import io.mortise.testkit.TestPrerequisites;
import io.mortise.testserver.RedisServer;
import java.io.IOException;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpRequest.BodyPublishers;
import java.net.http.HttpResponse;
import java.net.http.HttpResponse.BodyHandlers;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CopyOnWriteArrayList;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.condition.EnabledIfSystemProperty;
import org.springframework.boot.json.JsonParserFactory;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;

/** The actuator over HTTP. */
@EnabledIfSystemProperty(named = "mortise.boot", matches = ".+")
class ActuatorIT {
  private static final Duration LIMIT = Duration.ofSeconds(30);

  private final HttpClient http = HttpClient.newHttpClient();

  private static Setup web(String url) {
    return BootApp.setup()
        .and(Part.WEB)
        .set(
            "mortise.url=" + url,
            "management.endpoints.web.exposure.include=*",
            "management.endpoint.health.show-details=always");
  }

  private HttpResponse<String> send(String method, BootApp app, String path)
      throws IOException, InterruptedException {
    return http.send(
        HttpRequest.newBuilder(URI.create(app.address() + path))
            .method(method, BodyPublishers.noBody())
            .header("Accept", "application/json")
            .timeout(LIMIT)
            .build(),
        BodyHandlers.ofString());
  }

  private Map<String, Object> get(BootApp app, String path)
      throws IOException, InterruptedException {
    HttpResponse<String> response = send("GET", app, path);
    assertThat(response.statusCode()).as(response.body()).isEqualTo(200);
    return JsonParserFactory.getJsonParser().parseMap(response.body());
  }

  @Test
  void givenDefaults_whenLocksAreRead_thenTheyAreShownAndCannotBeEvicted() throws Exception {
    try (BootApp app = web("mem:boot-actuator").start();
        Lease held = app.locks().lock("invoice/42").tryAcquire().orElseThrow();
        Lease other = app.locks().lock("report").tryAcquire().orElseThrow()) {
      Map<String, Object> all = get(app, "/actuator/locks");
      assertThat(all).containsEntry("store", app.locks().admin().store().display());
      assertThat(all.get("locks")).asString().contains("invoice/42").contains("report");
      assertThat(get(app, "/actuator/locks?prefix=inv").get("locks"))
          .asString()
          .contains("invoice/42")
          .doesNotContain("report");
      Map<String, Object> one = get(app, "/actuator/locks/invoice/42");
      assertThat(one).containsEntry("name", "invoice/42").containsEntry("state", "HELD");
      assertThat(one.get("holders")).asString().contains(Long.toString(held.token()));
      assertThat(send("GET", app, "/actuator/locks/never-used").statusCode()).isEqualTo(404);
      String attempt = app.locks().admin().find("report").orElseThrow().holders().get(0).attempt();
      assertThat(send("DELETE", app, "/actuator/locks/report?attempt=" + attempt).statusCode())
          .isEqualTo(405);
      assertThat(other.isValid()).isTrue();
    }
  }

  @Test
  void givenStickyLockThatIsIdle_whenItIsRead_thenItIsSaidForHowLongItIsKept() throws Exception {
    try (BootApp app = web("mem:boot-idle").start()) {
      DistributedLock sticky =
          app.locks().lock("partition/7").with(LockOptions.DEFAULTS.withSticky(LIMIT.dividedBy(3)));
      sticky.acquire().close();
      String path = "/actuator/locks/partition/7";
      assertThat(get(app, path).get("holders")).asString().contains("sticky=true", "idle=kept for");
      try (Lease held = sticky.acquire()) {
        assertThat(held.isValid()).isTrue();
        assertThat(get(app, path).get("holders"))
            .asString()
            .contains("sticky=true")
            .doesNotContain("idle");
      }
    }
  }

  @Test
  void givenUnrestrictedAccess_whenHolderIsEvicted_thenItsLeaseIsLost() throws Exception {
    try (BootApp app =
        web("mem:boot-evict").set("management.endpoint.locks.access=unrestricted").start()) {
      Lease held = app.locks().lock("invoice/42").tryAcquire().orElseThrow();
      String attempt =
          app.locks().admin().find("invoice/42").orElseThrow().holders().get(0).attempt();
      String path = "/actuator/locks/invoice/42";
      assertThat(send("DELETE", app, path).statusCode()).isEqualTo(400);
      HttpResponse<String> response = send("DELETE", app, path + "?how=break&attempt=" + attempt);
      assertThat(response.body()).contains("HOLD_ENDED");
      assertThat(app.locks().lock("invoice/42").tryAcquire()).isPresent();
      assertThat(send("DELETE", app, path + "?attempt=" + attempt).body()).contains("NOT_THERE");
      String shown = AttemptId.parse(attempt).toString();
      assertThat(send("DELETE", app, path + "?attempt=" + shown).body()).contains("NOT_THERE");
      assertThat(send("DELETE", app, path + "?attempt=x").statusCode()).isEqualTo(400);
      assertThatThrownBy(held::close).isInstanceOf(LeaseLostException.class);
    }
  }

  @Test
  void givenLocks_whenMetricsAreRead_thenAcquiresAreCounted() throws Exception {
    try (BootApp app = web("mem:boot-metrics").start()) {
      app.locks().lock("invoice/42").withLock(() -> {});
      Map<String, Object> meter = get(app, "/actuator/metrics/mortise.acquire?tag=outcome:granted");
      assertThat(meter.get("availableTags")).asString().contains("invoice/*");
      assertThat(meter.get("measurements")).asString().contains("COUNT").contains("1.0");
    }
    try (BootApp app = web("mem:boot-metrics").set("mortise.metrics.enabled=false").start()) {
      app.locks().lock("invoice/42").withLock(() -> {});
      assertThat(send("GET", app, "/actuator/metrics/mortise.acquire").statusCode()).isEqualTo(404);
    }
  }

  /** Keeps the names of ended observations. */
  private static final class Recorder implements ObservationHandler<Observation.Context> {
    private final List<String> ended = new CopyOnWriteArrayList<>();

    @Override
    public void onStop(Observation.Context context) {
      ended.add(context.getName());
    }

    @Override
    public boolean supportsContext(Observation.Context context) {
      return String.valueOf(context.getName()).startsWith("mortise.");
    }
  }

  /** Like tracing. */
  @Configuration(proxyBeanMethods = false)
  static class Observed {
    @Bean
    Recorder recorder() {
      return new Recorder();
    }
  }

  @Test
  void givenHandlerOfObservations_thenLocksAreObserved_andNoMetersAreMadeOfThatBesideOurs()
      throws Exception {
    Setup observed = web("mem:boot-observed").and(Observed.class);
    try (BootApp app = observed.start()) {
      app.locks().lock("invoice/42").withLock(() -> {});
      assertThat(app.bean(Recorder.class).ended)
          .containsExactly("mortise.lock.acquire", "mortise.lock.hold");
      assertThat(get(app, "/actuator/metrics").get("names"))
          .asString()
          .contains("mortise.acquire")
          .doesNotContain("mortise.lock");
    }
    try (BootApp app = observed.set("mortise.observations.enabled=false").start()) {
      app.locks().lock("invoice/42").withLock(() -> {});
      assertThat(app.bean(Recorder.class).ended).isEmpty();
    }
  }

  @Test
  void givenHandlersThatMakeMeters_thenLocksAreObservedOnlyIfThatIsAskedFor() throws Exception {
    Setup meters = web("mem:boot-unobserved");
    Recorder late = new Recorder();
    try (BootApp app = meters.start()) {
      app.bean(ObservationRegistry.class).observationConfig().observationHandler(late);
      app.locks().lock("invoice/42").withLock(() -> {});
      assertThat(late.ended).isEmpty();
    }
    try (BootApp app = meters.set("mortise.observations.enabled=true").start()) {
      app.bean(ObservationRegistry.class).observationConfig().observationHandler(late);
      app.locks().lock("invoice/42").withLock(() -> {});
      assertThat(late.ended).hasSize(2);
    }
  }

  @Test
  void givenRedis_whenItStops_thenHealthIsDownAndLivenessIsNot() throws Exception {
    try (RedisServer redis =
            RedisServer.start(TestPrerequisites.required(RedisServer.bundled(), "Redis"));
        BootApp app =
            web(redis.url() + "?timeout=5s")
                .set("management.endpoint.health.probes.enabled=true", "logging.level.root=off")
                .start()) {
      Map<String, Object> up = get(app, "/actuator/health/mortise");
      assertThat(up).containsEntry("status", "UP");
      assertThat(up.get("details")).asString().contains("redis:");
      redis.kill();
      HttpResponse<String> down = send("GET", app, "/actuator/health/mortise");
      assertThat(down.statusCode()).isEqualTo(503);
      assertThat(down.body()).contains("DOWN").contains("redis:");
      assertThat(send("GET", app, "/actuator/health").statusCode()).isEqualTo(503);
      assertThat(send("GET", app, "/actuator/health/liveness").statusCode()).isEqualTo(200);
      assertThat(send("GET", app, "/actuator/health/readiness").statusCode()).isEqualTo(200);
    }
  }

  @Test
  void givenHealthSwitchedOff_whenAsked_thenThereIsNone() throws Exception {
    try (BootApp app =
        web("mem:boot-health").set("management.health.mortise.enabled=false").start()) {
      assertThat(send("GET", app, "/actuator/health/mortise").statusCode()).isEqualTo(404);
      assertThat(send("GET", app, "/actuator/health").statusCode()).isEqualTo(200);
    }
  }
}
