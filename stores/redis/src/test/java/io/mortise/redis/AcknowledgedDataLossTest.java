package io.mortise.redis;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.awaitility.Awaitility.await;

import io.lettuce.core.RedisClient;
import io.mortise.Lease;
import io.mortise.LeaseLostException;
import io.mortise.LockClient;
import io.mortise.LockException;
import io.mortise.testserver.RedisServer;
import java.time.Duration;
import java.util.Optional;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/** A server that has lost acknowledged writes: which holders are told, and what tokens do. */
class AcknowledgedDataLossTest {
  private static final Duration TTL = Duration.ofSeconds(3);
  private static final String LOCK = "invoice/42";

  @ParameterizedTest
  @EnumSource(RedisServers.class)
  void givenHolder_whenTheServerComesBackEmpty_thenItIsTold_andTheNextTokenIsGreater(
      RedisServers version) throws Exception {
    try (RedisServer server = version.start();
        LockClient holder = client(server);
        LockClient other = client(server)) {
      Lease lease = holder.lock(LOCK).acquire();
      long token = lease.token();

      server.kill();
      server.restart();

      assertNextIsGreater(other, token);
      assertTold(lease);
    }
  }

  @ParameterizedTest
  @EnumSource(RedisServers.class)
  void givenHolder_whenEverythingIsFlushed_thenItIsTold_andTheNextTokenIsGreater(
      RedisServers version) throws Exception {
    try (RedisServer server = version.start();
        LockClient holder = client(server);
        LockClient other = client(server)) {
      Lease lease = holder.lock(LOCK).acquire();
      long token = lease.token();

      RedisClient admin = RedisClient.create(server.url());
      admin.connect().sync().flushall();
      admin.shutdown(Duration.ZERO, Duration.ofSeconds(2));

      assertNextIsGreater(other, token);
      assertTold(lease);
    }
  }

  private static LockClient client(RedisServer server) {
    return LockClient.builder().url(server.url()).ttl(TTL).build();
  }

  private static void assertNextIsGreater(LockClient other, long token) {
    Lease next =
        await()
            .atMost(Duration.ofSeconds(20))
            .ignoreExceptionsInstanceOf(LockException.class)
            .until(() -> other.lock(LOCK).tryAcquire(), Optional::isPresent)
            .orElseThrow();
    assertThat(next.token()).isGreaterThan(token);
    next.close();
  }

  private static void assertTold(Lease lease) {
    await().atMost(Duration.ofSeconds(20)).until(() -> !lease.isValid());
    assertThatThrownBy(lease::close).isInstanceOf(LeaseLostException.class);
  }
}
