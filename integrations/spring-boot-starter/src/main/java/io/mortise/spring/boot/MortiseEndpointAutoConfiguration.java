package io.mortise.spring.boot;

import io.mortise.LockClient;
import org.springframework.boot.actuate.autoconfigure.endpoint.condition.ConditionalOnAvailableEndpoint;
import org.springframework.boot.autoconfigure.AutoConfiguration;
import org.springframework.boot.autoconfigure.condition.ConditionalOnClass;
import org.springframework.boot.autoconfigure.condition.ConditionalOnSingleCandidate;
import org.springframework.context.annotation.Bean;

/** The actuator's {@code locks}, if it is exposed. */
@AutoConfiguration(after = MortiseAutoConfiguration.class)
@ConditionalOnClass(ConditionalOnAvailableEndpoint.class)
@ConditionalOnSingleCandidate(LockClient.class)
@ConditionalOnAvailableEndpoint(endpoint = LocksEndpoint.class)
final class MortiseEndpointAutoConfiguration {
  @Bean
  LocksEndpoint mortiseLocksEndpoint(LockClient locks) {
    return new LocksEndpoint(locks);
  }
}
