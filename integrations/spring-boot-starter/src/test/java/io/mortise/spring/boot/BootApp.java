package io.mortise.spring.boot;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.mortise.LockClient;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Collections;
import java.util.EnumSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;
import org.springframework.boot.SpringApplication;
import org.springframework.boot.autoconfigure.EnableAutoConfiguration;
import org.springframework.boot.diagnostics.FailureAnalysis;
import org.springframework.context.ConfigurableApplicationContext;
import org.springframework.context.annotation.Configuration;

/**
 * An application with all that Spring Boot configures by itself, except parts that a test leaves
 * out.
 */
final class BootApp implements AutoCloseable {
  /** Parts of an application besides locks. */
  enum Part {
    /** A {@code DataSource}. */
    DATABASE,
    /** A {@code LettuceConnectionFactory}. */
    REDIS,
    /** A web server, with the actuator. */
    WEB,
    /** Users who sign in. */
    SECURITY;

    /** The auto-configurations that provide it, on all lines. */
    List<String> autoConfigurations() {
      return switch (this) {
        case DATABASE ->
            List.of(
                "org.springframework.boot.autoconfigure.jdbc.DataSourceAutoConfiguration",
                "org.springframework.boot.jdbc.autoconfigure.DataSourceAutoConfiguration");
        case REDIS ->
            List.of(
                "org.springframework.boot.autoconfigure.data.redis.RedisAutoConfiguration",
                "org.springframework.boot.data.redis.autoconfigure.DataRedisAutoConfiguration");
        case WEB -> List.of();
        case SECURITY ->
            List.of(
                "org.springframework.boot.autoconfigure.security.servlet.SecurityAutoConfiguration",
                "org.springframework.boot.autoconfigure.security.servlet.SecurityFilterAutoConfiguration",
                "org.springframework.boot.autoconfigure.security.servlet.UserDetailsServiceAutoConfiguration",
                "org.springframework.boot.actuate.autoconfigure.security.servlet.ManagementWebSecurityAutoConfiguration",
                "org.springframework.boot.security.autoconfigure.SecurityAutoConfiguration",
                "org.springframework.boot.security.autoconfigure.UserDetailsServiceAutoConfiguration",
                "org.springframework.boot.security.autoconfigure.web.servlet.ServletWebSecurityAutoConfiguration",
                "org.springframework.boot.security.autoconfigure.web.servlet.SecurityFilterAutoConfiguration",
                "org.springframework.boot.security.autoconfigure.actuate.web.servlet.ManagementWebSecurityAutoConfiguration");
      };
    }
  }

  /** The part that every application has. */
  @Configuration(proxyBeanMethods = false)
  @EnableAutoConfiguration
  static class Main {}

  private final ConfigurableApplicationContext context;

  private BootApp(ConfigurableApplicationContext context) {
    this.context = context;
  }

  /** Settings, for several starts. Immutable. */
  record Setup(Set<Part> parts, List<Class<?>> configurations, Map<String, String> properties) {
    Setup and(Part part) {
      Set<Part> more = EnumSet.of(part);
      more.addAll(parts);
      return new Setup(Collections.unmodifiableSet(more), configurations, properties);
    }

    Setup and(Class<?>... added) {
      List<Class<?>> more = new ArrayList<>(configurations);
      more.addAll(Arrays.asList(added));
      return new Setup(parts, List.copyOf(more), properties);
    }

    /** Each as {@code name=value}; a later one replaces an earlier one. */
    Setup set(String... added) {
      Map<String, String> more = new TreeMap<>(properties);
      for (String each : added) {
        int equals = each.indexOf('=');
        more.put(each.substring(0, equals), each.substring(equals + 1));
      }
      return new Setup(parts, configurations, Collections.unmodifiableMap(more));
    }

    BootApp start() {
      List<String> arguments = new ArrayList<>();
      arguments.add("--spring.main.banner-mode=off");
      arguments.add("--spring.autoconfigure.exclude=" + String.join(",", excluded()));
      if (parts.contains(Part.WEB)) {
        arguments.add("--server.port=0");
      } else {
        arguments.add("--spring.main.web-application-type=none");
      }
      properties.forEach((name, value) -> arguments.add("--" + name + "=" + value));
      return new BootApp(
          SpringApplication.run(
              configurations.toArray(Class<?>[]::new), arguments.toArray(String[]::new)));
    }

    private List<String> excluded() {
      return Arrays.stream(Part.values())
          .filter(part -> !parts.contains(part))
          .flatMap(part -> part.autoConfigurations().stream())
          .filter(Setup::isPresent)
          .toList();
    }

    private static boolean isPresent(String type) {
      return BootApp.class.getClassLoader().getResource(type.replace('.', '/') + ".class") != null;
    }

    /** Spring Boot's analysis of the start, which must fail. */
    FailureAnalysis failure() {
      FailureAnalysis before = RecordingFailureReporter.take();
      assertThat(before).as("failure that no test asked for").isNull();
      assertThatThrownBy(set("logging.level.root=off")::start).isInstanceOf(Exception.class);
      FailureAnalysis analysis = RecordingFailureReporter.take();
      assertThat(analysis).as("analysis").isNotNull();
      return analysis;
    }
  }

  /** An application with only locks, and no store yet. */
  static Setup setup() {
    return new Setup(Set.of(), List.of(Main.class), Map.of("logging.level.root", "error"));
  }

  ConfigurableApplicationContext context() {
    return context;
  }

  LockClient locks() {
    return context.getBean(LockClient.class);
  }

  <T> T bean(Class<T> type) {
    return context.getBean(type);
  }

  String address() {
    return "http://127.0.0.1:" + context.getEnvironment().getProperty("local.server.port");
  }

  @Override
  public void close() {
    context.close();
  }
}
