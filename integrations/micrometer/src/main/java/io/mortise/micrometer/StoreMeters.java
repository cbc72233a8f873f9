package io.mortise.micrometer;

import io.micrometer.core.instrument.Clock;
import io.micrometer.core.instrument.MeterRegistry;
import io.micrometer.core.instrument.MultiGauge;
import io.micrometer.core.instrument.Tags;
import io.mortise.spi.LockStore;
import io.mortise.spi.StoreReport;
import io.mortise.spi.StoreReport.Finding;
import io.mortise.spi.StoreReport.Grade;
import java.util.Map;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicLong;
import java.util.stream.Collectors;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Grades the settings of a store's server, as {@link LockStore#examine()} does. Reading a gauge has
 * them examined again, once a minute at most, and returns the last result. Thread-safe; only the
 * first examination blocks.
 */
@SuppressWarnings("EnumOrdinal") // The numbers in metrics.md; a test checks them.
final class StoreMeters {
  private static final Logger log = LoggerFactory.getLogger(StoreMeters.class);
  private static final long EVERY = TimeUnit.MINUTES.toNanos(1);

  private final LockStore store;
  private final Clock clock;
  private final MultiGauge gauges;
  private final AtomicLong askedAt;
  private volatile Map<String, Grade> grades = Map.of();

  StoreMeters(MeterRegistry registry, LockStore store) {
    this.store = store;
    this.clock = registry.config().clock();
    this.gauges =
        MultiGauge.builder("mortise.store.setting")
            .description("0 if the setting is fine, 1 to be noted, 2 weak, 3 unknown")
            .tags("store", store.profile().display())
            .register(registry);
    this.askedAt = new AtomicLong(clock.monotonicTime());
    told(StoreReport.of(store));
  }

  private void ask() {
    store
        .examine()
        .whenComplete(
            (report, failure) -> {
              if (report == null) {
                log.debug("The settings of store {} could not be read.", store, failure);
                grades = Map.of();
              } else {
                told(report);
              }
            });
  }

  private void told(StoreReport report) {
    grades =
        report.findings().stream()
            .collect(Collectors.toMap(Finding::id, Finding::grade, StoreMeters::worse));
    gauges.register(
        grades.keySet().stream()
            .map(id -> MultiGauge.Row.of(Tags.of("setting", id), () -> value(id)))
            .toList());
  }

  private static Grade worse(Grade one, Grade other) {
    return one.compareTo(other) > 0 ? one : other;
  }

  private double value(String setting) {
    long last = askedAt.get();
    long now = clock.monotonicTime();
    if (now - last >= EVERY && askedAt.compareAndSet(last, now)) {
      ask();
    }
    Grade grade = grades.get(setting);
    return grade == null ? Double.NaN : grade.ordinal();
  }
}
