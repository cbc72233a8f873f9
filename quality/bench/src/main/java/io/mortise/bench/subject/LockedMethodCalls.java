package io.mortise.bench.subject;

import io.micrometer.core.instrument.MeterRegistry;
import io.micrometer.core.instrument.config.MeterFilter;
import io.micrometer.core.instrument.observation.DefaultMeterObservationHandler;
import io.micrometer.observation.ObservationRegistry;
import io.micrometer.prometheusmetrics.PrometheusConfig;
import io.micrometer.prometheusmetrics.PrometheusMeterRegistry;
import io.mortise.LockClient;
import io.mortise.event.LockListener;
import io.mortise.micrometer.LockMetrics;
import io.mortise.micrometer.LockObservations;
import io.mortise.spring.EnableMortise;
import io.mortise.spring.Locked;
import java.util.List;
import org.springframework.context.annotation.AnnotationConfigApplicationContext;
import org.springframework.context.annotation.Configuration;

/** Methods of a Spring bean with {@code @Locked}, in memory. */
final class LockedMethodCalls implements Subject {
  private final AnnotationConfigApplicationContext context =
      new AnnotationConfigApplicationContext();

  LockedMethodCalls(List<LockListener> listeners) {
    context.registerBean(
        LockClient.class,
        () -> {
          var builder = LockClient.builder().url("mem:");
          listeners.forEach(builder::listener);
          return builder.build();
        });
    context.register(BeanConfiguration.class);
    context.registerBean(GuardedBean.class);
    context.refresh();
  }

  /** Enables {@code @Locked}. */
  @Configuration(proxyBeanMethods = false)
  @EnableMortise
  static class BeanConfiguration {}

  static class GuardedBean {
    @Locked("#{#lock}")
    public long call(String lock, long argument) {
      return argument;
    }
  }

  /** The meters that an application with Prometheus has. */
  static LockListener meters() {
    return LockMetrics.of(new PrometheusMeterRegistry(PrometheusConfig.DEFAULT));
  }

  /** Meters, and observations that Spring Boot would turn into timers; without tracing. */
  static List<LockListener> metersAndObservations() {
    MeterRegistry meters = new PrometheusMeterRegistry(PrometheusConfig.DEFAULT);
    meters.config().meterFilter(MeterFilter.denyNameStartsWith("mortise.lock."));
    ObservationRegistry observations = ObservationRegistry.create();
    observations.observationConfig().observationHandler(new DefaultMeterObservationHandler(meters));
    return List.of(LockMetrics.of(meters), LockObservations.of(observations));
  }

  @Override
  public LockHandle lockHandle(String lock) {
    throw new UnsupportedOperationException("It has no locks, only methods under them.");
  }

  @Override
  public LockedCall call(String lock) {
    GuardedBean guarded = context.getBean(GuardedBean.class);
    return argument -> guarded.call(lock, argument);
  }

  @Override
  public void close() {
    context.close();
  }
}
