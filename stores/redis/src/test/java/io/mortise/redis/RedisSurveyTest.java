package io.mortise.redis;

import static org.assertj.core.api.Assertions.assertThat;

import io.mortise.LockName;
import io.mortise.admin.LockInfo;
import io.mortise.admin.LockParticipant;
import io.mortise.admin.LockParticipant.ClientInfo;
import io.mortise.admin.LockQuery;
import io.mortise.admin.Page;
import io.mortise.admin.SessionInfo;
import io.mortise.spi.LockStore;
import io.mortise.spi.Mode;
import io.mortise.spi.PartitionedStore;
import io.mortise.spi.Reply;
import io.mortise.testkit.BoundedWait;
import io.mortise.testkit.SessionDriver;
import io.mortise.testserver.RedisCluster;
import io.mortise.testserver.RedisServer;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutionException;
import java.util.function.Function;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/**
 * The commands that a survey sends. {@code -Dmortise.held=100000} for that many locks; the server's
 * times are printed.
 */
class RedisSurveyTest {
  private static final int LOCKS = Integer.getInteger("mortise.held", 10_000);
  private static final Duration LONG = Duration.ofMinutes(10);

  @Test
  @Timeout(300)
  void givenManyHeldLocks_thenASurveyTakesASmallPartOfTheCommandsOfALook() {
    try (RedisServer server = RedisServers.any();
        LockStore store = RedisStore.open(server.url() + "?timeout=20s");
        ForeignClient admin = new ForeignClient(server.port())) {
      hold(store);
      admin.call("CONFIG", "RESETSTAT");
      long began = System.nanoTime();
      assertThat(inspected(store)).hasSize(LOCKS);
      long looking = System.nanoTime() - began;
      Commands looks = Commands.of(admin);
      admin.call("CONFIG", "RESETSTAT");
      began = System.nanoTime();
      assertThat(surveyed(store, "")).hasSize(LOCKS);
      long surveying = System.nanoTime() - began;
      Commands survey = Commands.of(admin);
      admin.call("CONFIG", "RESETSTAT");
      assertThat(surveyed(store, "held/77")).hasSizeBetween(100, LOCKS / 50);
      Commands prefix = Commands.of(admin);
      System.out.printf(
          "%d held: look %d commands, %.3f s of the server, %.2f s; survey %d commands, %.3f s of"
              + " the server, %.2f s; survey of a prefix %.3f s of the server%n",
          LOCKS,
          looks.calls(),
          looks.micros() / 1e6,
          looking / 1e9,
          survey.calls(),
          survey.micros() / 1e6,
          surveying / 1e9,
          prefix.micros() / 1e6);
      assertThat(survey.calls()).isLessThanOrEqualTo(looks.calls() / 10);
      // A SCAN and an MGET for some hundreds of keys.
      assertThat(survey.calls()).isLessThanOrEqualTo(2L * (LOCKS / 400 + 5));
    }
  }

  @Test
  void givenLongerQueueThanIsListed_thenAllWaitersAreCounted() {
    LockName name = LockName.of("wanted");
    try (RedisServer server = RedisServers.any();
        LockStore store = RedisStore.open(server.url() + "?timeout=20s")) {
      SimulatedProcess party = new SimulatedProcess(store, LONG);
      List<CompletableFuture<Reply>> replies = new ArrayList<>();
      for (int i = 0; i < 1_101; i++) {
        replies.add(party.send(SimulatedProcess.acquiring(name, party.attempt(), true)));
      }
      replies.forEach(SimulatedProcess::join);
      LockInfo view = BoundedWait.join(store.inspect(LockQuery.of(name.value()))).items().get(0);
      assertThat(view.waiters()).hasSize(1_000);
      assertThat(view.waiterCount()).isEqualTo(1_100);
      assertThat(BoundedWait.join(store.inspect(LockQuery.all().summarized())).items())
          .extracting(LockInfo::waiterCount)
          .containsExactly(1_100);
    }
  }

  @Test
  void givenStrictExpiry_whenAHolderIsGone_thenItsBeatTellsWhoItWas() {
    LockName name = LockName.of("held");
    try (RedisServer server = RedisServers.any();
        LockStore store = RedisStore.open(server.url() + "?strict-expiry=true");
        ForeignClient admin = new ForeignClient(server.port())) {
      SessionDriver a = SessionDriver.open(store, LONG, "a");
      a.hold(name, Mode.EXCLUSIVE);
      admin.call("DEL", "m::s:" + a.id().value());
      LockInfo view = BoundedWait.join(store.inspect(LockQuery.of(name.value()))).items().get(0);
      LockParticipant holder = view.holders().get(0);
      assertThat(holder.sessionLeft()).isZero();
      assertThat(holder.client()).isEqualTo(new ClientInfo("testhost", 4711, "a"));
      assertThat(holder.sessionTtl()).isEqualTo(LONG);
    }
  }

  @Test
  void givenKeysOfOthersBelowThePrefix_thenTheyHideNothing() {
    try (RedisServer server = RedisServers.any();
        LockStore store = RedisStore.open(server.url());
        ForeignClient admin = new ForeignClient(server.port())) {
      SessionDriver a = SessionDriver.open(store, LONG, "a");
      a.hold(LockName.of("mine"), Mode.EXCLUSIVE);
      a.hold(LockName.of("wanted"), Mode.EXCLUSIVE);
      a.queued(LockName.of("wanted"), Mode.EXCLUSIVE);
      admin.call("SET", "m::l:text", "not ours");
      admin.call("SET", "m::l:empty", "");
      admin.call("SET", "m::l:x", "x");
      admin.call("HSET", "m::l:hash", "a", "b");
      admin.call("DEL", "m::q:wanted");
      admin.call("SET", "m::q:wanted", "not a queue");
      admin.call("SET", "m::s:text", "not ours");
      admin.call("SET", "m::s:AAAAAAAAAAAA", "not ours either");
      assertThat(surveyed(store, "")).containsExactlyInAnyOrder("mine", "wanted");
      assertThat(BoundedWait.join(store.sessions(null, 1000)).items())
          .extracting(SessionInfo::session)
          .containsExactly(a.id().value());
    }
  }

  @Test
  void givenCursorOfAnotherStore_thenItIsRefused() {
    try (RedisServer server = RedisServers.any();
        LockStore store = RedisStore.open(server.url())) {
      for (String cursor : List.of("a", "7", "1:0/0", "0:x", "-1:0/0", "99999:0/0", ":")) {
        assertThat(store.inspect(LockQuery.all().page(cursor, 10).summarized()))
            .as(cursor)
            .failsWithin(BoundedWait.ANSWER)
            .withThrowableOfType(ExecutionException.class)
            .withCauseInstanceOf(IllegalArgumentException.class);
        assertThat(store.sessions(cursor, 10))
            .as(cursor)
            .failsWithin(BoundedWait.ANSWER)
            .withThrowableOfType(ExecutionException.class)
            .withCauseInstanceOf(IllegalArgumentException.class);
      }
    }
  }

  @Test
  @Timeout(240)
  void givenCluster_thenEachNodeIsScannedOnce_andAllBucketsAreShown() {
    try (RedisCluster cluster =
            RedisCluster.start(RedisServers.REDIS_7.binary(), 3, false, Duration.ofSeconds(10));
        PartitionedStore store =
            (PartitionedStore) RedisStore.open(cluster.url() + "?buckets=16&timeout=20s")) {
      Map<Integer, SessionDriver> sessions = new HashMap<>();
      Set<String> names = new HashSet<>(Set.of("}:l:x", "{b00}:l:x", "x{b01}:l:held/1", "x*"));
      for (int i = 0; i < 300; i++) {
        names.add("held/" + i);
      }
      for (String name : names) {
        int part = store.partitionOf(LockName.of(name));
        sessions
            .computeIfAbsent(
                part, number -> SessionDriver.open(store.partition(number), LONG, "client"))
            .hold(LockName.of(name), Mode.EXCLUSIVE);
      }
      LockName waited = LockName.of("held/7");
      sessions.get(store.partitionOf(waited)).queued(waited, Mode.EXCLUSIVE);

      long before = scans(cluster);
      assertThat(surveyed(store, "")).isEqualTo(names);
      assertThat(scans(cluster) - before).isBetween(3L, 9L);
      for (int limit : List.of(3, 40)) {
        assertThat(surveyed(store, "", limit)).isEqualTo(names);
      }
      assertThat(surveyed(store, "}:l:")).containsExactly("}:l:x");
      assertThat(surveyed(store, "held/7")).hasSize(11);
      assertThat(surveyed(store, "held")).hasSize(300);
      assertThat(surveyed(store, "x")).containsExactlyInAnyOrder("x{b01}:l:held/1", "x*");
      assertThat(
              BoundedWait.join(store.inspect(LockQuery.beginningWith("held/7").summarized()))
                  .items())
          .filteredOn(line -> line.waiterCount() == 1)
          .extracting(LockInfo::name)
          .containsExactly("held/7");
      assertThat(inspected(store)).isEqualTo(names);
      assertThat(
              all(
                  cursor -> {
                    Page<SessionInfo> page = BoundedWait.join(store.sessions(cursor, 5));
                    return new Names(
                        page.items().stream().map(SessionInfo::session).toList(), page.next());
                  }))
          .containsExactlyInAnyOrderElementsOf(
              sessions.values().stream().map(session -> session.id().value()).toList());
    }
  }

  private static long scans(RedisCluster cluster) {
    long scans = 0;
    for (RedisServer node : cluster.nodes()) {
      try (ForeignClient admin = new ForeignClient(node.port())) {
        Matcher line =
            Pattern.compile("cmdstat_scan:calls=(\\d+)")
                .matcher(String.valueOf(admin.call("INFO", "commandstats")));
        scans += line.find() ? Long.parseLong(line.group(1)) : 0;
      }
    }
    return scans;
  }

  /** Calls and time of inspection, by the server's own count, without TIME. */
  private record Commands(long calls, long micros) {
    private static final Pattern LINE =
        Pattern.compile("cmdstat_(scan|mget|evalsha|zcard):calls=(\\d+),usec=(\\d+),");

    static Commands of(ForeignClient admin) {
      long calls = 0;
      long micros = 0;
      Matcher line = LINE.matcher(String.valueOf(admin.call("INFO", "commandstats")));
      while (line.find()) {
        calls += Long.parseLong(line.group(2));
        micros += Long.parseLong(line.group(3));
      }
      return new Commands(calls, micros);
    }
  }

  private static void hold(LockStore store) {
    SimulatedProcess party = new SimulatedProcess(store, LONG);
    List<CompletableFuture<Reply>> replies = new ArrayList<>();
    for (int i = 0; i < LOCKS; i++) {
      replies.add(
          party.send(SimulatedProcess.acquiring(LockName.of("held/" + i), party.attempt(), false)));
      if (replies.size() == 1000) {
        joined(replies);
      }
    }
    joined(replies);
  }

  private static void joined(List<CompletableFuture<Reply>> replies) {
    replies.forEach(
        reply -> assertThat(SimulatedProcess.join(reply)).isInstanceOf(Reply.Granted.class));
    replies.clear();
  }

  private static Set<String> surveyed(LockStore store, String prefix) {
    return surveyed(store, prefix, 1000);
  }

  private static Set<String> surveyed(LockStore store, String prefix, int limit) {
    return all(
        cursor -> {
          Page<LockInfo> page =
              BoundedWait.join(
                  store.inspect(LockQuery.beginningWith(prefix).page(cursor, limit).summarized()));
          return new Names(page.items().stream().map(LockInfo::name).toList(), page.next());
        });
  }

  private static Set<String> inspected(LockStore store) {
    return all(
        cursor -> {
          Page<LockInfo> page = BoundedWait.join(store.inspect(LockQuery.all().page(cursor, 200)));
          return new Names(page.items().stream().map(LockInfo::name).toList(), page.next());
        });
  }

  private record Names(List<String> names, @Nullable String next) {}

  private static Set<String> all(Function<@Nullable String, Names> pages) {
    Set<String> found = new HashSet<>();
    String cursor = null;
    do {
      Names page = pages.apply(cursor);
      found.addAll(page.names());
      cursor = page.next();
    } while (cursor != null);
    return found;
  }
}
