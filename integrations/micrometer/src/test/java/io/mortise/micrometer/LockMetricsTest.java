package io.mortise.micrometer;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.micrometer.core.instrument.Meter;
import io.micrometer.core.instrument.MeterRegistry;
import io.micrometer.core.instrument.MockClock;
import io.micrometer.core.instrument.TimeGauge;
import io.micrometer.core.instrument.Timer;
import io.micrometer.core.instrument.simple.SimpleConfig;
import io.micrometer.core.instrument.simple.SimpleMeterRegistry;
import io.mortise.FencingToken;
import io.mortise.Lease;
import io.mortise.LeaseLostException;
import io.mortise.LockClient;
import io.mortise.LockOptions;
import io.mortise.StaleTokenException;
import io.mortise.event.LeaseEnd;
import io.mortise.spi.LockStore;
import io.mortise.spi.StoreReport;
import io.mortise.spi.StoreUrl;
import io.mortise.support.liveness.ForwardingStore;
import io.mortise.testkit.BoundedWait;
import java.time.Duration;
import java.util.Arrays;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicReference;
import java.util.function.DoubleSupplier;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

class LockMetricsTest {
  private static final Duration BOUND = Duration.ofSeconds(20);
  private static final String STORE = "mem:meters";

  private final MeterRegistry registry = new SimpleMeterRegistry();
  private final LockMetrics metrics = LockMetrics.of(registry);
  private final LockClient locks =
      LockClient.builder().url(STORE).name("billing").listener(metrics).build();

  @AfterEach
  void close() {
    locks.close();
    registry.close();
  }

  private static void awaitValue(String what, double wanted, DoubleSupplier value) {
    BoundedWait.until(BOUND, what + " was " + wanted, () -> value.getAsDouble() == wanted);
  }

  private Timer acquire(String lock, String outcome) {
    return registry
        .get("mortise.acquire")
        .tags("lock", lock, "mode", "exclusive", "outcome", outcome, "store", STORE)
        .timer();
  }

  private double longTasks(String name) {
    return registry
        .get(name)
        .tags("lock", "invoice/*", "store", STORE)
        .longTaskTimer()
        .activeTasks();
  }

  @Test
  void givenHold_thenItIsTimed_andCountedWhileItLasts() throws Exception {
    Lease lease = locks.lock("invoice/42").acquire();
    assertThat(longTasks("mortise.holding")).isEqualTo(1);
    assertThat(longTasks("mortise.waiting")).isZero();
    lease.close();
    assertThat(longTasks("mortise.holding")).isZero();
    assertThat(acquire("invoice/*", "granted").count()).isEqualTo(1);
    assertThat(
            registry
                .get("mortise.hold")
                .tags("lock", "invoice/*", "mode", "exclusive", "end", "released")
                .timer()
                .count())
        .isEqualTo(1);
    assertThat(registry.get("mortise.lease.lost").tags("lock", "invoice/*").counters())
        .as("at zero before the first loss")
        .hasSize((int) Arrays.stream(LeaseEnd.values()).filter(LeaseEnd::isLoss).count())
        .allMatch(counter -> counter.count() == 0);
  }

  @Test
  void givenWaits_thenTheyAreCountedWhileTheyLast_andTimedByOutcome() throws Exception {
    Lease lease = locks.lock("invoice/42").acquire();
    CompletableFuture<Lease> waiting = locks.lock("invoice/42").acquireAsync();
    assertThat(longTasks("mortise.waiting")).isEqualTo(1);
    assertThat(locks.lock("invoice/42").tryAcquire()).isEmpty();
    assertThat(locks.lock("invoice/42").tryAcquire(Duration.ofMillis(20))).isEmpty();
    lease.close();
    waiting.get(BOUND.toSeconds(), TimeUnit.SECONDS).close();
    assertThat(longTasks("mortise.waiting")).isZero();
    assertThat(acquire("invoice/*", "granted").count()).isEqualTo(2);
    assertThat(acquire("invoice/*", "busy").count()).isEqualTo(1);
    assertThat(acquire("invoice/*", "timeout").count()).isEqualTo(1);
    assertThat(acquire("invoice/*", "timeout").totalTime(TimeUnit.MILLISECONDS))
        .isGreaterThanOrEqualTo(20);
  }

  @Test
  void givenLoss_thenItIsCountedByItsCause() throws Exception {
    Lease lease =
        locks.lock("job", LockOptions.DEFAULTS.withAtMost(Duration.ofMillis(50))).acquire();
    awaitValue(
        "the loss",
        1,
        () ->
            registry
                .get("mortise.lease.lost")
                .tags("lock", "job", "cause", "at-most")
                .counter()
                .count());
    assertThat(registry.get("mortise.hold").tags("lock", "job", "end", "at-most").timer().count())
        .isEqualTo(1);
    assertThatThrownBy(lease::close).isInstanceOf(LeaseLostException.class);
  }

  @Test
  void givenSession_thenItsValidityIsAGauge_untilItsClientIsClosed() throws Exception {
    locks.lock("invoice/42").acquire().close();
    BoundedWait.until(
        BOUND,
        "the session was told",
        () -> {
          // Both gauges are registered before they have values.
          TimeGauge ttl = registry.find("mortise.session.ttl").timeGauge();
          return ttl != null && ttl.value(TimeUnit.SECONDS) > 0;
        });
    double remaining =
        registry
            .get("mortise.session.remaining")
            .tags("store", STORE, "client", "billing")
            .timeGauge()
            .value(TimeUnit.SECONDS);
    assertThat(remaining).isBetween(1.0, 15.0);
    assertThat(registry.get("mortise.session.ttl").timeGauge().value(TimeUnit.SECONDS))
        .isEqualTo(15);
    BoundedWait.until(
        BOUND,
        "a renewal was told",
        () ->
            registry
                    .get("mortise.renewal")
                    .tags("outcome", "renewed", "store", STORE)
                    .timer()
                    .count()
                > 0);
    locks.close();
    BoundedWait.until(
        BOUND,
        "the gauges were removed",
        () -> registry.find("mortise.session.remaining").meters().isEmpty());
  }

  @Test
  void givenRefusedToken_thenItIsCounted() {
    FencingToken token = new FencingToken("invoice/42", 3, "holder");
    metrics.fenceRefused(new StaleTokenException("table 'invoice'", token, 4, "other"));
    metrics.fenceRefused(new StaleTokenException("table 'invoice'", token, 3, "other"));
    for (String twice : List.of("true", "false")) {
      assertThat(
              registry
                  .get("mortise.fence.refused")
                  .tags("lock", "invoice/*", "twice", twice)
                  .counter()
                  .count())
          .isEqualTo(1);
    }
  }

  @Test
  void givenThousandsOfNames_thenThereAreFewMeters() throws Exception {
    for (int i = 0; i < 2_000; i++) {
      locks.lock("order/" + i).acquire().close();
      locks.lock("user " + Integer.toString(i, 36).replaceAll("\\d", "x")).acquire().close();
    }
    List<String> values =
        registry.getMeters().stream()
            .map(Meter::getId)
            .filter(id -> id.getName().equals("mortise.acquire"))
            .map(id -> String.valueOf(id.getTag("lock")))
            .distinct()
            .toList();
    assertThat(values).hasSizeLessThanOrEqualTo(101).contains("order/*", "other");
    assertThat(longTasksInAll()).isZero();
  }

  private int longTasksInAll() {
    return registry.find("mortise.holding").longTaskTimers().stream()
        .mapToInt(timer -> timer.activeTasks())
        .sum();
  }

  @Test
  void givenTwoClientsWithOneListener_thenTheirCallsAreNotMistakenForEachOther() throws Exception {
    try (LockClient other = LockClient.builder().url("mem:meters-2").listener(metrics).build()) {
      Lease a = locks.lock("a").acquire();
      Lease b = other.lock("a").acquire();
      a.close();
      assertThat(longTasksInAll()).isEqualTo(1);
      b.close();
      assertThat(longTasksInAll()).isZero();
    }
  }

  @Test
  void givenRoomForNoTag_thenItIsRefused() {
    assertThatThrownBy(() -> LockMetrics.builder(registry).maxLockTags(0))
        .isInstanceOf(IllegalArgumentException.class);
  }

  /** A server's settings can change while a client runs. */
  @Test
  void givenExaminedStore_whenAMinutePasses_thenItsSettingsAreGradedAnew() {
    MockClock clock = new MockClock();
    MeterRegistry own = new SimpleMeterRegistry(SimpleConfig.DEFAULT, clock);
    AtomicReference<StoreReport> report =
        new AtomicReference<>(
            StoreReport.about("")
                .fine("fsync", "on", "safe")
                .fine("oldest snapshot", "3", "young")
                .build());
    AtomicInteger looks = new AtomicInteger();
    LockStore store =
        new ForwardingStore(LockStore.connect(StoreUrl.parse("mem:examined"))) {
          @Override
          public CompletionStage<StoreReport> examine() {
            looks.incrementAndGet();
            return CompletableFuture.completedFuture(report.get());
          }
        };
    LockMetrics.of(own).examine(store);
    assertThat(setting(own, "fsync")).isZero();
    assertThat(setting(own, "oldest snapshot")).isZero();

    report.set(
        StoreReport.about("")
            .weak("fsync", "off", "unsafe", "on", "power-loss")
            .note("oldest snapshot", "9000", "old", "end it")
            .build());
    assertThat(setting(own, "oldest snapshot")).isZero();
    assertThat(looks).hasValue(1);
    clock.add(Duration.ofMinutes(1));
    assertThat(setting(own, "oldest snapshot")).isEqualTo(1);
    assertThat(setting(own, "fsync")).isEqualTo(2);
    assertThat(looks).hasValue(2);
    store.close();
  }

  private static double setting(MeterRegistry registry, String id) {
    return registry
        .get("mortise.store.setting")
        .tags("store", "mem:examined", "setting", id)
        .gauge()
        .value();
  }
}
