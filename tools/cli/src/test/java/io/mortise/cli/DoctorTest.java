package io.mortise.cli;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;

import com.fasterxml.jackson.jr.ob.JSON;
import io.mortise.cli.view.StoreDiagnostics;
import io.mortise.testkit.TestPrerequisites;
import io.mortise.testserver.ConsulServer;
import io.mortise.testserver.EtcdServer;
import io.mortise.testserver.MemcachedServer;
import io.mortise.testserver.NatsServer;
import io.mortise.testserver.RedisServer;
import java.io.ByteArrayOutputStream;
import java.io.InputStream;
import java.io.PrintStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.condition.DisabledIfSystemProperty;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** Reports on real servers, with good and bad settings. */
class DoctorTest {
  private final ByteArrayOutputStream out = new ByteArrayOutputStream();
  private final ByteArrayOutputStream err = new ByteArrayOutputStream();

  private int doctor(String url, String... more) {
    out.reset();
    err.reset();
    String[] words = new String[1 + more.length];
    words[0] = "doctor";
    System.arraycopy(more, 0, words, 1, more.length);
    return Main.execute(
        new CliEnvironment(
            Map.of("MORTISE_STORE", url),
            new StoreConnector(),
            InputStream.nullInputStream(),
            new PrintStream(out, true, UTF_8),
            new PrintStream(err, true, UTF_8)),
        words);
  }

  private String said() {
    return out.toString(UTF_8);
  }

  private static RedisServer redis(String... arguments) {
    return RedisServer.start(
        TestPrerequisites.required(RedisServer.bundled(), "The Redis server"), arguments);
  }

  @Test
  void givenServerThatForgets_whenLookedAt_thenStatusIs1AndTheRemedyIsTold() {
    try (RedisServer server = redis()) {
      assertThat(doctor(server.url())).as(err.toString(UTF_8)).isEqualTo(ExitStatus.FAILED);
      assertThat(said())
          .contains("Store redis:127.0.0.1:" + server.port())
          .contains("  WEAK  appendonly: no", "For more: Set appendonly yes")
          .contains("Decides: Power loss, Server crash.")
          .contains("  ok    a lock: token ", "  ok    round trip: ", "  ok    clock rate: ")
          .contains("It is in mode redis/forgets: Redis or Valkey, one server")
          .contains("  detected by token  client pause, server crash, power loss");
    }
  }

  @ParameterizedTest
  @CsvSource({"PT0.00025S, 0.25ms", "PT0.0123S, 12ms", "PT1.54S, 1.5s", "PT83M, 1h23m"})
  void givenMeasuredTime_thenItIsWrittenAsDurationsAre(Duration time, String text) {
    assertThat(StoreDiagnostics.time(time)).isEqualTo(text);
  }

  @Test
  void givenServerThatForcesItsLog_whenLookedAt_thenStatusIs0() throws Exception {
    try (RedisServer server = redis("--appendonly", "yes", "--appendfsync", "always")) {
      assertThat(doctor(server.url(), "--json")).as(said()).isZero();
      Map<String, Object> object = JSON.std.mapFrom(said());
      assertThat(object).containsEntry("mode", "redis/always").containsEntry("healthy", true);
      Map<?, ?> guarantees = (Map<?, ?>) object.get("guarantees");
      assertThat(guarantees.get("server-crash")).isEqualTo("delayed");
      assertThat(guarantees.get("client-pause")).isEqualTo("detected");
      assertThat((List<?>) object.get("findings")).hasSizeGreaterThan(7);
    }
  }

  @Test
  void givenServerThatEvicts_whenLookedAt_thenItIsRefused_orTheRiskIsTold() {
    try (RedisServer server = redis("--maxmemory", "100mb", "--maxmemory-policy", "allkeys-lru")) {
      assertThat(doctor(server.url())).isEqualTo(ExitStatus.STORE);
      assertThat(err.toString(UTF_8)).contains("may evict locks", "noeviction");
      assertThat(doctor(server.url() + "?accept-eviction=true")).isEqualTo(ExitStatus.FAILED);
      assertThat(said()).contains("  WEAK  maxmemory-policy: allkeys-lru");
    }
  }

  @Test
  void givenWrongPasswordOrNoServer_whenLookedAt_thenStatusIs69AndNoSecretIsShown() {
    try (RedisServer server = redis("--requirepass", "s3cret")) {
      assertThat(doctor("redis://:hunter2@127.0.0.1:" + server.port())).isEqualTo(ExitStatus.STORE);
      assertThat(err.toString(UTF_8)).contains("refused the credentials").doesNotContain("hunter2");
      assertThat(doctor("redis://:s3cret@127.0.0.1:" + server.port(), "--verbose"))
          .isEqualTo(ExitStatus.FAILED);
      assertThat(said() + err.toString(UTF_8)).doesNotContain("s3cret");
    }
    assertThat(doctor("redis://127.0.0.1:" + RedisServer.freePort())).isEqualTo(ExitStatus.STORE);
    assertThat(err.toString(UTF_8)).contains("Cannot reach Redis");
    assertThat(said()).isEmpty();
  }

  @Test
  void givenEtcd_whenLookedAt_thenItsVersionSizeAlarmsAndMembersAreTold() {
    Path program = TestPrerequisites.required(EtcdServer.installed(), "The program etcd");
    try (EtcdServer server = EtcdServer.start(program)) {
      assertThat(doctor(server.url(), "--verbose")).as(said() + err.toString(UTF_8)).isZero();
      assertThat(said())
          .contains("Store etcd:127.0.0.1:" + server.port())
          .contains("  ok    version: 3.", "  ok    dbSize: ", "  ok    alarms: none")
          .contains("members: 1", "  ok    a lock: token ")
          .contains("It is in mode etcd: etcd, without")
          .doesNotContain("  ok    clock");
    }
  }

  @Test
  @DisabledIfSystemProperty(
      named = "mortise.consul",
      matches = "none",
      disabledReason = "there is no Consul here")
  void givenConsul_whenLookedAt_thenItsVersionStorageAndServersAreTold() {
    Path program = TestPrerequisites.required(ConsulServer.installed(), "The program consul");
    try (ConsulServer server = ConsulServer.start(program)) {
      assertThat(doctor(server.url(), "--verbose")).as(said() + err.toString(UTF_8)).isZero();
      assertThat(said())
          .contains("Store consul:127.0.0.1:" + server.port())
          .contains("  ok    version: 1.", "  ok    storage: disk", "  ok    leader: 127.0.0.1:")
          .contains("  note  servers: 1", "  note  acl: disabled", "  ok    a lock: token ")
          .contains("It is in mode consul: ")
          .doesNotContain("  ok    clock");
    }
  }

  @Test
  void givenNats_whenLookedAt_thenItsVersionIsTold_andWhatItDoesNotTell() {
    Path program = TestPrerequisites.required(NatsServer.installed(), "The program nats-server");
    try (NatsServer server = NatsServer.start(program)) {
      assertThat(doctor(server.url(), "--verbose")).isEqualTo(ExitStatus.FAILED);
      assertThat(said())
          .contains("Store nats:127.0.0.1:" + server.port())
          .contains("  ok    version: 2.", "  ?     sync_interval", "  ok    a lock: token ")
          .contains("It is in mode nats: NATS JetStream")
          .doesNotContain("  ok    clock");
      assertThat(doctor(server.url() + "?sync-always=true")).as(said()).isZero();
      assertThat(said()).contains("  note  sync_interval: always, by the URL");
    }
  }

  @Test
  void givenMemcached_whenLookedAt_thenALockIsTakenWithoutAToken() throws Exception {
    Path program = TestPrerequisites.required(MemcachedServer.installed(), "The program memcached");
    try (MemcachedServer server = MemcachedServer.start(program, "-M")) {
      assertThatALockIsTakenWithoutAToken("memcached", server.url());
      assertThat(said()).contains("It is in mode memcached: ");
    }
  }

  @Test
  void givenPlainRedis_whenLookedAt_thenALockIsTakenWithoutAToken() throws Exception {
    try (RedisServer server = redis()) {
      assertThatALockIsTakenWithoutAToken(
          "redis-plain", server.url().replace("redis:", "redis-plain:"));
    }
  }

  private void assertThatALockIsTakenWithoutAToken(String mode, String url) throws Exception {
    int status = doctor(url, "--json");
    assertThat(status).as(said() + err).isIn(ExitStatus.OK, ExitStatus.FAILED);
    assertThat(JSON.std.mapFrom(said())).containsEntry("mode", mode);
    assertThat(doctor(url, "--verbose")).as(said() + err).isEqualTo(status);
    assertThat(said())
        .contains("  note  token: none", "  ok    a lock: taken and given back")
        .contains("  ok    round trip: ");
  }

  @Test
  void givenFileOfThisHost_whenLookedAt_thenItsReachIsToldAndNothingIsLeft(@TempDir Path folder)
      throws Exception {
    Path file = folder.resolve("locks.db");
    assertThat(doctor("jdbc:sqlite:" + file)).as("no file is made").isEqualTo(ExitStatus.STORE);
    assertThat(folder).isEmptyDirectory();
    assertThat(doctor("jdbc:sqlite:" + file + "?create=true", "--verbose"))
        .as(err.toString(UTF_8))
        .isZero();
    assertThat(said())
        .contains("those of other hosts do not", "It is in mode sqlite: SQLite on Linux");
    assertThat(doctor("mem:")).isZero();
    assertThat(said()).contains("It is in mode mem");
    assertThat(Files.exists(file)).isTrue();
  }
}
