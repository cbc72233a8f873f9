package io.mortise.spring.boot;

import io.mortise.LockClient;
import org.springframework.boot.actuate.autoconfigure.health.ConditionalOnEnabledHealthIndicator;
import org.springframework.boot.actuate.health.AbstractHealthIndicator;
import org.springframework.boot.actuate.health.Health;
import org.springframework.boot.autoconfigure.AutoConfiguration;
import org.springframework.boot.autoconfigure.condition.ConditionalOnClass;
import org.springframework.boot.autoconfigure.condition.ConditionalOnSingleCandidate;
import org.springframework.context.annotation.Bean;

/** The health {@code mortise} on Spring Boot 3. */
@AutoConfiguration(after = MortiseAutoConfiguration.class)
@ConditionalOnClass(ConditionalOnEnabledHealthIndicator.class)
@ConditionalOnSingleCandidate(LockClient.class)
@ConditionalOnEnabledHealthIndicator("mortise")
final class MortiseHealth3AutoConfiguration {
  @Bean
  Boot3HealthIndicator mortiseHealthIndicator(LockClient locks) {
    return new Boot3HealthIndicator(locks);
  }

  /** Down if the store does not answer. */
  static final class Boot3HealthIndicator extends AbstractHealthIndicator {
    private final LockClient locks;

    Boot3HealthIndicator(LockClient locks) {
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
