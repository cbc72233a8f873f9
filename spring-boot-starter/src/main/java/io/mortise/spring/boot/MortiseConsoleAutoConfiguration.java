package io.mortise.spring.boot;

import io.mortise.LockClient;
import io.mortise.console.Console;
import io.mortise.console.ConsoleAccess;
import io.mortise.console.ConsoleAction;
import io.mortise.console.ConsoleBuilder;
import io.mortise.console.ConsoleServlet;
import jakarta.servlet.http.HttpServletRequest;
import java.util.Map;
import java.util.stream.Collectors;
import org.springframework.beans.factory.annotation.Qualifier;
import org.springframework.boot.autoconfigure.AutoConfiguration;
import org.springframework.boot.autoconfigure.condition.ConditionalOnClass;
import org.springframework.boot.autoconfigure.condition.ConditionalOnMissingClass;
import org.springframework.boot.autoconfigure.condition.ConditionalOnProperty;
import org.springframework.boot.autoconfigure.condition.ConditionalOnSingleCandidate;
import org.springframework.boot.autoconfigure.condition.ConditionalOnWebApplication;
import org.springframework.boot.context.properties.source.InvalidConfigurationPropertyValueException;
import org.springframework.boot.web.servlet.ServletRegistrationBean;
import org.springframework.context.ApplicationContext;
import org.springframework.context.ApplicationListener;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;
import org.springframework.context.event.ContextClosedEvent;
import org.springframework.security.web.csrf.CsrfToken;
import org.springframework.util.ClassUtils;

/**
 * The console as a servlet of the application, if the application wants it: for users with a role,
 * and read-only unless the properties allow more. It begins to look at the first request that may.
 */
@AutoConfiguration(after = MortiseAutoConfiguration.class)
@ConditionalOnProperty(name = MortiseConsoleAutoConfiguration.ENABLED)
final class MortiseConsoleAutoConfiguration {
  static final String ENABLED = "mortise.console.enabled";

  private static InvalidConfigurationPropertyValueException refused(String reason) {
    return new InvalidConfigurationPropertyValueException(ENABLED, true, reason);
  }

  /** Where it can be served. */
  @Configuration(proxyBeanMethods = false)
  @ConditionalOnClass({ConsoleServlet.class, HttpServletRequest.class})
  @ConditionalOnWebApplication(type = ConditionalOnWebApplication.Type.SERVLET)
  @ConditionalOnSingleCandidate(LockClient.class)
  static class Served {
    @Bean
    ServletRegistrationBean<ConsoleServlet> mortiseConsole(
        LockClient locks, MortiseProperties properties) {
      MortiseProperties.Console settings = properties.console();
      ConsoleBuilder builder =
          Console.builder(locks)
              .budget(settings.budget())
              .allow(
                  settings.allow().stream()
                      .map(action -> ConsoleAction.valueOf(action.name()))
                      .collect(Collectors.toSet()));
      String namespace = properties.namespace();
      if (namespace != null) {
        builder.namespace(namespace);
      }
      ConsoleServlet servlet =
          new ConsoleServlet(builder, request -> access(request, settings), Served::writeHeaders);
      ServletRegistrationBean<ConsoleServlet> registration =
          new ServletRegistrationBean<>(servlet, settings.path() + "/*");
      registration.setName("mortiseConsole");
      return registration;
    }

    /** The web server waits for streams at a shutdown: they end before it does. */
    @Bean
    ApplicationListener<ContextClosedEvent> mortiseConsoleStreams(
        @Qualifier("mortiseConsole") ServletRegistrationBean<ConsoleServlet> registration,
        ApplicationContext application) {
      return event -> {
        if (event.getApplicationContext() == application) {
          registration.getServlet().closeStreams();
        }
      };
    }

    private static ConsoleAccess access(
        HttpServletRequest request, MortiseProperties.Console settings) {
      if (!has(request, settings.role())) {
        return settings.anonymous() ? ConsoleAccess.LOOK : ConsoleAccess.NONE;
      }
      String allowRole = settings.allowRole();
      return allowRole == null || has(request, allowRole) ? ConsoleAccess.ACT : ConsoleAccess.LOOK;
    }

    private static boolean has(HttpServletRequest request, String role) {
      return request.getUserPrincipal() != null
          && (role.equals(MortiseProperties.Console.EVERY_USER) || request.isUserInRole(role));
    }

    private static Map<String, String> writeHeaders(HttpServletRequest request) {
      return ClassUtils.isPresent(
              "org.springframework.security.web.csrf.CsrfToken", Served.class.getClassLoader())
          ? Csrf.headers(request)
          : Map.of();
    }

    /** Loaded only if Spring Security is there. */
    private static final class Csrf {
      private Csrf() {}

      static Map<String, String> headers(HttpServletRequest request) {
        return request.getAttribute(CsrfToken.class.getName()) instanceof CsrfToken token
            ? Map.of(token.getHeaderName(), token.getToken())
            : Map.of();
      }
    }
  }

  /** Says what is missing, instead of serving nothing. */
  @Configuration(proxyBeanMethods = false)
  @ConditionalOnMissingClass("io.mortise.console.ConsoleServlet")
  static class WithoutArtifact {
    WithoutArtifact() {
      throw refused("mortise-console is not on the class path. Add the artifact.");
    }
  }

  /** The same. */
  @Configuration(proxyBeanMethods = false)
  @ConditionalOnWebApplication(type = ConditionalOnWebApplication.Type.REACTIVE)
  static class WithoutServlets {
    WithoutServlets() {
      throw refused(
          "the console is a servlet, and this web application has none. Run mortise console"
              + " instead.");
    }
  }
}
