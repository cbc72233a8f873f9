package io.mortise.spring.boot;

import io.mortise.LockClient;
import io.mortise.shedlock.MortiseLockProvider;
import net.javacrumbs.shedlock.core.LockProvider;
import org.springframework.boot.autoconfigure.AutoConfiguration;
import org.springframework.boot.autoconfigure.condition.ConditionalOnClass;
import org.springframework.boot.autoconfigure.condition.ConditionalOnMissingBean;
import org.springframework.boot.autoconfigure.condition.ConditionalOnSingleCandidate;
import org.springframework.context.annotation.Bean;

/** A lock provider for ShedLock, unless the application has one. */
@AutoConfiguration(after = MortiseAutoConfiguration.class)
@ConditionalOnClass({LockProvider.class, MortiseLockProvider.class})
@ConditionalOnSingleCandidate(LockClient.class)
final class MortiseShedLockAutoConfiguration {
  @Bean
  @ConditionalOnMissingBean(LockProvider.class)
  MortiseLockProvider mortiseLockProvider(LockClient locks) {
    return MortiseLockProvider.over(locks);
  }
}
