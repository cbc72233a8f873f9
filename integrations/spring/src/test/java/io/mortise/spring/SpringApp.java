package io.mortise.spring;

import io.mortise.Lease;
import io.mortise.LockClient;
import io.mortise.admin.Eviction;
import io.mortise.admin.LockInfo;
import io.mortise.admin.LockState;
import java.util.HashMap;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.atomic.AtomicInteger;
import org.springframework.context.annotation.AnnotationConfigApplicationContext;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;
import org.springframework.core.env.Environment;
import org.springframework.core.env.MapPropertySource;

/** A small application with locks in a store of its own, beside another client of that store. */
final class SpringApp implements AutoCloseable {
  private static final AtomicInteger NAMES = new AtomicInteger();

  private final AnnotationConfigApplicationContext context;
  private final LockClient other;

  private SpringApp(String url, Map<String, Object> properties, Class<?>... configurations) {
    this.other = LockClient.connect(url);
    this.context = new AnnotationConfigApplicationContext();
    Map<String, Object> all = new HashMap<>(properties);
    all.put("test.url", url);
    context.getEnvironment().getPropertySources().addFirst(new MapPropertySource("test", all));
    context.register(Locks.class);
    if (configurations.length > 0) {
      context.register(configurations);
    }
    try {
      context.refresh();
    } catch (RuntimeException e) {
      other.close();
      throw e;
    }
  }

  /** The client that each application has. */
  @Configuration(proxyBeanMethods = false)
  @EnableMortise
  static class Locks {
    @Bean
    static LockClient locks(Environment environment) {
      return LockClient.connect(environment.getRequiredProperty("test.url"));
    }
  }

  /** Reports a state in a word. */
  interface Probe {
    String state();

    /** Returns {@code " held"} while the lock is held, and nothing while it is free. */
    static Probe ofLock(LockClient locks, String name) {
      return () ->
          locks.admin().find(name).filter(info -> !info.holders().isEmpty()).isPresent()
              ? " held"
              : "";
    }
  }

  static String newUrl() {
    return "mem:spring-" + NAMES.incrementAndGet();
  }

  static SpringApp start(Class<?>... configurations) {
    return new SpringApp(newUrl(), Map.of(), configurations);
  }

  static SpringApp start(Map<String, Object> properties, Class<?>... configurations) {
    return new SpringApp(newUrl(), properties, configurations);
  }

  static SpringApp startOn(String url, Class<?>... configurations) {
    return new SpringApp(url, Map.of(), configurations);
  }

  <T> T bean(Class<T> type) {
    return context.getBean(type);
  }

  AnnotationConfigApplicationContext context() {
    return context;
  }

  /** A client outside of the application. */
  LockClient other() {
    return other;
  }

  boolean isHeld(String name) {
    return info(name).map(LockInfo::state).filter(LockState.HELD::equals).isPresent();
  }

  Optional<LockInfo> info(String name) {
    return other.admin().find(name);
  }

  /** Ends the hold of the lock's holder, which is notified. */
  void evict(String name) {
    String attempt = info(name).orElseThrow().holders().get(0).attempt();
    other.admin().evict(name, attempt, Eviction.BREAK);
  }

  /** Has the other client hold a lock until it is closed. */
  Lease hold(String name) {
    return other.lock(name).tryAcquire().orElseThrow();
  }

  @Override
  public void close() {
    context.close();
    other.close();
  }
}
