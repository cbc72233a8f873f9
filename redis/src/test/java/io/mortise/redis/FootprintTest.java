package io.mortise.redis;

import static org.assertj.core.api.Assertions.assertThat;

import io.lettuce.core.RedisClient;
import io.lettuce.core.api.sync.RedisCommands;
import io.mortise.spi.LockName;
import io.mortise.spi.LockStore;
import io.mortise.spi.Renewal;
import io.mortise.spi.Reply;
import io.mortise.testkit.server.RedisServer;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/** What many held locks cost the server. */
class FootprintTest {
  private static final int LOCKS = 10_000;

  @ParameterizedTest
  @EnumSource(Servers.class)
  void givenTenThousandHeldLocks_thenEachTakesLittle_andARenewalIsOneCommandForAll(
      Servers version) {
    try (RedisServer server = version.start();
        LockStore store = RedisStore.open(server.url())) {
      RedisClient client = RedisClient.create(server.url());
      try {
        RedisCommands<String, String> admin = client.connect().sync();
        Party party = new Party(store);
        long before = number(admin.info("memory"), "used_memory:");
        List<CompletableFuture<Reply>> replies = new ArrayList<>();
        for (int i = 0; i < LOCKS; i++) {
          replies.add(
              party.send(Party.acquiring(LockName.of("invoice/" + i), party.attempt(), false)));
        }
        replies.forEach(reply -> assertThat(Party.join(reply)).isInstanceOf(Reply.Granted.class));
        long bytes = number(admin.info("memory"), "used_memory:") - before;
        assertThat(bytes / LOCKS).isLessThanOrEqualTo(150);

        long requests = number(admin.info("commandstats"), "cmdstat_evalsha:calls=");
        assertThat(requests).isLessThan(LOCKS / 2);
        assertThat(party.renew()).isInstanceOf(Renewal.Renewed.class);
        assertThat(number(admin.info("commandstats"), "cmdstat_evalsha:calls=") - requests)
            .isEqualTo(1);
      } finally {
        client.shutdown(Duration.ZERO, Duration.ofSeconds(2));
      }
    }
  }

  private static long number(String info, String field) {
    return info.lines()
        .filter(line -> line.startsWith(field))
        .map(line -> line.substring(field.length()).replaceAll("\\D.*", ""))
        .mapToLong(Long::parseLong)
        .findFirst()
        .orElseThrow();
  }
}
