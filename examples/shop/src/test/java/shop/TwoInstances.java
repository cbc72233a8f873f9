package shop;

import io.mortise.testserver.PostgresServer;
import io.mortise.testserver.RedisServer;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.function.Supplier;

/** The main class of the script {@code run}. */
final class TwoInstances {
  private TwoInstances() {}

  public static void main(String[] arguments) throws Exception {
    List<String> words = Arrays.asList(arguments);
    boolean redisProfile = words.contains("redis");
    List<String> properties = new ArrayList<>();
    if (redisProfile) {
      properties.add("spring.profiles.active=redis");
    }
    if (!words.contains("--docker")) {
      // The servers end with this JVM.
      PostgresServer postgres =
          PostgresServer.start(PostgresServer.installed().orElseThrow(missing("PostgreSQL")));
      properties.addAll(database(postgres));
      if (redisProfile) {
        RedisServer redis =
            RedisServer.start(
                RedisServer.bundled()
                    .or(() -> RedisServer.installed(6))
                    .orElseThrow(missing("Redis")));
        properties.add("mortise.url=" + redis.url());
      }
    }
    Path folder = Files.createTempDirectory("mortise-shop");
    try (Instance a = Instance.start("a", folder, properties);
        Instance b = Instance.start("b", folder, properties)) {
      while (!a.isUp() || !b.isUp()) {
        Thread.sleep(200);
      }
      System.out.printf(
          """
          Instance a: %s, log %s/a.log
          Instance b: %s, log %s/b.log

            curl -X POST '%s/orders?product=1'
            curl %s/summary
            curl %s/actuator/locks
            curl -s %s/actuator/prometheus | grep mortise

          Enter ends them.
          """,
          a.address(),
          folder,
          b.address(),
          folder,
          a.address(),
          b.address(),
          a.address(),
          a.address());
      System.in.read();
    }
    System.exit(0);
  }

  static List<String> database(PostgresServer postgres) {
    return List.of(
        "spring.datasource.url=" + postgres.address(),
        "spring.datasource.username=" + PostgresServer.USER,
        "spring.datasource.password=" + PostgresServer.PASSWORD);
  }

  private static Supplier<IllegalStateException> missing(String server) {
    return () ->
        new IllegalStateException(
            server
                + " is not installed. Install its package, or start the servers of"
                + " docker-compose.yml and use './run --docker'.");
  }
}
