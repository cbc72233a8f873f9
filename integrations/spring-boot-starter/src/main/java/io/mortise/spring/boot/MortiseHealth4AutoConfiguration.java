package io.mortise.spring.boot;

import io.mortise.LockClient;
import org.springframework.boot.autoconfigure.AutoConfiguration;
import org.springframework.boot.autoconfigure.condition.ConditionalOnClass;
import org.springframework.boot.autoconfigure.condition.ConditionalOnSingleCandidate;
import org.springframework.boot.health.autoconfigure.contributor.ConditionalOnEnabledHealthIndicator;
import org.springframework.boot.health.contributor.AbstractHealthIndicator;
import org.springframework.boot.health.contributor.Health;
import org.springframework.context.annotation.Bean;

/** The health {@code mortise} on Spring Boot 4. */
@AutoConfiguration(after = MortiseAutoConfiguration.class)
@ConditionalOnClass(ConditionalOnEnabledHealthIndicator.class)
@ConditionalOnSingleCandidate(LockClient.class)
@ConditionalOnEnabledHealthIndicator("mortise")
final class MortiseHealth4AutoConfiguration {
  @Bean
  Boot4HealthIndicator mortiseHealthIndicator(LockClient locks) {
    return new Boot4HealthIndicator(locks);
  }

  /** Down if the store does not answer. */
  static final class Boot4HealthIndicator extends AbstractHealthIndicator {
    private final LockClient locks;

    Boot4HealthIndicator(LockClient locks) {
      super("The store of the locks does not answer.");
      this.locks = locks;
    }

    @Override
    protected void doHealthCheck(Health.Builder builder) {
      // First, so that the store is named even if it does not answer.
      builder.withDetail("store", StoreHealth.display(locks));
      StoreHealth.check(locks);
      builder.up();
    }
  }
}
