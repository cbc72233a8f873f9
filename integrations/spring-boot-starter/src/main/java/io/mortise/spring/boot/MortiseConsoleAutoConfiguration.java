package io.mortise.spring.boot;

import io.micrometer.core.instrument.MeterRegistry;
import io.micrometer.core.instrument.binder.MeterBinder;
import io.mortise.LockClient;
import io.mortise.console.Console;
import io.mortise.console.ConsoleAccess;
import io.mortise.console.ConsoleAction;
import io.mortise.console.ConsoleBuilder;
import io.mortise.console.ConsoleServlet;
import jakarta.servlet.http.HttpServletRequest;
import java.nio.file.Files;
import java.nio.file.InvalidPathException;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.function.BiPredicate;
import java.util.stream.Collectors;
import org.springframework.beans.factory.ObjectProvider;
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
import org.springframework.security.web.csrf.DeferredCsrfToken;
import org.springframework.util.ClassUtils;

/**
 * The console as a servlet of the application, if the application enables it: for users with a
 * role, and read-only unless the properties allow more. It begins to inspect at the first permitted
 * request.
 */
@AutoConfiguration(after = MortiseAutoConfiguration.class)
@ConditionalOnProperty(name = MortiseConsoleAutoConfiguration.ENABLED)
final class MortiseConsoleAutoConfiguration {
  static final String ENABLED = "mortise.console.enabled";

  private static final String HISTORY_FILE = "mortise.console.history-file";

  private static InvalidConfigurationPropertyValueException refused(String reason) {
    return new InvalidConfigurationPropertyValueException(ENABLED, true, reason);
  }

  /** If it can be served. */
  @Configuration(proxyBeanMethods = false)
  @ConditionalOnClass({ConsoleServlet.class, HttpServletRequest.class})
  @ConditionalOnWebApplication(type = ConditionalOnWebApplication.Type.SERVLET)
  @ConditionalOnSingleCandidate(LockClient.class)
  static class Served {
    @Bean
    ServletRegistrationBean<ConsoleServlet> mortiseConsole(
        LockClient locks,
        MortiseProperties properties,
        ObjectProvider<LockClientOpener> openers,
        ApplicationContext application) {
      MortiseProperties.ConsoleProperties settings = properties.console();
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
      // A client of the application's own does not reveal its store.
      openers.ifAvailable(opener -> builder.diagnostics(opener::examine));
      String history = settings.historyFile();
      if (history != null) {
        builder.history(historyFile(history));
      }
      BiPredicate<HttpServletRequest, String> implied =
          isPresent("org.springframework.security.config.core.GrantedAuthorityDefaults")
              ? new ConsoleRoles(application)::has
              : (request, role) -> false;
      ConsoleServlet servlet =
          new ConsoleServlet(
              builder, request -> access(request, settings, implied), Served::writeHeaders);
      ServletRegistrationBean<ConsoleServlet> registration =
          new ServletRegistrationBean<>(servlet, settings.path() + "/*");
      registration.setName("mortiseConsole");
      return registration;
    }

    /** The web server waits for streams at a shutdown: they end first. */
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

    private static Path historyFile(String name) {
      Path file;
      try {
        file = Path.of(name);
      } catch (InvalidPathException e) {
        throw refusedHistory(name, "it is no path of a file.");
      }
      Path folder = file.toAbsolutePath().getParent();
      if (folder == null || !Files.isDirectory(folder)) {
        throw refusedHistory(name, "its folder does not exist. Make it, or name another file.");
      }
      if (!Files.isWritable(folder)
          || (Files.exists(file) && !(Files.isRegularFile(file) && Files.isWritable(file)))) {
        throw refusedHistory(name, "it cannot be written. Name another file.");
      }
      if (!isPresent("org.sqlite.JDBC")) {
        throw refusedHistory(name, "it needs the driver of SQLite. Add org.xerial:sqlite-jdbc.");
      }
      return file;
    }

    private static InvalidConfigurationPropertyValueException refusedHistory(
        String name, String reason) {
      return new InvalidConfigurationPropertyValueException(HISTORY_FILE, name, reason);
    }

    private static boolean isPresent(String type) {
      return ClassUtils.isPresent(type, Served.class.getClassLoader());
    }

    private static ConsoleAccess access(
        HttpServletRequest request,
        MortiseProperties.ConsoleProperties settings,
        BiPredicate<HttpServletRequest, String> implied) {
      if (!has(request, settings.role(), implied)) {
        return settings.anonymous() ? ConsoleAccess.LOOK : ConsoleAccess.NONE;
      }
      String allowRole = settings.allowRole();
      return allowRole == null || has(request, allowRole, implied)
          ? ConsoleAccess.ACT
          : ConsoleAccess.LOOK;
    }

    private static boolean has(
        HttpServletRequest request, String role, BiPredicate<HttpServletRequest, String> implied) {
      return request.getUserPrincipal() != null
          && (role.equals(MortiseProperties.ConsoleProperties.EVERY_USER)
              || request.isUserInRole(role)
              || implied.test(request, role));
    }

    private static List<Map<String, String>> writeHeaders(HttpServletRequest request) {
      return isPresent("org.springframework.security.web.csrf.CsrfToken")
          ? Csrf.headers(request)
          : List.of();
    }

    /** Its cost, if there are meters. */
    @Configuration(proxyBeanMethods = false)
    @ConditionalOnClass(MeterRegistry.class)
    @ConditionalOnProperty(name = "mortise.metrics.enabled", matchIfMissing = true)
    static class Metered {
      @Bean
      MeterBinder mortiseConsoleMeters(
          @Qualifier("mortiseConsole")
              ObjectProvider<ServletRegistrationBean<ConsoleServlet>> registration) {
        return new ConsoleMeters(() -> registration.getObject().getServlet());
      }
    }

    /** Loaded only with Spring Security. */
    private static final class Csrf {
      private Csrf() {}

      /**
       * The token as the application hands it out, masked by default; and as its repository has it,
       * which handlers for single-page applications expect in headers.
       */
      static List<Map<String, String>> headers(HttpServletRequest request) {
        List<Map<String, String>> forms = new ArrayList<>();
        if (request.getAttribute(CsrfToken.class.getName()) instanceof CsrfToken token) {
          forms.add(Map.of(token.getHeaderName(), token.getToken()));
        }
        if (request.getAttribute(DeferredCsrfToken.class.getName())
            instanceof DeferredCsrfToken deferred) {
          CsrfToken token = deferred.get();
          forms.add(Map.of(token.getHeaderName(), token.getToken()));
        }
        return forms.stream().distinct().toList();
      }
    }
  }

  /** Reports the missing part, instead of serving nothing. */
  @Configuration(proxyBeanMethods = false)
  @ConditionalOnMissingClass("io.mortise.console.ConsoleServlet")
  static class WithoutArtifact {
    WithoutArtifact() {
      throw refused("mortise-console is not on the class path. Add the artifact.");
    }
  }

  /** Reports the missing part. */
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
