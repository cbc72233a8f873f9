package io.mortise.redis;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.mortise.Lease;
import io.mortise.LeaseLostException;
import io.mortise.LockClient;
import io.mortise.testkit.BoundedWait;
import io.mortise.testkit.RerunIfPaused;
import io.mortise.testserver.RedisServer;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/** Our clients and another language's exclude each other, both ways, in both layouts. */
class PlainInteropTest {
  private static final String LOCK = "invoice/42";
  private static final Duration WAIT = Duration.ofSeconds(20);
  private static final long LONG = 60_000;

  private static LockClient client(RedisServer server, String parameters, Duration ttl) {
    return LockClient.builder()
        .url(PlainUnderTest.url(server.url()) + "?" + parameters)
        .ttl(ttl)
        .build();
  }

  private static LockClient client(RedisServer server) {
    return client(server, "layout=string", Duration.ofSeconds(10));
  }

  @ParameterizedTest
  @EnumSource(RedisServers.class)
  void givenOurLease_thenItsKeyIsTheLocksName_andOthersAreKeptOut(RedisServers version)
      throws Exception {
    try (RedisServer server = version.start();
        ForeignClient other = new ForeignClient(server.port());
        LockClient ours = client(server)) {
      try (Lease lease = ours.lock(LOCK).acquireWithin(WAIT)) {
        assertThat(other.call("TYPE", LOCK)).isEqualTo("string");
        assertThat((Long) other.call("PTTL", LOCK)).isBetween(1L, 10_000L);
        assertThat(other.lock(LOCK, "theirs", LONG)).isFalse();
        assertThat(other.unlock(LOCK, "theirs")).isFalse();
        assertThat(other.extend(LOCK, "theirs", LONG)).isFalse();
        lease.ensureValid();
      }
      assertThat(other.call("DBSIZE")).as("nothing is left").isEqualTo(0L);
      assertThat(other.lock(LOCK, "theirs", LONG)).isTrue();
    }
  }

  @Test
  void givenTwoHolds_thenTheirValuesDiffer() throws Exception {
    try (RedisServer server = RedisServers.any();
        ForeignClient other = new ForeignClient(server.port());
        LockClient ours = client(server, "prefix=lock:", Duration.ofSeconds(10))) {
      ours.lock("warm").acquireWithin(WAIT).close();
      List<Object> values = new ArrayList<>();
      for (int i = 0; i < 3; i++) {
        try (Lease lease = ours.lock(LOCK).acquireWithin(WAIT)) {
          lease.ensureValid();
          values.add(other.call("GET", "lock:" + LOCK));
        }
      }
      assertThat(values).doesNotHaveDuplicates().doesNotContainNull();
    }
  }

  @ParameterizedTest
  @EnumSource(RedisServers.class)
  void givenTheirLock_thenWeWait_andGetItWhenTheyUnlock(RedisServers version) throws Exception {
    try (RedisServer server = version.start();
        ForeignClient other = new ForeignClient(server.port());
        LockClient ours = client(server)) {
      assertThat(other.lock(LOCK, "a value of theirs", LONG)).isTrue();
      assertThat(ours.lock(LOCK).tryAcquire()).isEmpty();
      assertThat(ours.admin().find(LOCK).orElseThrow().holders().get(0).client())
          .isNotNull()
          .extracting("name")
          .isEqualTo("a value of theirs");
      CompletableFuture<Lease> waiting = ours.lock(LOCK).acquireAsync(WAIT);
      assertThat(other.extend(LOCK, "a value of theirs", LONG)).isTrue();
      BoundedWait.pass(Duration.ofMillis(100));
      assertThat(waiting).isNotDone();
      assertThat(other.unlock(LOCK, "a value of theirs")).isTrue();
      waiting.get(20, TimeUnit.SECONDS).close();
      assertThat(other.call("EXISTS", LOCK)).isEqualTo(0L);
    }
  }

  @Test
  void givenTheirLockThatExpires_thenWeGetIt_andTheirLateUnlockDoesNotTouchIt() throws Exception {
    try (RedisServer server = RedisServers.any();
        ForeignClient other = new ForeignClient(server.port());
        LockClient ours = client(server)) {
      assertThat(other.lock(LOCK, "theirs", 300)).isTrue();
      try (Lease lease = ours.lock(LOCK).acquireWithin(WAIT)) {
        assertThat(other.unlock(LOCK, "theirs")).isFalse();
        assertThat(other.extend(LOCK, "theirs", LONG)).isFalse();
        assertThat(other.lock(LOCK, "theirs", LONG)).isFalse();
        lease.ensureValid();
      }
    }
  }

  @Test
  @RerunIfPaused
  void givenOurLease_thenItOutlivesItsTtl_forAsLongAsWeLive() throws Exception {
    try (RedisServer server = RedisServers.any();
        ForeignClient other = new ForeignClient(server.port());
        LockClient ours = client(server, "layout=string", Duration.ofSeconds(1));
        Lease lease = ours.lock(LOCK).acquireWithin(WAIT)) {
      for (int i = 0; i < 20; i++) {
        BoundedWait.pass(Duration.ofMillis(100));
        assertThat(other.lock(LOCK, "theirs", LONG)).isFalse();
      }
      lease.ensureValid();
    }
  }

  @ParameterizedTest
  @RerunIfPaused
  @EnumSource(RedisServers.class)
  void givenOurLease_whenSomebodyTakesItsKeyAway_thenItIsLostByTheNextRenewal(RedisServers version)
      throws Exception {
    try (RedisServer server = version.start();
        ForeignClient other = new ForeignClient(server.port());
        LockClient ours = client(server, "layout=string", Duration.ofSeconds(3));
        Lease kept = ours.lock("other").acquireWithin(WAIT)) {
      for (String what : List.of("DEL", "SET")) {
        Lease lease = ours.lock(LOCK).acquireWithin(WAIT);
        if (what.equals("DEL")) {
          other.call("DEL", LOCK);
        } else {
          other.call("SET", LOCK, "somebody else", "PX", "60000");
        }
        BoundedWait.until(WAIT, "the lease was lost", () -> lease.state() == Lease.State.LOST);
        assertThatThrownBy(lease::close)
            .isInstanceOf(LeaseLostException.class)
            .hasMessageContaining("token=none");
        kept.ensureValid();
      }
      assertThat(other.call("GET", LOCK)).as("not ours to delete").isEqualTo("somebody else");
    }
  }

  @Test
  void givenHashLayout_thenTheFieldCountsOnce_andReentrantClientsAreKeptOut() throws Exception {
    try (RedisServer server = RedisServers.any();
        ForeignClient other = new ForeignClient(server.port());
        ForeignClient listener = new ForeignClient(server.port());
        LockClient ours = client(server, "layout=hash", Duration.ofSeconds(10))) {
      listener.call("SUBSCRIBE", "redisson_lock__channel:{" + LOCK + "}");
      try (Lease lease = ours.lock(LOCK).acquireWithin(WAIT)) {
        assertThat(other.call("TYPE", LOCK)).isEqualTo("hash");
        assertThat(other.call("HVALS", LOCK)).isEqualTo(List.of("1"));
        assertThat((Long) other.call("PTTL", LOCK)).isBetween(1L, 10_000L);
        assertThat(other.enter(LOCK, "uuid:7", LONG)).isFalse();
        assertThat(other.leave(LOCK, "uuid:7")).isFalse();
        lease.ensureValid();
      }
      assertThat(listener.read())
          .as("their waiters are told")
          .isEqualTo(List.of("message", "redisson_lock__channel:{" + LOCK + "}", "0"));
      assertThat(other.call("DBSIZE")).isEqualTo(0L);
    }
  }

  @Test
  void givenHashLayoutAndTheirReentrantHold_thenWeWaitUntilTheyLeftAsOftenAsTheyEntered()
      throws Exception {
    try (RedisServer server = RedisServers.any();
        ForeignClient other = new ForeignClient(server.port());
        LockClient ours = client(server, "layout=hash", Duration.ofSeconds(10))) {
      assertThat(other.enter(LOCK, "uuid:7", LONG)).isTrue();
      assertThat(other.enter(LOCK, "uuid:7", LONG)).isTrue();
      CompletableFuture<Lease> waiting = ours.lock(LOCK).acquireAsync(WAIT);
      assertThat(other.leave(LOCK, "uuid:7")).isFalse();
      BoundedWait.pass(Duration.ofMillis(150));
      assertThat(waiting).isNotDone();
      assertThat(other.leave(LOCK, "uuid:7")).isTrue();
      waiting.get(20, TimeUnit.SECONDS).close();
    }
  }

  @Test
  void givenKeyOfAnotherType_thenItIsBusy_inBothLayouts() throws Exception {
    try (RedisServer server = RedisServers.any();
        ForeignClient other = new ForeignClient(server.port());
        LockClient strings = client(server);
        LockClient hashes = client(server, "layout=hash", Duration.ofSeconds(10))) {
      other.enter("hashed", "uuid:7", LONG);
      other.lock("plain", "theirs", LONG);
      assertThat(strings.lock("hashed").tryAcquire()).isEmpty();
      assertThat(hashes.lock("plain").tryAcquire()).isEmpty();
      assertThat(strings.admin().find("hashed").orElseThrow().holders()).hasSize(1);
      assertThat(other.call("DBSIZE")).isEqualTo(2L);
    }
  }

  @Test
  void givenMixedFleetUnderLoad_thenOneAtATimeHolds_andAllGetOn() throws Exception {
    try (RedisServer server = RedisServers.any("--notify-keyspace-events", "Kgx");
        LockClient ours = client(server);
        LockClient too = client(server)) {
      AtomicInteger inside = new AtomicInteger();
      int[] counter = new int[1];
      long end = System.nanoTime() + Duration.ofSeconds(2).toNanos();
      ExecutorService threads = Executors.newCachedThreadPool();
      List<Future<Integer>> users = new ArrayList<>();
      for (int i = 0; i < 2; i++) {
        String token = "theirs-" + i;
        users.add(
            threads.submit(
                () -> {
                  int mine = 0;
                  try (ForeignClient other = new ForeignClient(server.port())) {
                    while (System.nanoTime() < end || mine == 0) {
                      if (other.lock(LOCK, token, LONG)) {
                        use(inside, counter);
                        assertThat(other.unlock(LOCK, token)).isTrue();
                        mine++;
                      }
                      BoundedWait.pass(Duration.ofMillis(1));
                    }
                  }
                  return mine;
                }));
      }
      for (LockClient client : List.of(ours, ours, too)) {
        users.add(
            threads.submit(
                () -> {
                  int mine = 0;
                  while (System.nanoTime() < end || mine == 0) {
                    try (Lease lease = client.lock(LOCK).acquireWithin(WAIT)) {
                      lease.ensureValid();
                      use(inside, counter);
                      mine++;
                    }
                  }
                  return mine;
                }));
      }
      int sum = 0;
      for (Future<Integer> user : users) {
        int mine = user.get(40, TimeUnit.SECONDS);
        assertThat(mine).isPositive();
        sum += mine;
      }
      threads.shutdown();
      assertThat(counter[0]).as("increments under the lock, none lost").isEqualTo(sum);
    }
  }

  private static void use(AtomicInteger inside, int[] counter) {
    assertThat(inside.incrementAndGet()).isEqualTo(1);
    counter[0]++;
    inside.decrementAndGet();
  }
}
