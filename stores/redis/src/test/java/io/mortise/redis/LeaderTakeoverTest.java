package io.mortise.redis;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import io.mortise.Leadership;
import io.mortise.LockClient;
import io.mortise.testkit.BoundedWait;
import io.mortise.testkit.RerunIfPaused;
import io.mortise.testserver.RedisServer;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;

/** How soon a leader has a successor. */
class LeaderTakeoverTest {
  private static final String NAME = "leader";
  private static final int TURNS = 9;

  /** For half of the turns: a busy machine may delay some. */
  private static final Duration HAND_OVER = BoundedWait.scaled(Duration.ofMillis(50));

  private static final Duration TTL = Duration.ofSeconds(2);
  private static final Duration BEYOND_TTL = BoundedWait.scaled(Duration.ofMillis(500));

  private static Leadership candidate(LockClient client, CompletableFuture<Long> leads) {
    return client.leader(
        NAME,
        lead -> {
          leads.complete(System.nanoTime());
          new CountDownLatch(1).await();
        });
  }

  private static void awaitWaiter(RedisServer server) {
    await()
        .atMost(BoundedWait.ANSWER)
        .until(() -> server.ask("ZRANGE", "m::q:" + NAME, "0", "-1").size() == 1);
  }

  private static long get(CompletableFuture<Long> leads) throws Exception {
    return leads.get(BoundedWait.ANSWER.toMillis(), TimeUnit.MILLISECONDS);
  }

  @Test
  @RerunIfPaused
  void givenCandidates_whenTheLeaderCloses_thenTheNextLeadsAtOnce() throws Exception {
    try (RedisServer server = RedisServers.any();
        LockClient a = LockClient.connect(server.url());
        LockClient b = LockClient.connect(server.url())) {
      CompletableFuture<Long> first = new CompletableFuture<>();
      Leadership leader = candidate(a, first);
      get(first);
      List<Duration> took = new ArrayList<>();
      for (int turn = 0; turn < TURNS; turn++) {
        CompletableFuture<Long> leads = new CompletableFuture<>();
        Leadership next = candidate(turn % 2 == 0 ? b : a, leads);
        awaitWaiter(server);
        long began = System.nanoTime();
        leader.close();
        took.add(Duration.ofNanos(get(leads) - began));
        leader = next;
      }
      leader.close();
      assertThat(took.stream().sorted().toList().get(TURNS / 2)).isLessThan(HAND_OVER);
    }
  }

  @Test
  @RerunIfPaused
  void givenHolderThatIsKilled_thenACandidateLeadsWhenItsTtlIsOver() throws Exception {
    try (RedisServer server = RedisServers.any();
        LockClient client = LockClient.builder().url(server.url()).ttl(TTL).build();
        WaiterProcess leader = new WaiterProcess(server.url(), NAME, TTL)) {
      assertThat(leader.line()).isEqualTo(WaiterProcess.HOLDS);
      CompletableFuture<Long> leads = new CompletableFuture<>();
      Leadership next = candidate(client, leads);
      awaitWaiter(server);
      leader.kill();
      long killed = System.nanoTime();
      Duration took = Duration.ofNanos(get(leads) - killed);
      assertThat(took).isLessThan(TTL.plus(BEYOND_TTL));
      next.close();
    }
  }
}
