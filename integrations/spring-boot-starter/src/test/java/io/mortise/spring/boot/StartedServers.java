package io.mortise.spring.boot;

import io.mortise.spring.boot.BootApp.Part;
import io.mortise.spring.boot.BootApp.Setup;
import io.mortise.testkit.TestPrerequisites;
import io.mortise.testserver.PostgresServer;
import io.mortise.testserver.RedisServer;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;

/** PostgreSQL and Redis while the tests of a class run, and applications that use them. */
abstract class StartedServers {
  static PostgresServer postgres;
  static RedisServer redis;

  @BeforeAll
  static void start() {
    postgres =
        PostgresServer.start(TestPrerequisites.required(PostgresServer.installed(), "PostgreSQL"));
    redis = RedisServer.start(TestPrerequisites.required(RedisServer.bundled(), "Redis"));
  }

  @AfterAll
  static void stop() {
    if (redis != null) {
      redis.close();
    }
    if (postgres != null) {
      postgres.close();
    }
  }

  static Setup database() {
    return BootApp.setup().and(Part.DATABASE).set("spring.datasource.url=" + postgres.url());
  }

  static Setup redis() {
    return BootApp.setup().and(Part.REDIS).set(redisProperties());
  }

  static String[] redisProperties() {
    return new String[] {
      "spring.data.redis.host=127.0.0.1", "spring.data.redis.port=" + redis.port()
    };
  }
}
