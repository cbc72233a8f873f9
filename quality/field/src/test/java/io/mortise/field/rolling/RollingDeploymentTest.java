package io.mortise.field.rolling;

import static org.assertj.core.api.Assertions.assertThat;

import io.mortise.field.rolling.RollingDeployment.Plan;
import io.mortise.field.rolling.RollingDeployment.Result;
import io.mortise.testkit.TestPrerequisites;
import io.mortise.testserver.EtcdServer;
import io.mortise.testserver.PostgresServer;
import io.mortise.testserver.RedisServer;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.Optional;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/**
 * The deployment for {@code -Dmortise.rolling=} minutes on {@code -Dmortise.rolling.store=}
 * postgresql, redis or etcd, with {@code -Dmortise.rolling.seed=}; upgrading from the checkout
 * {@code -Dmortise.rolling.before=} to this one. See {@code quality/field/roll}.
 */
@Tag("rolling")
@Timeout(7200)
class RollingDeploymentTest {
  private static final Duration TTL = Duration.ofSeconds(4);

  @TempDir private Path certificates;

  private LockServers servers(String store) throws IOException {
    return switch (store) {
      case "postgresql" -> new PostgresLocks(postgres(), certificates);
      case "redis" ->
          new RedisLocks(TestPrerequisites.required(RedisServer.installed(7), "Redis 7"));
      case "etcd" -> new EtcdLocks(etcd());
      default -> throw new IllegalArgumentException("There is no store '" + store + "'.");
    };
  }

  private static Path postgres() {
    return TestPrerequisites.required(PostgresServer.installed(), "PostgreSQL");
  }

  private static Path etcd() {
    return TestPrerequisites.required(EtcdServer.installed(), "etcd");
  }

  private static Result run(LockServers opened, boolean naive) throws Exception {
    long minutes = Long.getLong("mortise.rolling", 3);
    long seed = Long.getLong("mortise.rolling.seed", DeploymentFaultLog.now());
    Checkout now = new Checkout(Path.of("../..").toRealPath());
    Checkout before =
        Optional.ofNullable(System.getProperty("mortise.rolling.before"))
            .filter(path -> !path.isEmpty())
            .map(path -> new Checkout(Path.of(path)))
            .orElse(now);
    Path folder =
        Files.createDirectories(Path.of("target", "rolling-" + DeploymentFaultLog.now()))
            .toAbsolutePath();
    System.out.println("seed " + seed + ", logs and page in " + folder);
    try (LockServers servers = opened;
        ShopDatabase shopDatabase = new ShopDatabase(postgres(), now.schema())) {
      Plan plan = new Plan(Duration.ofMinutes(minutes), seed, TTL, before, now, naive);
      Result result =
          new RollingDeployment(
                  plan,
                  servers,
                  shopDatabase,
                  folder,
                  line ->
                      System.out.println(DeploymentFaultLog.now() / 1000 % 100_000 + " " + line))
              .run();
      System.out.println(result.summary());
      System.out.println("page: " + result.page());
      return result;
    }
  }

  @Test
  void givenRollsAndFaults_thenNothingIsViolated() throws Exception {
    LockServers servers = servers(System.getProperty("mortise.rolling.store", "postgresql"));
    assertThat(run(servers, false).violations()).isEmpty();
  }

  /** The naive shop lacks loss detection, notifications and fencing. */
  @Test
  void givenNaiveShop_thenTheJudgeFindsLostUpdates() throws Exception {
    Result result = run(servers("etcd"), true);
    assertThat(result.violations()).anyMatch(each -> each.text().contains("taken from the stock"));
  }
}
