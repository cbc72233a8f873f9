package io.mortise.redis.lettuce;

import static org.assertj.core.api.Assertions.assertThat;

import io.mortise.testkit.TestPrerequisites;
import io.mortise.testserver.RedisServer;
import io.mortise.verification.library.LibraryVersions;
import java.nio.file.Path;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/**
 * Locks with the versions of Lettuce that Spring Boot selects, each in a JVM of its own; the module
 * is compiled with a later one.
 */
class LettuceVersionsTest {
  @ParameterizedTest
  @CsvSource({"boot-3.5, 6.6.0, 4.1", "boot-4.0, 6.8.2, 4.2", "boot-4.1, 7.5.2, 4.2"})
  void givenLettuceOfSpringBoot_thenLocksAreTakenHandedOverAndReleased(
      String folder, String lettuce, String netty) throws Exception {
    Path versions = Path.of(System.getProperty("mortise.clients", "target"), folder);
    try (RedisServer server =
        RedisServer.start(TestPrerequisites.required(RedisServer.bundled(), "The Redis server"))) {
      assertThat(LibraryVersions.in(versions).run(LettuceSmokeMain.class, server.url()))
          .contains("lettuce=" + lettuce, "netty=" + netty + ".", LettuceSmokeMain.DONE);
    }
  }
}
