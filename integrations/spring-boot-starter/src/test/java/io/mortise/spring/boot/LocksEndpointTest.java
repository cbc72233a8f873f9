package io.mortise.spring.boot;

import static org.assertj.core.api.Assertions.assertThat;

import io.mortise.DistributedLock;
import io.mortise.Lease;
import io.mortise.LockClient;
import io.mortise.admin.LockAdmin;
import io.mortise.admin.LockInfo;
import io.mortise.admin.LockParticipant;
import io.mortise.admin.LockParticipant.Access;
import io.mortise.admin.LockParticipant.Share;
import io.mortise.testkit.BoundedWait;
import java.lang.reflect.Proxy;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.OptionalInt;
import java.util.concurrent.CompletableFuture;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;

/** The endpoint's output about a lock. */
class LocksEndpointTest {
  private static final Duration TTL = Duration.ofSeconds(15);

  private static LockInfo heldBySession(@Nullable Duration renewedAgo) {
    LockParticipant holder =
        new LockParticipant(
            "a",
            null,
            "",
            new Share(Access.EXCLUSIVE, 0, 0),
            7,
            Duration.ZERO,
            TTL,
            null,
            false,
            null,
            TTL,
            renewedAgo);
    return new LockInfo(
        "job", OptionalInt.empty(), 7, Duration.ZERO, List.of(holder), List.of(), 0, 0, null);
  }

  private static <T> T answering(Class<T> type, Object answer) {
    return type.cast(
        Proxy.newProxyInstance(
            LocksEndpointTest.class.getClassLoader(),
            new Class<?>[] {type},
            (proxy, method, arguments) -> answer));
  }

  private static @Nullable Object holders(LockInfo lock) {
    LockAdmin admin = answering(LockAdmin.class, Optional.of(lock));
    LocksEndpoint endpoint = new LocksEndpoint(answering(LockClient.class, admin));
    Map<String, Object> shown = endpoint.lock(new String[] {"job"});
    return shown == null ? null : shown.get("holders");
  }

  @Test
  void givenThreadsThatWaitForEachOther_thenTheyAreShown() throws Exception {
    try (LockClient client = LockClient.connect("mem:" + LocksEndpointTest.class.getName())) {
      LocksEndpoint endpoint = new LocksEndpoint(client);
      Lease lease = client.lock("p").acquire();
      Thread waiter = new Thread(() -> acquireBriefly(client.lock("p")), "worker");
      waiter.start();
      BoundedWait.until(
          BoundedWait.ANSWER,
          "the worker waited",
          () -> !client.admin().localWaits().waits().isEmpty());
      Map<String, Object> all = endpoint.locks(null, null);
      assertThat(all.get("localWaits"))
          .asString()
          .contains("name=p", "waiter=thread 'worker' (id " + waiter.getId())
          .contains("thread '" + Thread.currentThread().getName() + "'");
      assertThat(all).containsEntry("localDeadlocks", List.of());
      lease.close();
      waiter.join();
    }
  }

  @Test
  void givenLockThatAnotherClientHolds_thenTheLocalWaitNamesItsAttempt() throws Exception {
    String url = "mem:" + LocksEndpointTest.class.getName() + "/elsewhere";
    try (LockClient client = LockClient.connect(url);
        LockClient other = LockClient.connect(url)) {
      Lease lease = other.lock("p").acquire();
      String attempt = other.admin().find("p").orElseThrow().holders().get(0).attempt();
      CompletableFuture<Lease> waiting = client.lock("p").acquireAsync();
      BoundedWait.until(
          BoundedWait.ANSWER,
          "the store named the holder",
          () ->
              client.admin().localWaits().waits().stream()
                  .anyMatch(wait -> wait.heldElsewhere() != null));
      assertThat(new LocksEndpoint(client).locks(null, null).get("localWaits"))
          .asString()
          .contains("holders=[], heldElsewhere=" + attempt);
      waiting.cancel(false);
      lease.close();
    }
  }

  private static void acquireBriefly(DistributedLock lock) {
    try {
      lock.acquire().close();
    } catch (InterruptedException e) {
      throw new AssertionError(e);
    }
  }

  @Test
  void givenStoreWithoutAClock_thenItIsShownHowLongAgoAHolderWasRenewed() {
    assertThat(holders(heldBySession(Duration.ofMinutes(4))))
        .asString()
        .contains("renewedAgoMillis=240000");
    assertThat(holders(heldBySession(null))).asString().doesNotContain("renewedAgo");
  }
}
