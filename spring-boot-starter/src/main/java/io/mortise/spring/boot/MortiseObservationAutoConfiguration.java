package io.mortise.spring.boot;

import io.micrometer.core.instrument.config.MeterFilter;
import io.micrometer.observation.ObservationRegistry;
import io.mortise.micrometer.LockObservations;
import org.springframework.boot.autoconfigure.AutoConfiguration;
import org.springframework.boot.autoconfigure.condition.ConditionalOnClass;
import org.springframework.boot.autoconfigure.condition.ConditionalOnMissingBean;
import org.springframework.boot.autoconfigure.condition.ConditionalOnProperty;
import org.springframework.boot.autoconfigure.condition.ConditionalOnSingleCandidate;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;

/** Observations of locks in the application's registry; a listener as every other one. */
@AutoConfiguration(
    afterName = {
      "org.springframework.boot.actuate.autoconfigure.observation.ObservationAutoConfiguration",
      "org.springframework.boot.micrometer.observation.autoconfigure.ObservationAutoConfiguration"
    })
@ConditionalOnClass(ObservationRegistry.class)
@ConditionalOnSingleCandidate(ObservationRegistry.class)
@ConditionalOnMissingBean(LockObservations.class)
@ConditionalOnProperty(name = "mortise.observations.enabled", matchIfMissing = true)
final class MortiseObservationAutoConfiguration {
  @Bean
  LockObservations mortiseLockObservations(ObservationRegistry registry) {
    return LockObservations.of(registry);
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
