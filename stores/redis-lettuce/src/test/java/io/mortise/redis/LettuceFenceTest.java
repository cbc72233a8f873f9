package io.mortise.redis;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.lettuce.core.RedisClient;
import io.lettuce.core.RedisCommandExecutionException;
import io.lettuce.core.api.StatefulRedisConnection;
import io.mortise.FencingToken;
import io.mortise.StaleTokenException;
import io.mortise.redis.lettuce.LettuceFence;
import io.mortise.testserver.RedisServer;
import java.time.Duration;
import org.junit.jupiter.api.Test;

/** A fence whose script Lettuce runs, by its digest once the server knows it. */
class LettuceFenceTest {
  private static final String KEY = "invoice:42";

  private static FencingToken token(long value, String holder) {
    return new FencingToken("invoice/42", value, holder);
  }

  @Test
  void givenServerThatDoesNotKnowTheScript_thenItIsSent_andThenCalledByItsDigest() {
    try (RedisServer server = RedisServers.any()) {
      RedisClient client = RedisClient.create(server.url());
      try (StatefulRedisConnection<String, String> connection = client.connect()) {
        RedisFence fence = LettuceFence.over(connection.sync());
        fence.write(KEY, token(5, "a"), "SET", KEY, "text");
        assertThatThrownBy(() -> fence.write(KEY, token(4, "z"), "SET", KEY, "late"))
            .isInstanceOf(StaleTokenException.class);
        assertThatThrownBy(() -> fence.write(KEY, token(6, "b"), "INCR", KEY))
            .isInstanceOf(RedisCommandExecutionException.class);
        assertThat(connection.sync().get(KEY)).isEqualTo("text");
        assertThat(RedisFence.tokenIn(connection.sync().get(RedisFence.fenceOf(KEY)))).hasValue(6);
        assertThat(String.join("\n", server.ask("INFO", "commandstats")))
            .containsPattern("cmdstat_eval:calls=1,")
            .containsPattern("cmdstat_evalsha:calls=3,");
      } finally {
        client.shutdown(Duration.ZERO, Duration.ofSeconds(2));
      }
    }
  }
}
