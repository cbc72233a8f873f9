package io.mortise.redis;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.awaitility.Awaitility.await;

import io.mortise.Lease;
import io.mortise.LeaseLostException;
import io.mortise.LockClient;
import io.mortise.testserver.RedisServer;
import java.time.Duration;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** A server that comes back without some of its acknowledged writes. */
@Timeout(120)
class DataLossAfterRestartTest {
  private static final Duration LONG = Duration.ofSeconds(20);

  private static LockClient client(RedisServer server) {
    return client(server, "");
  }

  private static LockClient client(RedisServer server, String parameters) {
    return LockClient.builder().url(server.url() + parameters).ttl(Duration.ofSeconds(9)).build();
  }

  /** Makes the server look like a promoted replica without this record. */
  private static void forget(RedisServer server, String lock) {
    server.ask("DEL", "m::l:" + lock);
    server.ask("DEBUG", "CHANGE-REPL-ID");
  }

  private static RedisServer start() {
    return RedisServers.REDIS_7.start("--enable-debug-command", "yes");
  }

  @Test
  void givenServerThatForgotOneLock_thenItsLeaseIsLost_andTheOthersAreConfirmed() throws Exception {
    try (RedisServer server = start();
        LockClient a = client(server);
        LockClient b = client(server)) {
      Lease forgotten = a.lock("forgotten").acquire();
      Lease known = a.lock("known").acquire();
      ConcurrentLinkedQueue<LeaseLostException> lost = new ConcurrentLinkedQueue<>();
      forgotten.onLost(lost::add);
      known.onLost(lost::add);
      long token = forgotten.token();
      forget(server, "forgotten");
      // The next renewal finds out.
      await().atMost(LONG).until(() -> !lost.isEmpty());
      assertThat(forgotten.state()).isEqualTo(Lease.State.LOST);
      await().atMost(LONG).until(() -> known.state() == Lease.State.HELD);
      assertThat(known.isValid()).isTrue();
      try (Lease next = b.lock("forgotten").acquireWithin(LONG)) {
        assertThat(next.token()).isGreaterThan(token);
      }
      known.close();
      assertThat(lost).hasSize(1);
    }
  }

  @Test
  void givenServerThatRestartsEmpty_thenTheLossSaysSo() throws Exception {
    try (RedisServer server = RedisServers.any();
        LockClient client =
            LockClient.builder().url(server.url()).ttl(Duration.ofSeconds(30)).build()) {
      Lease lease = client.lock("x").acquire();
      CompletableFuture<LeaseLostException> lost = new CompletableFuture<>();
      lease.onLost(lost::complete);
      server.restartEmpty();
      assertThat(lost.get(30, TimeUnit.SECONDS))
          .hasMessageContaining("the server was restarted, or another one took over")
          .hasMessageContaining("has forgotten the session (look at its setting appendonly)");
    }
  }

  @Test
  void givenWaiterWhosePlaceWasForgotten_thenItAsksAgain() throws Exception {
    try (RedisServer server = start();
        LockClient a = client(server);
        LockClient b = client(server)) {
      Lease first = a.lock("x").acquire();
      CompletableFuture<Lease> waiting = b.lock("x").acquireAsync();
      await().atMost(LONG).until(() -> a.admin().find("x").orElseThrow().waiters().size() == 1);
      server.ask("DEL", "m::l:x", "m::q:x", "m::d:x");
      server.ask("DEBUG", "CHANGE-REPL-ID");
      Lease next = waiting.get(20, TimeUnit.SECONDS);
      assertThat(next.token()).isGreaterThan(first(first));
      next.close();
    }
  }

  /** The token of a lease that may be lost by now. */
  private static long first(Lease lease) {
    return Long.parseLong(lease.toString().replaceAll(".*token=(\\d+).*", "$1"));
  }

  @Test
  void givenReleaseOfALockThatWasForgotten_beforeThatWasNoticed_thenItSaysSo() throws Exception {
    try (RedisServer server = start();
        LockClient a = client(server)) {
      Lease lease = a.lock("x").acquire();
      server.ask("DEL", "m::l:x");
      assertThatThrownBy(lease::close)
          .isInstanceOf(LeaseLostException.class)
          .hasMessageContaining("no longer knew it");
    }
  }

  @ParameterizedTest
  @ValueSource(strings = {"", "?strict-expiry=true"})
  void givenServerThatRemembersAll_whenItRestarts_thenLeasesAreConfirmed(String parameters)
      throws Exception {
    try (RedisServer server = RedisServers.any("--appendonly", "yes", "--appendfsync", "always");
        LockClient a = client(server, parameters)) {
      Lease lease = a.lock("x").acquire();
      ConcurrentLinkedQueue<LeaseLostException> lost = new ConcurrentLinkedQueue<>();
      lease.onLost(lost::add);
      String before = server.info("master_replid");
      server.restart();
      assertThat(server.info("master_replid")).isNotEqualTo(before);
      Lease other = a.lock("y").acquireWithin(LONG);
      await().atMost(LONG).until(lease::isValid);
      other.close();
      lease.close();
      assertThat(lost).isEmpty();
    }
  }
}
