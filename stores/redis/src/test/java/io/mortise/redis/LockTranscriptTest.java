package io.mortise.redis;

import static org.assertj.core.api.Assertions.assertThat;

import io.mortise.testserver.RedisServer;
import java.io.IOException;
import java.io.InputStream;
import java.io.UncheckedIOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Objects;
import java.util.stream.Stream;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

/**
 * The effects of {@code lock.lua} in many cases, some of which hardly occur by chance. To add a
 * case to {@code lock_transcript.txt}, write its commands, generate the rest with {@code
 * -Dmortise.transcript.update=true}, and check the result by eye.
 */
class LockTranscriptTest {
  private static final String FILE = "lock_transcript.txt";
  private static final boolean UPDATE = Boolean.getBoolean("mortise.transcript.update");
  private static final Path SOURCE = Path.of("src/test/resources/io/mortise/redis", FILE);
  private static final String TITLE = "== ";

  private static RedisServer server;
  private static ForeignClient client;
  private static LockTranscript transcript;

  /** A title and the lines below it. */
  private record Case(String title, String text) {
    @Override
    public String toString() {
      return title;
    }
  }

  @BeforeAll
  static void start() throws IOException {
    server = RedisServers.any();
    client = new ForeignClient(server.port());
    transcript = new LockTranscript(client, resource("lock.lua"));
    if (UPDATE) {
      StringBuilder all = new StringBuilder();
      cases().forEach(one -> all.append(TITLE).append(one.title).append('\n').append(run(one)));
      Files.writeString(SOURCE, all);
    }
  }

  @AfterAll
  static void stop() {
    client.close();
    server.close();
  }

  private static String resource(String name) {
    try (InputStream in = LockTranscriptTest.class.getResourceAsStream(name)) {
      return new String(Objects.requireNonNull(in).readAllBytes(), StandardCharsets.UTF_8);
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }

  private static Stream<Case> cases() {
    String all = UPDATE ? source() : resource(FILE);
    return Stream.of(all.split("(?m)^" + TITLE, -1))
        .filter(one -> !one.isEmpty())
        .map(one -> one.split("\n", 2))
        .map(parts -> new Case(parts[0], parts[1]));
  }

  private static String source() {
    try {
      return Files.readString(SOURCE);
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }

  private static String run(Case one) {
    return transcript.run(one.text.lines().toList()) + "\n";
  }

  @ParameterizedTest
  @MethodSource("cases")
  void givenCommands_thenAnswersNewsAndKeysAreAsWritten(Case one) {
    assertThat(run(one).lines()).containsExactlyElementsOf(one.text.lines().toList());
  }
}
