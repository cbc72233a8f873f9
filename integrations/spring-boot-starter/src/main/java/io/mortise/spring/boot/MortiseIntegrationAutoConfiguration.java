package io.mortise.spring.boot;

import io.mortise.LockClient;
import io.mortise.spring.integration.MortiseDistributedLockRegistry;
import io.mortise.spring.integration.MortiseLockRegistry;
import org.springframework.boot.autoconfigure.AutoConfiguration;
import org.springframework.boot.autoconfigure.condition.ConditionalOnClass;
import org.springframework.boot.autoconfigure.condition.ConditionalOnMissingBean;
import org.springframework.boot.autoconfigure.condition.ConditionalOnMissingClass;
import org.springframework.boot.autoconfigure.condition.ConditionalOnSingleCandidate;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;
import org.springframework.integration.support.locks.LockRegistry;

/** A lock registry for Spring Integration, unless the application has one. */
@AutoConfiguration(after = MortiseAutoConfiguration.class)
@ConditionalOnClass({LockRegistry.class, MortiseLockRegistry.class})
@ConditionalOnSingleCandidate(LockClient.class)
@ConditionalOnMissingBean(LockRegistry.class)
final class MortiseIntegrationAutoConfiguration {
  private static final String SINCE_7 =
      "org.springframework.integration.support.locks.DistributedLock";

  /** Of Spring Integration 6. */
  @Configuration(proxyBeanMethods = false)
  @ConditionalOnMissingClass(SINCE_7)
  static class Integration6 {
    @Bean
    MortiseLockRegistry mortiseLockRegistry(LockClient locks) {
      return MortiseLockRegistry.over(locks);
    }
  }

  /** Of Spring Integration 7 and later. */
  @Configuration(proxyBeanMethods = false)
  @ConditionalOnClass(name = SINCE_7)
  static class Integration7 {
    @Bean
    MortiseDistributedLockRegistry mortiseLockRegistry(LockClient locks) {
      return MortiseDistributedLockRegistry.over(locks);
    }
  }
}
