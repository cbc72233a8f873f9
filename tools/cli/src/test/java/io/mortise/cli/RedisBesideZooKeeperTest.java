package io.mortise.cli;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.mortise.Lease;
import io.mortise.LockClient;
import io.mortise.testkit.TestPrerequisites;
import io.mortise.testserver.RedisServer;
import io.mortise.testserver.ZooKeeperServer;
import java.time.Duration;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** The stores in Redis and ZooKeeper on one class path, which is that of the tool. */
@Tag("extended")
class RedisBesideZooKeeperTest {
  @ParameterizedTest
  @ValueSource(strings = {"io.lettuce.core.RedisClient", "reactor.core.publisher.Mono"})
  void givenToolsClassPath_thenItHasNoRedisClientLibrary(String type) {
    assertThatThrownBy(() -> Class.forName(type)).isInstanceOf(ClassNotFoundException.class);
  }

  @Test
  void givenOneProcess_whenItUsesBoth_thenLocksAreTakenAndReleasedInEach() throws Exception {
    try (RedisServer redis =
            RedisServer.start(
                TestPrerequisites.required(RedisServer.bundled(), "The Redis server"));
        ZooKeeperServer zooKeeper = ZooKeeperServer.start()) {
      for (String url : new String[] {redis.url(), zooKeeper.url() + "/locks"}) {
        try (LockClient locks = LockClient.builder().url(url).ttl(Duration.ofSeconds(10)).build();
            LockClient others = LockClient.builder().url(url).ttl(Duration.ofSeconds(10)).build()) {
          Lease lease = locks.lock("invoice/42").acquireWithin(Duration.ofSeconds(30));
          assertThat(others.lock("invoice/42").tryAcquire()).as(url).isEmpty();
          lease.close();
          others.lock("invoice/42").acquireWithin(Duration.ofSeconds(30)).close();
        }
      }
    }
  }
}
