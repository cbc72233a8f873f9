package io.mortise.field;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.mortise.Lease;
import io.mortise.LeaseLostException;
import io.mortise.LockClient;
import io.mortise.StoreUnfitException;
import io.mortise.admin.Eviction;
import io.mortise.admin.LockQuery;
import io.mortise.testkit.BoundedWait;
import io.mortise.testkit.server.LocalServer;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.sql.SQLException;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import org.apache.zookeeper.ZooDefs;
import org.apache.zookeeper.ZooKeeper;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/** Records, tables and nodes of a newer version, met by clients of this one. */
@Tag("extended")
class NewerVersionTest {
  private static final List<String> TABLES =
      List.of("meta", "session", "lock", "hold", "wait", "news", "fact");

  @TempDir private Path folder;

  /** Possible records of a newer version: with another format name, or with another field. */
  private static List<String> newer(FieldStore store, String record) {
    return store == FieldStore.REDIS
        ? List.of("y" + record.substring(1), record.substring(0, 30))
        : List.of(
            record.replaceFirst("^lock1", "lock2"),
            record.replaceFirst("\n|$", "\tmore$0"),
            record + "\nlater\t1");
  }

  @ParameterizedTest
  @EnumSource(names = {"REDIS", "ETCD", "CONSUL", "NATS", "DYNAMODB"})
  @Report({
    "apache/curator#914",
    "camunda/camunda#5104",
    "gittuf/gittuf#751",
    "btcpayserver/btcpayserver#1620",
    "laurent22/joplin#918"
  })
  void givenRecordOfANewerVersion_thenItIsRefusedByName_andLeftAsItIs_andOtherLocksAreServed(
      FieldStore store) throws Exception {
    LocalServer server = store.shared();
    String url = store.newUrl();
    RawRecord record = new RawRecord(store, server, url, "new");
    try (LockClient client = Trial.client(url);
        Lease held = client.lock("held").acquireWithin(Trial.LONG)) {
      client.lock("new").acquireWithin(Trial.LONG).close();
      String ours = record.read();
      for (String text : newer(store, ours)) {
        record.write(text);
        assertThatThrownBy(() -> client.lock("new").tryAcquire())
            .as(text)
            .isInstanceOf(StoreUnfitException.class)
            .hasMessageContaining("new");
        assertThat(record.read()).isEqualTo(text);
        assertThat(Trial.isGranted(client, "other")).isTrue();
        held.ensureValid();
      }
      assertThat(client.lock("new").acquireAsync()).failsWithin(BoundedWait.ANSWER);
      record.write(ours);
      assertThat(Trial.isGranted(client, "new")).isTrue();
    }
  }

  /** It expires with its writer's TTL, which this version need not understand. */
  @Test
  @Report({"palantir/atlasdb#2185", "spring-projects/spring-integration#3700"})
  void givenItemOfANewerVersionInMemcached_thenItExcludes_andIsLeftAsItIs() throws Exception {
    FieldStore store = FieldStore.MEMCACHED;
    String url = store.newUrl();
    RawRecord record = new RawRecord(store, store.shared(), url, "new");
    try (LockClient client = Trial.client(url)) {
      String text = "v2 attempt=AAAAAAAAAAAAAAAAAAAAAA";
      record.write(text);
      assertThat(client.lock("new").tryAcquire()).isEmpty();
      assertThat(record.read()).isEqualTo(text);
      assertThat(Trial.isGranted(client, "other")).isTrue();
    }
  }

  @Test
  @Report({"apache/samza#899", "apache/zookeeper#1251"})
  void givenRootOfANewerVersionInZooKeeper_thenItIsRefusedByName_andLiveHoldersGoOn()
      throws Exception {
    FieldStore store = FieldStore.ZOOKEEPER;
    String url = store.newUrl();
    String root = "/mortise/" + url.replaceFirst(".*namespace=", "");
    ZooKeeper admin = connected(store.shared().port());
    try (LockClient client = Trial.client(url);
        Lease held = client.lock("held").acquireWithin(Trial.LONG)) {
      admin.setData(root + "/epoch", "2".getBytes(StandardCharsets.UTF_8), -1);
      assertThatThrownBy(() -> useOnce(url))
          .isInstanceOf(StoreUnfitException.class)
          .hasMessageContaining(root + "/epoch")
          .hasMessageContaining("another version");
      held.ensureValid();
      assertThat(Trial.isGranted(client, "other")).isTrue();
      admin.setData(root + "/epoch", new byte[0], -1);
      useOnce(url);
    } finally {
      admin.close();
    }
  }

  @Test
  @Report("Alluxio/alluxio#4381")
  void givenNodeWhoseDataAreOfANewerVersion_thenItHoldsItsPlaceInTheQueue() throws Exception {
    FieldStore store = FieldStore.ZOOKEEPER;
    String url = store.newUrl();
    String root = "/mortise/" + url.replaceFirst(".*namespace=", "");
    ZooKeeper newer = connected(store.shared().port());
    try (LockClient client = Trial.client(url)) {
      Lease first = client.lock("new").acquireWithin(Trial.LONG);
      String own = newer.getChildren(root + "/locks/new", false).get(0);
      newer.create(
          root + "/locks/new/" + own.replaceFirst("-.*", "-"),
          "v2 {}".getBytes(StandardCharsets.UTF_8),
          ZooDefs.Ids.OPEN_ACL_UNSAFE,
          org.apache.zookeeper.CreateMode.EPHEMERAL_SEQUENTIAL);
      first.close();
      CompletableFuture<Lease> behind = client.lock("new").acquireAsync();
      assertThat(client.lock("new").tryAcquire()).isEmpty();
      assertThat(behind).isNotDone();
      newer.close();
      BoundedWait.join(behind).close();
    } finally {
      newer.close();
    }
  }

  private static ZooKeeper connected(int port) throws Exception {
    CompletableFuture<Void> connected = new CompletableFuture<>();
    ZooKeeper client =
        new ZooKeeper("127.0.0.1:" + port, 10_000, event -> connected.complete(null));
    BoundedWait.join(connected);
    return client;
  }

  private static void useOnce(String url) {
    try (LockClient client = Trial.client(url)) {
      client.lock("used").tryAcquire().ifPresent(Lease::close);
    }
  }

  @ParameterizedTest
  @EnumSource(names = {"POSTGRESQL", "MARIADB", "MYSQL"})
  @Report({
    "Cockatrice/Cockatrice#1275",
    "openobserve/openobserve#14129",
    "drakkan/sftpgo#233",
    "inmanta/inmanta-core#1878"
  })
  void givenTablesOfANewerVersion_thenOpeningIsRefusedWithBothVersions(FieldStore store)
      throws Exception {
    LocalServer server = store.shared();
    assertRefused(server.url(), FieldStore.with(server.url(), "prefix=newer_"), "newer_");
  }

  @Test
  void givenLockFileOfANewerVersion_thenOpeningIsRefusedWithBothVersions() throws Exception {
    String url = "jdbc:sqlite:" + folder.resolve("locks.db");
    assertRefused(url, url, "mortise_");
  }

  private static void assertRefused(String database, String url, String prefix)
      throws SQLException {
    useOnce(url);
    String set = "UPDATE " + prefix + "meta SET content = '%s' WHERE fact = 'schema'";
    for (String version : List.of("2", "1.5")) {
      Trial.execute(database, set.formatted(version));
      assertThatThrownBy(() -> useOnce(url))
          .isInstanceOf(StoreUnfitException.class)
          .hasMessageContaining("have version " + version)
          .hasMessageContaining("needs 1");
    }
    Trial.execute(database, set.formatted("1"));
    useOnce(url);
  }

  @ParameterizedTest
  @EnumSource(names = {"POSTGRESQL", "MARIADB", "MYSQL"})
  @Report({
    "Altinn/altinn-studio#19986",
    "divviup/janus#2863",
    "adempiere/adempiere#2428",
    "laravel/ideas#1519",
    "rails/rails#38800"
  })
  void givenColumnsThatANewerVersionAdds_whileThisOneRuns_thenItGoesOn(FieldStore store)
      throws Exception {
    LocalServer server = store.shared();
    assertGoesOn(server.url(), FieldStore.with(server.url(), "prefix=wider_"), "wider_");
  }

  @Test
  void givenColumnsThatANewerVersionAddsToALockFile_whileThisOneRuns_thenItGoesOn()
      throws Exception {
    String url = "jdbc:sqlite:" + folder.resolve("locks.db");
    assertGoesOn(url, url, "mortise_");
  }

  private static void assertGoesOn(String database, String url, String prefix) throws Exception {
    try (LockClient one = Trial.client(url);
        LockClient other = Trial.client(url)) {
      // Enough repetitions for a driver to prepare its statements.
      for (int i = 0; i < 10; i++) {
        useAll(one, other);
      }
      Lease held = one.lock("held").acquireWithin(Trial.LONG);
      CompletableFuture<Lease> next = other.lock("held").acquireAsync();
      for (String table : TABLES) {
        Trial.execute(
            database, "ALTER TABLE " + prefix + table + " ADD COLUMN later BIGINT DEFAULT 7");
      }
      for (int i = 0; i < 10; i++) {
        useAll(one, other);
      }
      held.close();
      BoundedWait.join(next).close();
    }
    Trial.assertHandedOver(url);
  }

  @ParameterizedTest
  @EnumSource(names = {"POSTGRESQL", "MARIADB", "MYSQL"})
  @Report({"opensearch-project/query-insights#666", "opensearch-project/query-insights#673"})
  void givenNotificationAndReasonThatAreNotKnown_thenNoLeaseIsLost_andTheLockIsServed(
      FieldStore store) throws Exception {
    LocalServer server = store.shared();
    assertPassedOver(server.url(), FieldStore.with(server.url(), "prefix=told_"), "told_");
  }

  @Test
  void givenNotificationAndReasonInALockFileThatAreNotKnown_thenNoLeaseIsLost() throws Exception {
    String url = "jdbc:sqlite:" + folder.resolve("locks.db");
    assertPassedOver(url, url, "mortise_");
  }

  private static void assertPassedOver(String database, String url, String prefix)
      throws Exception {
    String news =
        "INSERT INTO "
            + prefix
            + "news (session, kind, name, attempt, token, tokens, flag, timed, how)"
            + " SELECT id, '%s', 'held', '"
            + "NewerVersion---------0"
            + "', 1, 1, 0, 0, '%s' FROM "
            + prefix
            + "session";
    Duration ttl = Duration.ofSeconds(2);
    try (LockClient client = LockClient.builder().url(url).ttl(ttl).build();
        Lease held = client.lock("held").acquireWithin(Trial.LONG)) {
      client.lock("ended").acquireWithin(Trial.LONG).close();
      client.lock("parked").acquireWithin(Trial.LONG).close();
      Trial.execute(
          database,
          news.formatted("moved", ""),
          news.formatted("gone", "REVOKED"),
          "UPDATE " + prefix + "lock SET ended_how = 'REVOKED' WHERE name = 'ended'",
          "UPDATE " + prefix + "lock SET ended_was = 'PARKED' WHERE name = 'parked'");
      // Spans several renewals.
      for (int i = 0; i < 100; i++) {
        Trial.execute(database, news.formatted("moved", ""));
      }
      BoundedWait.pass(ttl.multipliedBy(2));
      held.ensureValid();
      assertThat(client.admin().find("ended")).isPresent();
      assertThat(Trial.isGranted(client, "ended")).isTrue();
      assertThat(client.admin().find("parked")).isPresent();
      assertThat(Trial.isGranted(client, "parked")).isTrue();
      String attempt = client.admin().find("held").orElseThrow().holders().get(0).attempt();
      client.admin().evict("held", attempt, Eviction.BREAK);
      BoundedWait.until(Trial.LONG, "the holder heard of the eviction", () -> !held.isValid());
      assertThatThrownBy(held::close).isInstanceOf(LeaseLostException.class);
    }
  }

  private static void useAll(LockClient one, LockClient other) throws Exception {
    Trial.assertHandedOver(one, other, "plain");
    try (Lease first = one.readWriteLock("both").readLock().acquireWithin(Trial.LONG);
        Lease second = other.readWriteLock("both").readLock().acquireWithin(Trial.LONG)) {
      assertThat(one.readWriteLock("both").writeLock().tryAcquire()).isEmpty();
      assertThat(first.isValid() && second.isValid()).isTrue();
      assertThat(one.admin().list(LockQuery.all().summarized().page(null, 10)).items())
          .isNotEmpty();
    }
    assertThat(one.admin().find("plain")).isPresent();
    one.once("report").run(lease -> "done");
    assertThat(other.once("report").result()).isPresent();
  }
}
