package io.mortise.redis;

import static org.assertj.core.api.Assertions.assertThat;

import io.lettuce.core.RedisClient;
import io.lettuce.core.api.sync.RedisCommands;
import io.lettuce.core.codec.StringCodec;
import io.lettuce.core.output.StatusOutput;
import io.lettuce.core.protocol.CommandArgs;
import io.lettuce.core.protocol.CommandType;
import io.mortise.guarantee.GuaranteeTable;
import io.mortise.spi.LockStore;
import io.mortise.spi.StoreReport;
import io.mortise.spi.StoreReport.Finding;
import io.mortise.spi.StoreReport.Grade;
import io.mortise.testserver.RedisServer;
import java.time.Duration;
import org.awaitility.Awaitility;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/** The report on a server's settings that affect its locks. */
class RedisSettingsReportTest {
  private static final GuaranteeTable TABLE = GuaranteeTable.load();

  private static StoreReport examine(String url) {
    try (LockStore store = RedisStore.open(url)) {
      StoreReport report = SimulatedProcess.join(store.examine());
      assertThat(report.findings()).allSatisfy(finding -> finding.faults().forEach(TABLE::fault));
      assertThat(TABLE.mode(report.mode()).store()).isEqualTo("redis");
      return report;
    }
  }

  private static Finding finding(StoreReport report, String id) {
    return report.findings().stream()
        .filter(each -> each.id().equals(id))
        .findFirst()
        .orElseThrow();
  }

  @ParameterizedTest
  @EnumSource(RedisServers.class)
  void givenPersistence_whenExamined_thenTheModeAndWhatToChangeAreTold(RedisServers version) {
    try (RedisServer server = version.start();
        Admin admin = new Admin(server)) {
      StoreReport forgets = examine(server.url());
      assertThat(forgets.mode()).isEqualTo("redis/forgets");
      String product =
          server.info("server_name").equals("valkey") ? "valkey_version" : "redis_version";
      assertThat(finding(forgets, product).grade()).isEqualTo(Grade.FINE);
      assertThat(finding(forgets, "appendonly").grade()).isEqualTo(Grade.WEAK);
      assertThat(finding(forgets, "appendonly").remedy()).contains("appendonly yes");
      assertThat(finding(forgets, "appendonly").faults()).contains("server-crash", "power-loss");

      admin.commands.configSet("appendonly", "yes");
      StoreReport everysec = examine(server.url());
      assertThat(everysec.mode()).isEqualTo("redis/everysec");
      assertThat(finding(everysec, "appendfsync").grade()).isEqualTo(Grade.NOTE);
      assertThat(finding(everysec, "appendfsync").value()).isEqualTo("everysec");

      admin.commands.configSet("appendfsync", "always");
      StoreReport always = examine(server.url());
      assertThat(always.mode()).isEqualTo("redis/always");
      assertThat(always.findings()).extracting(Finding::grade).containsOnly(Grade.FINE);
    }
  }

  @Test
  void givenUserWhoMayNotReadTheConfiguration_whenExamined_thenItSaysSo() {
    assertUserWhoMayNotReadTheConfigurationIsTold("direct");
  }

  static void assertUserWhoMayNotReadTheConfigurationIsTold(String transport) {
    try (RedisServer server = RedisServers.any("--appendonly", "yes", "--appendfsync", "always");
        Admin admin = new Admin(server)) {
      admin.acl(
          "ACL SETUSER mortise on >s3cret ~m:* resetchannels &m:* +@connection +@scripting +@pubsub"
              + " +@read +@string +@hash +@list +@sortedset +info +time +del +pexpire +persist");
      String place = "127.0.0.1:" + server.port() + "?wire=" + transport;
      assertThat(examine("redis://" + place).mode()).isEqualTo("redis/always");

      StoreReport report = examine("redis://mortise:s3cret@" + place);
      assertThat(report.mode()).as("the worst that it may be").isEqualTo("redis/everysec");
      Finding unknown = finding(report, "appendfsync");
      assertThat(unknown.grade()).isEqualTo(Grade.UNKNOWN);
      assertThat(unknown.meaning()).contains("NOPERM");
      assertThat(unknown.remedy()).contains("+config|get");
      assertThat(report.toString()).doesNotContain("s3cret");
    }
  }

  @ParameterizedTest
  @EnumSource(RedisServers.class)
  void givenUserWhoMayNotAskWhoListens_whenExamined_thenItSaysSo(RedisServers version) {
    try (RedisServer server = version.start();
        Admin admin = new Admin(server)) {
      admin.acl("ACL SETUSER mortise on >s3cret ~m:* resetchannels &m:* +@all -pubsub");
      assertThat(examine(server.url()).findings()).extracting(Finding::id).doesNotContain("pubsub");
      Finding pubsub =
          finding(examine(server.url().replace("://", "://mortise:s3cret@")), "pubsub");
      assertThat(pubsub.grade()).isEqualTo(Grade.NOTE);
      assertThat(pubsub.remedy()).contains("+@pubsub");
      assertThat(pubsub.faults()).containsExactly("client-crash");
    }
  }

  @ParameterizedTest
  @EnumSource(RedisServers.class)
  void givenMemoryLimit_whenExamined_thenEvictionIsToldApartFromRefusal(RedisServers version) {
    try (RedisServer server = version.start("--maxmemory", "100mb");
        Admin admin = new Admin(server)) {
      assertThat(finding(examine(server.url()), "maxmemory").grade()).isEqualTo(Grade.FINE);
      admin.commands.configSet("maxmemory-policy", "allkeys-lru");
      Finding evicts = finding(examine(server.url() + "?accept-eviction=true"), "maxmemory-policy");
      assertThat(evicts.grade()).isEqualTo(Grade.WEAK);
      assertThat(evicts.value()).isEqualTo("allkeys-lru");
      assertThat(evicts.faults()).containsExactly("lost-data");
    }
  }

  @ParameterizedTest
  @EnumSource(RedisServers.class)
  void givenReplica_whenExamined_thenFailoverIsNoted(RedisServers version) {
    // Else the server waits for 5 s for further replicas.
    try (RedisServer server = version.start("--repl-diskless-sync-delay", "0");
        RedisServer replica = version.start();
        Admin admin = new Admin(replica)) {
      admin.commands.replicaof("127.0.0.1", server.port());
      Awaitility.await()
          .atMost(Duration.ofSeconds(20))
          .until(() -> admin.commands.info("replication").contains("master_link_status:up"));
      Finding noted = finding(examine(server.url()), "connected_slaves");
      assertThat(noted.grade()).isEqualTo(Grade.NOTE);
      assertThat(noted.faults()).containsExactly("failover");
    }
  }

  /** A user with all rights. */
  private static final class Admin implements AutoCloseable {
    private final RedisClient client;
    final RedisCommands<String, String> commands;

    Admin(RedisServer server) {
      client = RedisClient.create(server.url());
      commands = client.connect().sync();
    }

    void acl(String command) {
      String[] words = command.split(" ", -1);
      CommandArgs<String, String> args = new CommandArgs<>(StringCodec.UTF8);
      for (int i = 1; i < words.length; i++) {
        args.add(words[i]);
      }
      commands.dispatch(CommandType.ACL, new StatusOutput<>(StringCodec.UTF8), args);
    }

    @Override
    public void close() {
      client.shutdown(Duration.ZERO, Duration.ofSeconds(2));
    }
  }
}
