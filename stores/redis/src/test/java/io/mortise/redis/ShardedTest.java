package io.mortise.redis;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.mortise.Lease;
import io.mortise.LockClient;
import io.mortise.StoreUnavailableException;
import io.mortise.StoreUnfitException;
import io.mortise.admin.LockInfo;
import io.mortise.testkit.BoundedWait;
import io.mortise.testkit.RerunIfPaused;
import io.mortise.testkit.server.FaultInjectionProxy;
import io.mortise.testkit.server.FaultInjectionProxy.NetworkCondition;
import io.mortise.testserver.RedisServer;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Set;
import java.util.TreeSet;
import java.util.concurrent.CompletableFuture;
import java.util.function.ToIntFunction;
import java.util.stream.Collectors;
import java.util.stream.IntStream;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/** Names spread over independent servers: a dead server takes its names with it. */
@Tag("extended")
class ShardedTest {
  private static final Duration WAIT = Duration.ofSeconds(20);
  private static final List<String> IDS = List.of("a", "b", "c");

  private final List<RedisServer> servers = new ArrayList<>();

  @BeforeEach
  void start() {
    for (int i = 0; i < IDS.size(); i++) {
      servers.add(RedisServers.any());
    }
  }

  @AfterEach
  void stop() {
    servers.forEach(RedisServer::close);
  }

  private String url(List<String> ids, String more) {
    return url(ids, id -> servers.get(IDS.indexOf(id)).port(), more);
  }

  private static String url(List<String> ids, ToIntFunction<String> port, String more) {
    return "redis-sharded://"
        + ids.stream()
            .map(id -> "127.0.0.1:" + port.applyAsInt(id))
            .collect(Collectors.joining(","))
        + "?ids="
        + String.join(",", ids)
        + more;
  }

  private LockClient client(List<String> ids, String more) {
    return client(ids, more, WAIT);
  }

  private LockClient client(List<String> ids, String more, Duration ttl) {
    return LockClient.builder().url(url(ids, "&timeout=3s" + more)).ttl(ttl).build();
  }

  /** A name that lives on this server, by the published vectors. */
  private static String nameOn(String id) {
    return switch (id) {
      case "a" -> "invoice/42";
      case "b" -> "invoice/44";
      default -> "x";
    };
  }

  @Test
  void givenThreeServers_thenEachNameIsOnItsOwn_andClientsAgreeWhateverTheOrderOfTheirLists()
      throws Exception {
    try (LockClient one = client(IDS, "");
        LockClient two = client(List.of("c", "a", "b"), "")) {
      List<Lease> leases = new ArrayList<>();
      for (int i = 0; i < 30; i++) {
        leases.add(one.lock("n" + i).acquireWithin(WAIT));
        assertThat(two.lock("n" + i).tryAcquire()).isEmpty();
      }
      for (String id : IDS) {
        leases.add(one.lock(nameOn(id)).acquireWithin(WAIT));
        try (ForeignClient server = new ForeignClient(servers.get(IDS.indexOf(id)).port())) {
          assertThat(server.call("EXISTS", "m::l:" + nameOn(id))).isEqualTo(1L);
          assertThat((Long) server.call("DBSIZE")).isBetween(6L, 25L);
        }
      }
      Set<String> seen =
          two.admin().stream("").map(LockInfo::name).collect(Collectors.toCollection(TreeSet::new));
      Set<String> all =
          IntStream.range(0, 30)
              .mapToObj(i -> "n" + i)
              .collect(Collectors.toCollection(TreeSet::new));
      IDS.forEach(id -> all.add(nameOn(id)));
      assertThat(seen).isEqualTo(all);
      leases.forEach(Lease::close);
    }
  }

  @Test
  @RerunIfPaused
  void givenServerThatDies_thenItsNamesFail_nobodyElseHasThem_andTheOthersGoOn() throws Exception {
    try (LockClient one = client(IDS, "", Duration.ofSeconds(4));
        LockClient two = client(IDS, "")) {
      Lease lost = one.lock(nameOn("b")).acquireWithin(WAIT);
      Lease kept = one.lock(nameOn("a")).acquireWithin(WAIT);
      two.lock(nameOn("c")).acquireWithin(WAIT).close();
      servers.get(1).kill();
      assertThatThrownBy(() -> two.lock(nameOn("b")).tryAcquire())
          .isInstanceOf(StoreUnavailableException.class)
          .hasMessageContaining(nameOn("b"));
      assertThatThrownBy(() -> two.lock(nameOn("b")).acquireWithin(Duration.ofMillis(300)))
          .isInstanceOf(StoreUnavailableException.class);
      BoundedWait.until(WAIT, "the lease was lost", () -> lost.state() == Lease.State.LOST);
      kept.ensureValid();
      assertThatThrownBy(() -> two.lock(nameOn("b")).tryAcquire())
          .as("also when nobody holds it any more")
          .isInstanceOf(StoreUnavailableException.class);
      two.lock(nameOn("c")).acquireWithin(WAIT).close();
      servers.get(1).restart();
      two.lock(nameOn("b")).acquireWithin(WAIT).close();
      kept.close();
    }
  }

  @Test
  @RerunIfPaused
  void givenHolderThatIsCutOffFromAServer_whenAnotherIsGrantedThere_thenItHadStoppedToBelieve()
      throws Exception {
    try (FaultInjectionProxy line = FaultInjectionProxy.to(servers.get(1).port());
        LockClient one =
            LockClient.builder()
                .url(
                    url(
                        IDS,
                        id -> id.equals("b") ? line.port() : servers.get(IDS.indexOf(id)).port(),
                        "&timeout=1s"))
                .ttl(Duration.ofSeconds(3))
                .build();
        LockClient two = client(IDS, "")) {
      Lease lost = one.lock(nameOn("b")).acquireWithin(WAIT);
      Lease kept = one.lock(nameOn("a")).acquireWithin(WAIT);
      long token = lost.token();
      CompletableFuture<Lease> waiting = two.lock(nameOn("b")).acquireAsync(WAIT);
      line.condition(NetworkCondition.FROZEN);
      assertThatThrownBy(() -> one.lock("nightly-report").tryAcquire())
          .as("never busy")
          .isInstanceOf(StoreUnavailableException.class);
      try (Lease next = waiting.get()) {
        assertThat(lost.isValid()).isFalse();
        assertThat(next.token()).isGreaterThan(token);
      }
      kept.ensureValid();
      line.condition(NetworkCondition.FAIR);
      one.lock(nameOn("b")).acquireWithin(WAIT).close();
      kept.close();
    }
  }

  @Test
  void givenServerThatIsDownWhenAClientOpens_thenOnlyItsNamesWaitForIt() throws Exception {
    servers.get(2).kill();
    try (LockClient client = client(IDS, "")) {
      client.lock(nameOn("a")).acquireWithin(WAIT).close();
      assertThatThrownBy(() -> client.lock(nameOn("c")).tryAcquire())
          .isInstanceOf(StoreUnavailableException.class);
      servers.get(2).restart();
      client.lock(nameOn("c")).acquireWithin(WAIT).close();
    }
  }

  @Test
  void givenNoServer_thenOpeningFails() {
    servers.forEach(RedisServer::kill);
    assertThatThrownBy(() -> client(IDS, "")).isInstanceOf(StoreUnavailableException.class);
  }

  @Test
  void givenAnotherList_thenItIsRefused_unlessNamesAreToMove_andThenTheyAreShutMeanwhile()
      throws Exception {
    List<String> fewer = List.of("a", "b");
    client(IDS, "").close();
    assertThatThrownBy(() -> client(fewer, ""))
        .isInstanceOf(StoreUnfitException.class)
        .hasMessageContaining("a,b,c")
        .hasMessageContaining("move=");

    long began = System.nanoTime();
    try (LockClient moving = client(fewer, "&move=6s");
        LockClient later = client(fewer, "")) {
      moving.lock(nameOn("a")).acquireWithin(WAIT).close();
      later.lock(nameOn("b")).acquireWithin(WAIT).close();
      for (LockClient client : List.of(moving, later)) {
        assertThatThrownBy(() -> client.lock(nameOn("c")).tryAcquire())
            .isInstanceOf(StoreUnavailableException.class)
            .hasMessageContaining("on its way");
      }
      later.lock(nameOn("c")).acquireWithin(WAIT).close();
      assertThat(Duration.ofNanos(System.nanoTime() - began))
          .as("what its former server had granted is over by then")
          .isGreaterThan(Duration.ofMillis(5_950));
    }
    assertThatThrownBy(() -> client(IDS, "")).isInstanceOf(StoreUnfitException.class);
  }

  @Test
  void givenWrongLists_thenTheyAreRefused() {
    for (String wrong :
        List.of(
            "redis-sharded://127.0.0.1:1",
            "redis-sharded://127.0.0.1:1,127.0.0.1:1",
            "redis-sharded://127.0.0.1:1,127.0.0.1:2?ids=a",
            "redis-sharded://127.0.0.1:1,127.0.0.1:2?ids=a,a",
            "redis-sharded://127.0.0.1:1,127.0.0.1:2?ids=a,",
            "redis-sharded://127.0.0.1:1,127.0.0.1:2?move=0")) {
      assertThatThrownBy(() -> RedisStore.open(wrong))
          .as(wrong)
          .isInstanceOf(IllegalArgumentException.class);
    }
  }
}
