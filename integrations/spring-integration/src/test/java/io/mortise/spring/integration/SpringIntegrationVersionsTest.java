package io.mortise.spring.integration;

import static org.assertj.core.api.Assertions.assertThat;

import io.mortise.verification.library.LibraryVersions;
import java.nio.file.Path;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/**
 * A registry as a bean of Spring Integration's other lines, each in a JVM of its own; the module is
 * compiled with one of the lines between.
 */
class SpringIntegrationVersionsTest {
  @ParameterizedTest
  @CsvSource({"boot-3.5, 6.5.10, 6.2.19", "boot-4.1, 7.1.2, 7.0.10"})
  void givenSpringIntegrationOfSpringBoot_thenTheRegistryIsABeanOfIt(
      String folder, String integration, String spring) throws Exception {
    Path versions = Path.of(System.getProperty("mortise.versions", "target"), folder);
    assertThat(LibraryVersions.in(versions).run(RegistrySmokeMain.class))
        .contains(
            "spring-integration-core-" + integration + ".jar",
            "spring=" + spring,
            RegistrySmokeMain.DONE);
  }
}
