package io.mortise.redis;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import io.mortise.Lease;
import io.mortise.LockClient;
import io.mortise.testkit.BoundedWait;
import io.mortise.testkit.RerunIfPaused;
import io.mortise.testserver.RedisServer;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** Separate processes that wait for a lock, and are killed or paused. */
@Timeout(300)
class KilledWaiterTest {
  private static final Duration TTL = Duration.ofSeconds(15);
  private static final Duration AT_ONCE = BoundedWait.scaled(Duration.ofSeconds(1));
  private static final String LOCK = "k";

  /** TTL of the session of a process that waits and holds nothing. */
  private static final long WAITING_MILLIS = 3_000;

  /** Well below the TTL. */
  private static final Duration SOON = Duration.ofSeconds(10);

  private static LockClient client(String url) {
    return LockClient.builder().url(url).ttl(TTL).build();
  }

  private static void awaitWaiters(RedisServer server, int count) {
    await()
        .atMost(BoundedWait.ANSWER)
        .until(() -> server.ask("ZRANGE", "m::q:" + LOCK, "0", "-1").size() == count);
  }

  /** The transport of the first test. */
  String transport() {
    return "direct";
  }

  /** The inbox of the first waiter, which has said by a renewal that it listens. */
  private static String inboxOfHead(RedisServer server) {
    String attempt = server.ask("ZRANGE", "m::q:" + LOCK, "0", "0").get(0);
    String session = attempt.substring(0, 12);
    await()
        .atMost(BoundedWait.ANSWER)
        .until(() -> server.ask("GETRANGE", "m::s:" + session, "32", "32").equals(List.of("1")));
    return "m::i:" + session;
  }

  /** Waits until the first waiter has renewed as a session that only waits. */
  private static void awaitShortSessionOfHead(RedisServer server) {
    String attempt = server.ask("ZRANGE", "m::q:" + LOCK, "0", "0").get(0);
    String session = attempt.substring(0, 12);
    await()
        .atMost(BoundedWait.ANSWER)
        .until(
            () -> Long.parseLong(server.ask("PTTL", "m::s:" + session).get(0)) <= WAITING_MILLIS);
  }

  @Test
  @RerunIfPaused
  void givenHeadOfTheQueueThatWasKilled_whenTheLockIsReleased_thenTheNextLiveWaiterHoldsAtOnce()
      throws Exception {
    try (RedisServer server = RedisServers.any()) {
      String url = server.url() + "?wire=" + transport();
      try (LockClient holding = client(url);
          LockClient waiting = client(url);
          WaiterProcess head = new WaiterProcess(url, LOCK, TTL)) {
        Lease held = holding.lock(LOCK).acquire();
        awaitWaiters(server, 1);
        CompletableFuture<Lease> next = waiting.lock(LOCK).acquireAsync();
        awaitWaiters(server, 2);
        String inbox = inboxOfHead(server);
        head.kill();
        new InboxSubscriptionProbe().await(server, inbox, false);

        held.close();

        next.get(AT_ONCE.toMillis(), TimeUnit.MILLISECONDS).close();
      }
    }
  }

  @Test
  @RerunIfPaused
  void givenOnlyWaiterWasKilled_whenTheLockIsReleased_thenANewcomerHoldsAtOnce() throws Exception {
    try (RedisServer server = RedisServers.any();
        LockClient holding = client(server.url());
        LockClient coming = client(server.url());
        WaiterProcess head = new WaiterProcess(server.url(), LOCK, TTL)) {
      Lease held = holding.lock(LOCK).acquire();
      awaitWaiters(server, 1);
      String inbox = inboxOfHead(server);
      head.kill();
      new InboxSubscriptionProbe().await(server, inbox, false);
      held.close();

      long began = System.nanoTime();
      coming.lock(LOCK).acquire().close();

      assertThat(Duration.ofNanos(System.nanoTime() - began)).isLessThan(AT_ONCE);
    }
  }

  @Test
  void givenHeadOfTheQueueThatStandsStill_whenTheLockIsReleased_thenTheNextHoldsLongBeforeTheTtl()
      throws Exception {
    try (RedisServer server = RedisServers.any();
        LockClient holding = client(server.url());
        LockClient waiting = client(server.url());
        WaiterProcess head = new WaiterProcess(server.url(), LOCK, TTL)) {
      Lease held = holding.lock(LOCK).acquire();
      awaitWaiters(server, 1);
      CompletableFuture<Lease> next = waiting.lock(LOCK).acquireAsync();
      awaitWaiters(server, 2);
      awaitShortSessionOfHead(server);
      head.pause();

      held.close();

      next.get(SOON.toMillis(), TimeUnit.MILLISECONDS).close();
    }
  }

  @Test
  void givenUserThatMayNotSubscribe_thenItIsHandedTheLockAllTheSame() throws Exception {
    try (RedisServer server = RedisServers.any()) {
      server.ask(
          "ACL", "SETUSER", "deaf", "on", ">secret", "~*", "resetchannels", "+@all", "-subscribe");
      String url = server.url().replace("://", "://deaf:secret@");
      try (LockClient holding = client(server.url());
          LockClient waiting = client(url)) {
        Lease held = holding.lock(LOCK).acquire();
        CompletableFuture<Lease> next = waiting.lock(LOCK).acquireAsync();
        awaitWaiters(server, 1);
        held.close();
        await()
            .atMost(BoundedWait.ANSWER)
            .until(() -> server.ask("ZRANGE", "m::q:" + LOCK, "0", "-1").isEmpty());
        next.get(BoundedWait.ANSWER.toMillis(), TimeUnit.MILLISECONDS).close();
      }
    }
  }

  @Test
  void givenUserThatMayNotCountListeners_thenItHandsOverAllTheSame() throws Exception {
    try (RedisServer server = RedisServers.any()) {
      server.ask("ACL", "SETUSER", "blind", "on", ">secret", "~*", "&*", "+@all", "-pubsub");
      String url = server.url().replace("://", "://blind:secret@");
      try (LockClient holding = client(url);
          LockClient waiting = client(server.url())) {
        Lease held = holding.lock(LOCK).acquire();
        CompletableFuture<Lease> next = waiting.lock(LOCK).acquireAsync();
        awaitWaiters(server, 1);
        held.close();
        next.get(BoundedWait.ANSWER.toMillis(), TimeUnit.MILLISECONDS).close();
      }
    }
  }
}
