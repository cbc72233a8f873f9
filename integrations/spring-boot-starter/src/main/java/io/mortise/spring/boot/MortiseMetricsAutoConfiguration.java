package io.mortise.spring.boot;

import io.micrometer.core.instrument.MeterRegistry;
import io.mortise.micrometer.LockMetrics;
import org.springframework.boot.autoconfigure.AutoConfiguration;
import org.springframework.boot.autoconfigure.condition.ConditionalOnClass;
import org.springframework.boot.autoconfigure.condition.ConditionalOnMissingBean;
import org.springframework.boot.autoconfigure.condition.ConditionalOnProperty;
import org.springframework.boot.autoconfigure.condition.ConditionalOnSingleCandidate;
import org.springframework.context.annotation.Bean;

/** Meters of locks in the application's registry; an ordinary listener. */
@AutoConfiguration(
    afterName = {
      "org.springframework.boot.actuate.autoconfigure.metrics.CompositeMeterRegistryAutoConfiguration",
      "org.springframework.boot.micrometer.metrics.autoconfigure.CompositeMeterRegistryAutoConfiguration"
    })
@ConditionalOnClass(MeterRegistry.class)
@ConditionalOnSingleCandidate(MeterRegistry.class)
@ConditionalOnProperty(name = "mortise.metrics.enabled", matchIfMissing = true)
final class MortiseMetricsAutoConfiguration {
  @Bean
  @ConditionalOnMissingBean
  LockMetrics mortiseLockMetrics(MeterRegistry registry) {
    return LockMetrics.of(registry);
  }
}
