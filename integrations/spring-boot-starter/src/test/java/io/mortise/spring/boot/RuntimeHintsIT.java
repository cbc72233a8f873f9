package io.mortise.spring.boot;

import static org.assertj.core.api.Assertions.assertThat;

import io.mortise.LockClient;
import io.mortise.console.ConsoleServlet;
import io.mortise.guarantee.GuaranteeTable;
import io.mortise.jdbc.JdbcStore;
import io.mortise.redis.RedisStore;
import java.io.IOException;
import java.nio.file.FileSystem;
import java.nio.file.FileSystems;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.condition.EnabledIfSystemProperty;
import org.springframework.aot.hint.RuntimeHints;
import org.springframework.aot.hint.RuntimeHintsRegistrar;
import org.springframework.aot.hint.TypeReference;
import org.springframework.aot.hint.predicate.RuntimeHintsPredicates;
import org.springframework.core.io.support.SpringFactoriesLoader;

/** A native image has hints for every file and provider that the stores look up by name. */
@EnabledIfSystemProperty(named = "mortise.boot", matches = ".+")
class RuntimeHintsIT {
  private static final ClassLoader LOADER = RuntimeHintsIT.class.getClassLoader();

  private static RuntimeHints hints() {
    RuntimeHints hints = new RuntimeHints();
    List<RuntimeHintsRegistrar> registrars =
        SpringFactoriesLoader.forResourceLocation("META-INF/spring/aot.factories", LOADER)
            .load(RuntimeHintsRegistrar.class)
            .stream()
            .filter(each -> each.getClass().getPackage() == MortiseRuntimeHints.class.getPackage())
            .toList();
    assertThat(registrars).as("registrars of the starter").hasSize(1);
    registrars.get(0).registerHints(hints, LOADER);
    return hints;
  }

  /** Files in the artifact of a class: a jar, or a folder of compiled classes. */
  private static List<String> files(Class<?> type) throws Exception {
    Path location = Path.of(type.getProtectionDomain().getCodeSource().getLocation().toURI());
    if (Files.isDirectory(location)) {
      return files(location);
    }
    try (FileSystem jar = FileSystems.newFileSystem(location)) {
      return files(jar.getPath("/"));
    }
  }

  private static List<String> files(Path root) throws IOException {
    try (Stream<Path> walk = Files.walk(root)) {
      return walk.filter(Files::isRegularFile)
          .map(file -> root.relativize(file).toString().replace('\\', '/'))
          .toList();
    }
  }

  @Test
  void givenStores_whenHintsAreRegistered_thenEachOfTheirFilesIsInTheImage() throws Exception {
    RuntimeHints hints = hints();
    List<String> needed = new ArrayList<>();
    for (Class<?> each :
        List.of(GuaranteeTable.class, JdbcStore.class, RedisStore.class, ConsoleServlet.class)) {
      files(each).stream()
          .filter(file -> !file.endsWith(".class") && !file.startsWith("META-INF/maven/"))
          .filter(file -> !file.endsWith("MANIFEST.MF"))
          .forEach(needed::add);
    }
    assertThat(needed)
        .hasSizeGreaterThan(100)
        .anyMatch(file -> file.endsWith(".lua"))
        .anyMatch(file -> file.endsWith("schema.sql"))
        .anyMatch(file -> file.endsWith("history_insert.sql"))
        .anyMatch(file -> file.endsWith("guarantees.ini"))
        .allMatch(
            file -> RuntimeHintsPredicates.resource().forResource(file).test(hints),
            "is in the image");
    assertThat(RuntimeHintsPredicates.resource().forResource("shop/schema.sql").test(hints))
        .as("a file of the application")
        .isFalse();
  }

  @Test
  void givenProviders_whenHintsAreRegistered_thenTheyCanBeMade() {
    RuntimeHints hints = hints();
    for (String type :
        List.of(
            "io.mortise.jdbc.JdbcStoreProvider",
            "io.mortise.redis.RedisStoreProvider",
            "io.mortise.jdbc.driver.EagerSocketFactory",
            "io.mortise.jdbc.driver.ReplyTimeoutSocketFactory",
            "org.postgresql.PGConnection",
            "org.postgresql.PGNotification")) {
      assertThat(RuntimeHintsPredicates.reflection().onType(TypeReference.of(type)).test(hints))
          .as(type)
          .isTrue();
    }
    assertThat(RuntimeHintsPredicates.reflection().onType(LockClient.class).test(hints)).isFalse();
  }
}
