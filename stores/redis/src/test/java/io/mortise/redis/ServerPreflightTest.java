package io.mortise.redis;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.assertj.core.api.Assertions.catchThrowable;
import static org.awaitility.Awaitility.await;

import io.lettuce.core.RedisClient;
import io.mortise.LockName;
import io.mortise.StoreUnavailableException;
import io.mortise.StoreUnfitException;
import io.mortise.admin.LockQuery;
import io.mortise.redis.transport.FakeServer;
import io.mortise.spi.LockStore;
import io.mortise.spi.LockStoreProvider;
import io.mortise.spi.Renewal;
import io.mortise.spi.Reply;
import io.mortise.spi.SessionVerdict;
import io.mortise.spi.StoreUrl;
import io.mortise.testserver.RedisServer;
import java.io.PrintWriter;
import java.io.StringWriter;
import java.time.Duration;
import java.util.ServiceLoader;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;
import org.junit.jupiter.params.provider.ValueSource;

class ServerPreflightTest {
  private static final LockName LOCK = LockName.of("invoice/42");
  private static final String SECRET = "s3cr3t-w0rd";

  /** The transport under test. */
  String transport() {
    return "direct";
  }

  private LockStore connect(String url) {
    return RedisStore.open(url + (url.contains("?") ? "&" : "?") + "wire=" + transport());
  }

  @Test
  void givenNobodyListens_whenOpened_thenStoreIsUnavailable_soon() {
    int port = RedisServer.freePort();
    long start = System.nanoTime();
    assertThatThrownBy(() -> connect("redis://127.0.0.1:" + port))
        .isInstanceOf(StoreUnavailableException.class)
        .hasMessageContaining("127.0.0.1:" + port)
        .hasMessageContaining("refused");
    assertThat(Duration.ofNanos(System.nanoTime() - start)).isLessThan(Duration.ofSeconds(20));
  }

  @Test
  void givenServerThatDoesNotAnswer_whenOpened_thenStoreIsUnavailable_soon() {
    try (RedisServer server = RedisServers.any()) {
      server.pause();
      long start = System.nanoTime();
      assertThatThrownBy(() -> connect(server.url()))
          .isInstanceOf(StoreUnavailableException.class)
          .hasMessageContaining("Cannot reach Redis");
      assertThat(Duration.ofNanos(System.nanoTime() - start)).isLessThan(Duration.ofSeconds(20));
    }
  }

  @ParameterizedTest
  @EnumSource(RedisServers.class)
  void givenPassword_whenItIsRight_thenStoreOpens_andWhenNot_thenItIsUnfitAndKeepsTheSecret(
      RedisServers version) {
    try (RedisServer server = version.start("--requirepass", SECRET)) {
      String place = "127.0.0.1:" + server.port();
      try (LockStore store = connect("redis://:" + SECRET + "@" + place)) {
        assertThat(store.toString()).doesNotContain(SECRET);
        assertThat(store.profile().toString()).doesNotContain(SECRET);
      }
      for (String user : new String[] {":x" + SECRET + "@", "joe:x" + SECRET + "@", ""}) {
        Throwable refusal = catchThrowable(() -> connect("redis://" + user + place));
        assertThat(refusal)
            .isInstanceOf(StoreUnfitException.class)
            .hasMessageContaining("credentials");
        assertThat(everything(refusal)).doesNotContain(SECRET);
      }
    }
  }

  @Test
  void givenServerWithoutPassword_whenOneIsSent_thenItIsUnfitAndKeepsTheSecret() {
    try (RedisServer server = RedisServers.any()) {
      Throwable refusal =
          catchThrowable(() -> connect("redis://joe:" + SECRET + "@127.0.0.1:" + server.port()));
      assertThat(refusal).isInstanceOf(StoreUnfitException.class);
      assertThat(everything(refusal)).doesNotContain(SECRET);
    }
  }

  @Test
  void givenSecretInBrokenUrl_thenNoMessageShowsIt() {
    for (String url :
        new String[] {
          "redis://joe:" + SECRET + "@ho st:6379",
          "redis://joe:" + SECRET + "@host:6379/x",
          "redis://joe:" + SECRET + "@host:6379?namespase=a",
          "redis://joe:" + SECRET + "@host:6379?timeout=fast"
        }) {
      Throwable refusal = catchThrowable(() -> connect(url));
      assertThat(refusal).isInstanceOf(IllegalArgumentException.class);
      assertThat(everything(refusal)).doesNotContain(SECRET);
    }
  }

  private static String everything(Throwable failure) {
    StringWriter text = new StringWriter();
    failure.printStackTrace(new PrintWriter(text, true));
    return text.toString();
  }

  @Test
  void givenReplica_whenOpened_thenItIsUnfit() {
    try (RedisServer primary = RedisServers.any();
        RedisServer replica =
            RedisServers.any(
                "--replicaof", "127.0.0.1 " + primary.port(), "--replica-read-only", "no")) {
      assertThatThrownBy(() -> connect(replica.url()))
          .isInstanceOf(StoreUnfitException.class)
          .hasMessageContaining("replica")
          .hasMessageContaining("primary");
    }
  }

  @Test
  void givenServerThatLacksReplicasNow_whenOpened_thenItIsUnavailable() {
    try (RedisServer server = RedisServers.any("--min-replicas-to-write", "1")) {
      assertThatThrownBy(() -> connect(server.url()))
          .isInstanceOf(StoreUnavailableException.class)
          .hasMessageContaining("NOREPLICAS");
    }
  }

  @ParameterizedTest
  @ValueSource(strings = {"allkeys-lru", "volatile-ttl"})
  void givenServerThatEvicts_whenOpened_thenItIsUnfit_unlessThatIsAccepted(String policy) {
    try (RedisServer server =
        RedisServers.any("--maxmemory", "100mb", "--maxmemory-policy", policy)) {
      assertThatThrownBy(() -> connect(server.url()))
          .isInstanceOf(StoreUnfitException.class)
          .hasMessageContaining(policy)
          .hasMessageContaining("noeviction");
      connect(server.url() + "?accept-eviction=true").close();
    }
  }

  @Test
  void givenServerFromBeforeRedis6_whenOpened_thenItIsUnfit() throws Exception {
    try (FakeServer server =
        FakeServer.start(
            (peer, command) -> peer.send("-ERR unknown command `" + command.get(0) + "`\r\n"))) {
      assertThatThrownBy(() -> RedisStore.open("redis://127.0.0.1:" + server.port()))
          .isInstanceOf(StoreUnfitException.class)
          .hasMessageContaining("6.2");
    }
  }

  @ParameterizedTest
  @EnumSource(RedisServers.class)
  void givenClusterNode_whenOpened_thenItIsUnfit(RedisServers version) {
    try (RedisServer server = version.start("--cluster-enabled", "yes")) {
      assertThatThrownBy(() -> connect(server.url()))
          .isInstanceOf(StoreUnfitException.class)
          .hasMessageContaining("redis-cluster://");
    }
  }

  @Test
  void givenUserWithoutConfig_whenOpened_thenThatIsEnough_andWithoutScripts_thenItIsUnfit() {
    try (RedisServer server =
        RedisServers.any(
            ("--user plain on >pw ~m:* &m:* +@all -config"
                    + " --user noscript on >pw ~m:* &m:* +@all -@scripting"
                    + " --user other on >pw ~other:* &* +@all")
                .split(" "))) {
      String place = "127.0.0.1:" + server.port();
      try (LockStore store = connect("redis://plain:pw@" + place)) {
        SimulatedProcess party = new SimulatedProcess(store);
        assertThat(party.acquire(LOCK, party.attempt(), false)).isInstanceOf(Reply.Granted.class);
      }
      assertThatThrownBy(() -> connect("redis://noscript:pw@" + place))
          .isInstanceOf(StoreUnfitException.class)
          .hasMessageContaining("NOPERM");
      assertThatThrownBy(() -> connect("redis://other:pw@" + place))
          .isInstanceOf(StoreUnfitException.class)
          .hasMessageContaining("NOPERM");
    }
  }

  /** The rights that docs/stores/redis.md lists. */
  @ParameterizedTest
  @EnumSource(RedisServers.class)
  void givenUserWithTheDocumentedRights_thenEverythingWorks(RedisServers version) {
    try (RedisServer server =
        version.start(
            ("--user mortise on >pw ~m:* resetchannels &m:* +@connection +@scripting +@pubsub"
                    + " +@read +@string +@hash +@list +@sortedset +info +time +del +pexpire +persist")
                .split(" "))) {
      String url = "redis://mortise:pw@127.0.0.1:" + server.port();
      try (LockStore store = connect(url)) {
        SimulatedProcess holder = new SimulatedProcess(store);
        SimulatedProcess waiter = new SimulatedProcess(store);
        var held = holder.attempt();
        var waits = waiter.attempt();
        assertThat(holder.acquire(LOCK, held, false)).isInstanceOf(Reply.Granted.class);
        assertThat(waiter.acquire(LOCK, waits, true)).isInstanceOf(Reply.Queued.class);
        assertThat(SimulatedProcess.join(store.inspect(LockQuery.all())).items()).hasSize(1);
        assertThat(holder.notifications()).hasSize(1);
        assertThat(holder.renew()).isInstanceOf(Renewal.Renewed.class);
        assertThat(holder.abandon(LOCK, held)).isInstanceOf(Reply.Ended.class);
        await().atMost(Duration.ofSeconds(30)).until(() -> waiter.hints.size() == 1);
        assertThat(SimulatedProcess.join(store.judge(waiter.spec.id())))
            .isInstanceOf(SessionVerdict.Alive.class);
        assertThat(SimulatedProcess.join(store.sweep(10))).isZero();
        SimulatedProcess.join(waiter.session.close());
        assertThat(SimulatedProcess.join(store.judge(waiter.spec.id())))
            .isInstanceOf(SessionVerdict.SessionEnded.class);
      }
    }
  }

  @Test
  void givenDatabaseNumber_thenLocksAreKeptThere_andWhenThereIsNone_thenItIsUnfit() {
    try (RedisServer server = RedisServers.any()) {
      try (LockStore one = connect(server.url() + "/1");
          LockStore two = connect(server.url() + "/2")) {
        assertThat(one.profile().display()).endsWith("/1");
        SimulatedProcess first = new SimulatedProcess(one);
        SimulatedProcess second = new SimulatedProcess(two);
        assertThat(first.acquire(LOCK, first.attempt(), false)).isInstanceOf(Reply.Granted.class);
        assertThat(second.acquire(LOCK, second.attempt(), false)).isInstanceOf(Reply.Granted.class);
      }
      assertThatThrownBy(() -> connect(server.url() + "/99"))
          .isInstanceOf(StoreUnfitException.class)
          .hasMessageContaining("database");
    }
  }

  @Test
  void givenUnknownParameter_whenOpened_thenItIsRefusedByName() {
    assertThatThrownBy(() -> connect("redis://localhost?namespase=billing"))
        .isInstanceOf(IllegalArgumentException.class)
        .hasMessageContaining("namespase");
    assertThatThrownBy(() -> connect("redis://localhost?namespace=a:b"))
        .isInstanceOf(IllegalArgumentException.class)
        .hasMessageContaining("a:b");
    assertThatThrownBy(() -> connect("redis://localhost?ca=/etc/ca.pem"))
        .isInstanceOf(IllegalArgumentException.class)
        .hasMessageContaining("ca");
  }

  @Test
  void givenRetention_whenALockIsReleased_thenItsRecordIsKeptSoLong_andWhileHeldForEver() {
    try (RedisServer server = RedisServers.any();
        LockStore store = connect(server.url() + "?retention=5m")) {
      RedisClient client = RedisClient.create(server.url());
      try (var connection = client.connect()) {
        SimulatedProcess party = new SimulatedProcess(store);
        for (int i = 0; i < 2; i++) {
          var attempt = party.attempt();
          party.acquire(LOCK, attempt, false);
          assertThat(connection.sync().pttl("m::l:" + LOCK)).isEqualTo(-1);
          party.abandon(LOCK, attempt);
          assertThat(connection.sync().pttl("m::l:" + LOCK)).isBetween(240_000L, 300_000L);
        }
      } finally {
        client.shutdown(Duration.ZERO, Duration.ofSeconds(2));
      }
    }
  }

  @Test
  void givenTwoNamespaces_thenLocksOfOneNameAreTwoLocks() {
    try (RedisServer server = RedisServers.any();
        LockStore billing = connect(server.url() + "?namespace=billing");
        LockStore plain = connect(server.url())) {
      SimulatedProcess one = new SimulatedProcess(billing);
      SimulatedProcess other = new SimulatedProcess(plain);
      assertThat(one.acquire(LOCK, one.attempt(), false)).isInstanceOf(Reply.Granted.class);
      assertThat(other.acquire(LOCK, other.attempt(), false)).isInstanceOf(Reply.Granted.class);
    }
  }

  @Test
  void givenUrl_whenLookedUpAsService_thenThisModuleOpensIt() {
    try (RedisServer server = RedisServers.any()) {
      LockStoreProvider provider =
          ServiceLoader.load(LockStoreProvider.class).stream()
              .map(ServiceLoader.Provider::get)
              .filter(found -> found.schemes().contains("redis"))
              .findFirst()
              .orElseThrow();
      provider.open(StoreUrl.parse(server.url())).close();
    }
  }
}
