package io.mortise.redis;

import static org.assertj.core.api.Assertions.assertThat;

import io.mortise.LockClient;
import io.mortise.LockName;
import io.mortise.LockOptions;
import io.mortise.spi.AttemptId;
import io.mortise.spi.LockStore;
import io.mortise.spi.Reply;
import io.mortise.spi.Request;
import io.mortise.testserver.RedisServer;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import org.junit.jupiter.api.Test;

/** Requests whose answer no caller awaits may travel with the next, but not out of order. */
class DeferredReleaseTest {
  private static final LockName LOCK = LockName.of("invoice/42");

  /** The transport under test. */
  String transport() {
    return "direct";
  }

  @Test
  void givenNothingFollows_thenTheRequestLeavesByItself() {
    try (RedisServer server = RedisServers.any();
        LockStore store = RedisStore.open(server.url() + "?timeout=20s&wire=" + transport())) {
      SimulatedProcess party = new SimulatedProcess(store);
      for (int i = 0; i < 20; i++) {
        AttemptId attempt = party.attempt();
        assertThat(party.acquire(LOCK, attempt, false)).isInstanceOf(Reply.Granted.class);
        CompletableFuture<Reply> end = new CompletableFuture<>();
        party.session.submitLater(new Request.Abandon(LOCK, attempt), end::complete);
        assertThat(SimulatedProcess.join(end))
            .isEqualTo(
                new Reply.Ended(attempt, Reply.AttemptState.HELD, Reply.EndReason.RELEASED, false));
      }
    }
  }

  @Test
  void givenTheLockIsTakenAgainAtOnce_thenTheOrderIsKept() {
    try (RedisServer server = RedisServers.any();
        LockStore store = RedisStore.open(server.url() + "?timeout=20s&wire=" + transport())) {
      SimulatedProcess party = new SimulatedProcess(store);
      List<CompletableFuture<Reply>> grants = new ArrayList<>();
      for (int i = 0; i < 2000; i++) {
        AttemptId attempt = party.attempt();
        grants.add(party.send(SimulatedProcess.acquiring(LOCK, attempt, false)));
        party.session.submitLater(new Request.Abandon(LOCK, attempt), reply -> {});
      }
      grants.forEach(
          grant -> assertThat(SimulatedProcess.join(grant)).isInstanceOf(Reply.Granted.class));
    }
  }

  @Test
  void givenAsynchronousRelease_whenTheClientIsClosed_thenAnotherGetsTheLockAtOnce()
      throws Exception {
    try (RedisServer server = RedisServers.any();
        LockClient other = LockClient.connect(server.url())) {
      for (int i = 0; i < 5; i++) {
        try (LockClient client =
            LockClient.connect(server.url() + "?timeout=20s&wire=" + transport())) {
          client
              .lock(LOCK.value(), LockOptions.DEFAULTS.withReleaseAsync(true))
              .acquireWithin(Duration.ofSeconds(20))
              .close();
        }
        other.lock(LOCK.value()).tryAcquire().orElseThrow().close();
      }
    }
  }
}
