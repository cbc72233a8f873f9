package io.mortise.spring.boot.test;

import static org.assertj.core.api.Assertions.assertThat;

import io.mortise.Lease;
import io.mortise.LockClient;
import io.mortise.spring.LockContext;
import io.mortise.spring.Locked;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.condition.EnabledIfSystemProperty;
import org.springframework.beans.factory.annotation.Autowired;
import org.springframework.boot.autoconfigure.EnableAutoConfiguration;
import org.springframework.boot.test.context.SpringBootTest;
import org.springframework.boot.test.context.SpringBootTest.WebEnvironment;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;
import org.springframework.test.context.TestContextManager;

/** Test classes as in an application, prepared like Spring's extensions of test engines do. */
@EnabledIfSystemProperty(named = "mortise.boot", matches = ".+")
class MemoryLocksIT {
  static class Service {
    @Locked("invoice/#{#id}")
    public long pay(long id) {
      return LockContext.current().token();
    }
  }

  @Configuration(proxyBeanMethods = false)
  @EnableAutoConfiguration(
      excludeName = {
        "org.springframework.boot.autoconfigure.jdbc.DataSourceAutoConfiguration",
        "org.springframework.boot.jdbc.autoconfigure.DataSourceAutoConfiguration"
      })
  static class App {
    @Bean
    Service service() {
      return new Service();
    }
  }

  /** As a slice: without the auto-configurations of the application. */
  @Configuration(proxyBeanMethods = false)
  static class Slice {
    @Bean
    Service service() {
      return new Service();
    }
  }

  @SpringBootTest(
      classes = App.class,
      webEnvironment = WebEnvironment.NONE,
      properties = "mortise.url=redis://127.0.0.1:1")
  @MemoryLocks
  static class OfApplication {
    @Autowired private LockClient locks;
    @Autowired private Service service;
  }

  @SpringBootTest(classes = Slice.class, webEnvironment = WebEnvironment.NONE)
  @MemoryLocks
  static class OfSlice {
    @Autowired private Service service;
  }

  @Test
  void givenAnnotation_whenTestsRun_thenLocksAreInMemoryAndApartByContext() throws Exception {
    OfApplication first = new OfApplication();
    OfSlice second = new OfSlice();
    TestContextManager application = new TestContextManager(OfApplication.class);
    TestContextManager slice = new TestContextManager(OfSlice.class);
    try {
      application.prepareTestInstance(first);
      slice.prepareTestInstance(second);
      assertThat(first.locks.admin().store().display()).startsWith("mem:");
      assertThat(first.service.pay(1)).as("it is locked").isPositive();
      try (Lease held = first.locks.lock("invoice/2").tryAcquire().orElseThrow()) {
        assertThat(held.isValid()).isTrue();
        assertThat(second.service.pay(2)).as("another store").isPositive();
      }
    } finally {
      application.getTestContext().markApplicationContextDirty(null);
      slice.getTestContext().markApplicationContextDirty(null);
    }
  }
}
