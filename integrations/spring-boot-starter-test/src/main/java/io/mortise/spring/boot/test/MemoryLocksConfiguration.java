package io.mortise.spring.boot.test;

import io.mortise.spring.boot.MortiseConnectionDetails;
import java.util.UUID;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;
import org.springframework.context.annotation.Primary;

/** Redirects the locks of a context to a store in memory of its own. */
@Configuration(proxyBeanMethods = false)
class MemoryLocksConfiguration {
  @Bean
  @Primary
  MortiseConnectionDetails mortiseMemoryConnectionDetails() {
    String url = "mem:" + UUID.randomUUID();
    return () -> url;
  }
}
