package io.mortise.spring.boot;

import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStreamReader;
import java.io.UncheckedIOException;
import java.net.URL;
import java.nio.charset.StandardCharsets;
import java.util.Collections;
import java.util.List;
import org.jspecify.annotations.Nullable;
import org.springframework.aot.hint.MemberCategory;
import org.springframework.aot.hint.RuntimeHints;
import org.springframework.aot.hint.RuntimeHintsRegistrar;
import org.springframework.aot.hint.TypeReference;
import org.springframework.util.ClassUtils;

/**
 * The parts of Mortise that a native image must keep: scripts, statements and the console's page,
 * which are files, providers, which are found as services, and the driver methods that the
 * PostgreSQL store calls.
 */
final class MortiseRuntimeHints implements RuntimeHintsRegistrar {
  private static final List<String> FILES =
      List.of(
          "META-INF/mortise/*",
          "META-INF/mortise/*/*.sql",
          "META-INF/mortise/console/*",
          "META-INF/mortise/console/preact/*",
          "io/mortise/*/*.sql",
          "io/mortise/*/*/*.sql",
          "io/mortise/*/*/*/*.sql",
          "io/mortise/*/*.lua",
          "io/mortise/*/*/*.lua");
  private static final List<String> SERVICES =
      List.of(
          "io.mortise.LockClientBuilder",
          "io.mortise.spi.LockStoreProvider",
          "io.mortise.redis.transport.TransportProvider");

  @Override
  public void registerHints(RuntimeHints hints, @Nullable ClassLoader classLoader) {
    ClassLoader loader = classLoader == null ? ClassUtils.getDefaultClassLoader() : classLoader;
    FILES.forEach(hints.resources()::registerPattern);
    for (String service : SERVICES) {
      String file = "META-INF/services/" + service;
      hints.resources().registerPattern(file);
      for (String provider : providers(loader, file)) {
        hints
            .reflection()
            .registerType(TypeReference.of(provider), MemberCategory.INVOKE_PUBLIC_CONSTRUCTORS);
      }
    }
    for (String type : List.of("org.postgresql.PGConnection", "org.postgresql.PGNotification")) {
      hints.reflection().registerTypeIfPresent(loader, type, MemberCategory.INVOKE_PUBLIC_METHODS);
    }
    // Drivers create them by name.
    hints
        .reflection()
        .registerTypeIfPresent(
            loader,
            "io.mortise.jdbc.driver.EagerSocketFactory",
            MemberCategory.INVOKE_PUBLIC_CONSTRUCTORS)
        .registerTypeIfPresent(
            loader,
            "io.mortise.jdbc.driver.ReplyTimeoutSocketFactory",
            MemberCategory.INVOKE_PUBLIC_CONSTRUCTORS);
  }

  private static List<String> providers(@Nullable ClassLoader loader, String file) {
    if (loader == null) {
      return List.of();
    }
    try {
      return Collections.list(loader.getResources(file)).stream()
          .flatMap(url -> lines(url).stream())
          .map(line -> line.replaceFirst("#.*", "").strip())
          .filter(line -> !line.isEmpty())
          .distinct()
          .toList();
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }

  private static List<String> lines(URL url) {
    try (BufferedReader reader =
        new BufferedReader(new InputStreamReader(url.openStream(), StandardCharsets.UTF_8))) {
      return reader.lines().toList();
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }
}
