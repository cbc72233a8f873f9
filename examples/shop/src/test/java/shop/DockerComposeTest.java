package shop;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.net.URI;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Properties;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.springframework.beans.factory.config.YamlPropertiesFactoryBean;
import org.springframework.core.io.ByteArrayResource;

/** The servers of {@code docker-compose.yml} are those that the profiles of the shop connect to. */
class DockerComposeTest {
  private static final Path RESOURCES = Path.of("src/main/resources");

  private static Properties flat(String yaml) {
    YamlPropertiesFactoryBean parser = new YamlPropertiesFactoryBean();
    parser.setResources(new ByteArrayResource(yaml.getBytes(StandardCharsets.UTF_8)));
    return parser.getObject();
  }

  private static Properties settings(String profile) throws IOException {
    return flat(Files.readString(RESOURCES.resolve("application" + profile + ".yaml")));
  }

  /** Returns the reasons why the shop would not work on these servers. */
  private static List<String> violations(String composeFile) throws IOException {
    Properties compose = flat(composeFile);
    List<String> found = new ArrayList<>();
    Properties shop = settings("");
    URI database =
        URI.create(shop.getProperty("spring.datasource.url").substring("jdbc:".length()));
    checkServer(compose, "postgres", 12, database, 5432, found);
    Map.of(
            "POSTGRES_DB", database.getPath().substring(1),
            "POSTGRES_USER", shop.getProperty("spring.datasource.username"),
            "POSTGRES_PASSWORD", shop.getProperty("spring.datasource.password"))
        .forEach((name, wanted) -> check(compose, "postgres.environment." + name, wanted, found));
    URI redis = URI.create(settings("-redis").getProperty("mortise.url"));
    checkServer(compose, "redis", 7, redis, 6379, found);
    String command = compose.getProperty("services.redis.command", "");
    for (String wanted : List.of("--appendonly yes", "--appendfsync always")) {
      if (!command.contains(wanted)) {
        found.add("redis forgets locks without " + wanted + ": " + command);
      }
    }
    return found;
  }

  private static void checkServer(
      Properties compose, String name, int oldest, URI client, int inside, List<String> found) {
    check(
        compose,
        name + ".ports[0]",
        client.getHost() + ":" + client.getPort() + ":" + inside,
        found);
    String image = compose.getProperty("services." + name + ".image", "");
    Matcher version = Pattern.compile(name + ":(\\d+)").matcher(image);
    if (!version.matches() || Integer.parseInt(version.group(1)) < oldest) {
      found.add("image of " + name + " is not " + oldest + " or newer: " + image);
    }
  }

  private static void check(Properties compose, String key, String wanted, List<String> found) {
    String value = compose.getProperty("services." + key);
    if (!wanted.equals(value)) {
      found.add(key + " is not " + wanted + ": " + value);
    }
  }

  @Test
  void givenComposeFile_whenChecked_thenItHasTheServersOfEachProfile() throws IOException {
    String file = Files.readString(Path.of("docker-compose.yml"));
    assertThat(violations(file)).isEmpty();
    assertThat(flat(file).stringPropertyNames())
        .allMatch(
            name -> name.startsWith("services.postgres.") || name.startsWith("services.redis."));
    try (Stream<Path> files = Files.list(RESOURCES)) {
      assertThat(files.map(each -> each.getFileName().toString()))
          .filteredOn(name -> name.startsWith("application"))
          .containsExactlyInAnyOrder("application.yaml", "application-redis.yaml");
    }
  }

  @Test
  void givenComposeFilesThatAreWrong_whenChecked_thenEachIsFound() throws IOException {
    String file = Files.readString(Path.of("docker-compose.yml"));
    Map<String, String> changes =
        Map.of(
            "postgres:17", "postgres:latest",
            "redis:8", "redis:6",
            "5432:5432", "5433:5432",
            "127.0.0.1:6379", "6379",
            "POSTGRES_DB: shop", "POSTGRES_DB: shops",
            "POSTGRES_USER: shop", "PGUSER: shop",
            "POSTGRES_PASSWORD: shop", "POSTGRES_PASSWORD: other",
            "appendonly yes", "appendonly no",
            "appendfsync always", "appendfsync everysec");
    changes.forEach(
        (right, wrong) -> {
          assertThat(file).contains(right);
          try {
            assertThat(violations(file.replace(right, wrong))).as(wrong).hasSize(1);
          } catch (IOException e) {
            throw new UncheckedIOException(e);
          }
        });
  }
}
