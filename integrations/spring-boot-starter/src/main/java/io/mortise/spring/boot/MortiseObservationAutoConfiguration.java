package io.mortise.spring.boot;

import io.micrometer.core.instrument.config.MeterFilter;
import io.micrometer.observation.ObservationHandler;
import io.micrometer.observation.ObservationRegistry;
import io.mortise.micrometer.LockObservations;
import org.springframework.beans.factory.ObjectProvider;
import org.springframework.boot.autoconfigure.AutoConfiguration;
import org.springframework.boot.autoconfigure.condition.ConditionalOnClass;
import org.springframework.boot.autoconfigure.condition.ConditionalOnMissingBean;
import org.springframework.boot.autoconfigure.condition.ConditionalOnProperty;
import org.springframework.boot.autoconfigure.condition.ConditionalOnSingleCandidate;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;
import org.springframework.core.env.Environment;
import org.springframework.util.ClassUtils;

/** Observations of locks in the application's registry; an ordinary listener. */
@AutoConfiguration(
    afterName = {
      "org.springframework.boot.actuate.autoconfigure.observation.ObservationAutoConfiguration",
      "org.springframework.boot.micrometer.observation.autoconfigure.ObservationAutoConfiguration"
    })
@ConditionalOnClass(ObservationRegistry.class)
@ConditionalOnSingleCandidate(ObservationRegistry.class)
@ConditionalOnMissingBean(LockObservations.class)
@ConditionalOnProperty(name = MortiseObservationAutoConfiguration.ENABLED, matchIfMissing = true)
final class MortiseObservationAutoConfiguration {
  static final String ENABLED = "mortise.observations.enabled";
  private static final String MAKES_METERS =
      "io.micrometer.core.instrument.observation.MeterObservationHandler";

  /** It stays silent if observations would only become meters: these meters are denied below. */
  @Bean
  LockObservations mortiseLockObservations(
      ObservationRegistry registry,
      ObjectProvider<ObservationHandler<?>> handlers,
      Environment environment) {
    boolean isObserved =
        environment.getProperty(ENABLED, Boolean.class, false)
            || handlers.stream().anyMatch(handler -> !makesMeters(handler));
    return LockObservations.of(isObserved ? registry : ObservationRegistry.NOOP);
  }

  /** By name, as that class may be absent. */
  private static boolean makesMeters(ObservationHandler<?> handler) {
    return ClassUtils.getAllInterfacesAsSet(handler).stream()
        .anyMatch(type -> type.getName().equals(MAKES_METERS));
  }

  /** Spring Boot makes timers of all observations, and these locks have meters already. */
  @Configuration(proxyBeanMethods = false)
  @ConditionalOnClass(MeterFilter.class)
  static class Meters {
    @Bean
    MeterFilter mortiseObservationMeterFilter() {
      return MeterFilter.denyNameStartsWith("mortise.lock.");
    }
  }
}
