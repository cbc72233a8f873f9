package io.mortise.spring.boot;

import io.micrometer.core.instrument.FunctionTimer;
import io.micrometer.core.instrument.Gauge;
import io.micrometer.core.instrument.MeterRegistry;
import io.micrometer.core.instrument.TimeGauge;
import io.micrometer.core.instrument.binder.MeterBinder;
import io.mortise.console.ConsoleServlet;
import java.util.concurrent.TimeUnit;
import java.util.function.Supplier;

/** The store's cost of the application's console. No tag has a lock's name. */
final class ConsoleMeters implements MeterBinder {
  private final Supplier<ConsoleServlet> console;

  ConsoleMeters(Supplier<ConsoleServlet> console) {
    this.console = console;
  }

  @Override
  public void bindTo(MeterRegistry registry) {
    ConsoleServlet servlet = console.get();
    FunctionTimer.builder(
            "mortise.console.look",
            servlet,
            each -> each.cost().looks(),
            each -> each.cost().storeTime().toNanos(),
            TimeUnit.NANOSECONDS)
        .description("Looks of the console at the store")
        .register(registry);
    TimeGauge.builder(
            "mortise.console.survey",
            servlet,
            TimeUnit.NANOSECONDS,
            each -> each.cost().lastSurvey().toNanos())
        .description("How long the console's last survey of all locks took")
        .register(registry);
    Gauge.builder("mortise.console.streams", servlet, each -> each.cost().streams())
        .description("Streams of open pages of the console")
        .register(registry);
  }
}
