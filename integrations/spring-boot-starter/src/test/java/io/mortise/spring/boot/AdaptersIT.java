package io.mortise.spring.boot;

import static org.assertj.core.api.Assertions.assertThat;

import io.mortise.LockClient;
import java.time.Duration;
import java.util.Optional;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.locks.Lock;
import net.javacrumbs.shedlock.core.ClockProvider;
import net.javacrumbs.shedlock.core.LockConfiguration;
import net.javacrumbs.shedlock.core.LockProvider;
import net.javacrumbs.shedlock.core.SimpleLock;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.condition.EnabledIfSystemProperty;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;
import org.springframework.integration.support.locks.DefaultLockRegistry;
import org.springframework.integration.support.locks.LockRegistry;
import org.springframework.util.ClassUtils;

/** Beans for Spring Integration and ShedLock, and connection details. */
@EnabledIfSystemProperty(named = "mortise.boot", matches = ".+")
class AdaptersIT {
  private static final AtomicInteger NAMES = new AtomicInteger();

  private final String url = "mem:boot-adapters-" + NAMES.incrementAndGet();

  @Configuration(proxyBeanMethods = false)
  static class OwnAdapters {
    @Bean
    DefaultLockRegistry own() {
      return new DefaultLockRegistry();
    }

    @Bean
    LockProvider ownProvider() {
      return configuration -> Optional.empty();
    }
  }

  @Configuration(proxyBeanMethods = false)
  static class Details {
    @Bean
    MortiseConnectionDetails details() {
      return () -> "mem:boot-details";
    }
  }

  @Test
  void givenSpringIntegration_whenStarted_thenItsRegistryLocksInTheStore() {
    try (BootApp app = BootApp.setup().set("mortise.url=" + url).start();
        LockClient other = LockClient.connect(url)) {
      LockRegistry<?> registry = app.bean(LockRegistry.class);
      boolean seven =
          ClassUtils.isPresent(
              "org.springframework.integration.support.locks.DistributedLock",
              getClass().getClassLoader());
      assertThat(registry.getClass().getSimpleName())
          .isEqualTo(seven ? "MortiseDistributedLockRegistry" : "MortiseLockRegistry");
      Lock lock = registry.obtain("a");
      lock.lock();
      try {
        assertThat(other.lock("a").tryAcquire()).isEmpty();
      } finally {
        lock.unlock();
      }
      other.lock("a").tryAcquire().orElseThrow().close();
    }
  }

  @Test
  void givenShedLock_whenStarted_thenItsProviderLocksInTheStore() {
    try (BootApp app = BootApp.setup().set("mortise.url=" + url).start();
        LockClient other = LockClient.connect(url)) {
      SimpleLock lock =
          app.bean(LockProvider.class)
              .lock(
                  new LockConfiguration(
                      ClockProvider.now(), "report", Duration.ofMinutes(1), Duration.ZERO))
              .orElseThrow();
      assertThat(other.lock("report").tryAcquire()).isEmpty();
      lock.unlock();
      other.lock("report").tryAcquire().orElseThrow().close();
    }
  }

  @Test
  void givenAdaptersOfTheUser_whenStarted_thenThereAreNoOthers() {
    try (BootApp app = BootApp.setup().and(OwnAdapters.class).set("mortise.url=" + url).start()) {
      assertThat(app.context().getBeansOfType(LockRegistry.class)).containsOnlyKeys("own");
      assertThat(app.context().getBeansOfType(LockProvider.class)).containsOnlyKeys("ownProvider");
    }
  }

  @Test
  void givenConnectionDetails_whenStarted_thenTheyStandBeforeTheUrl() {
    try (BootApp app = BootApp.setup().and(Details.class).set("mortise.url=" + url).start();
        LockClient details = LockClient.connect("mem:boot-details")) {
      assertThat(app.locks().lock("a").tryAcquire()).isPresent();
      assertThat(details.lock("a").tryAcquire()).isEmpty();
    }
  }
}
