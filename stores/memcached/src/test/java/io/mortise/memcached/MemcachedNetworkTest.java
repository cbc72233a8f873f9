package io.mortise.memcached;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.awaitility.Awaitility.await;

import io.mortise.Lease;
import io.mortise.LockClient;
import io.mortise.StoreUnavailableException;
import io.mortise.testkit.contract.client.NetworkContract;
import io.mortise.testkit.server.FaultInjectionProxy;
import io.mortise.testkit.server.JvmProcess;
import io.mortise.testkit.server.LocalServer;
import io.mortise.testserver.MemcachedServer;
import io.mortise.testserver.MemcachedServer.RawMemcachedConnection;
import io.mortise.verification.log.RecordedLog;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.Optional;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Networks between a client and its server. */
@Tag("extended")
class MemcachedNetworkTest extends NetworkContract {
  private static final Duration WAIT = Duration.ofSeconds(20);

  MemcachedNetworkTest() {
    super(() -> Memcacheds.shared().url() + "?namespace=network", "timeout", Duration.ofSeconds(1));
  }

  /** Each second a connection asks for a sign of life, which takes the timeout. */
  @Override
  protected Duration idle() {
    return Duration.ofSeconds(6);
  }

  @Override
  protected Optional<LocalServer> another() {
    return Optional.of(Memcacheds.start());
  }

  private static String url(FaultInjectionProxy proxy, String timeout) {
    return "memcached://127.0.0.1:%d?timeout=%s&namespace=%s"
        .formatted(proxy.port(), timeout, Memcacheds.namespace());
  }

  private static long connections(RawMemcachedConnection raw) {
    long total = -1;
    for (String line = raw.ask("stats"); !line.equals("END"); line = raw.read()) {
      if (line.startsWith("STAT total_connections ")) {
        total = Long.parseLong(line.substring(line.lastIndexOf(' ') + 1));
      }
    }
    return total;
  }

  @Test
  void givenConnectionsThatAFirewallForgot_thenTheyAreReplacedBeforeALockIsWanted()
      throws Exception {
    try (MemcachedServer server = Memcacheds.start();
        RawMemcachedConnection raw = new RawMemcachedConnection(server.port());
        FaultInjectionProxy proxy = FaultInjectionProxy.to(server.port());
        LockClient client = LockClient.connect(url(proxy, "500ms"))) {
      client.lock("a").acquireWithin(WAIT).close();
      proxy.halfOpen();
      long before = connections(raw);
      await().atMost(WAIT).until(() -> connections(raw) >= before + 2);
      try (Lease lease = client.lock("a").tryAcquire().orElseThrow()) {
        assertThat(lease.isValid()).isTrue();
      }
      assertThat(RecordedLog.linesWith(Integer.toString(proxy.port())))
          .as("of connections on which nothing hangs")
          .noneMatch(line -> line.startsWith("WARN MetaTransport"));
    }
  }

  @Test
  void givenOneAddressOfTwoServers_thenItIsRefusedByName_andLoggedOnce() {
    try (MemcachedServer one = Memcacheds.start();
        MemcachedServer other = Memcacheds.start();
        FaultInjectionProxy proxy = FaultInjectionProxy.to(one.port())) {
      proxy.spread(one.port(), other.port());
      try (LockClient client = LockClient.connect(url(proxy, "2s"))) {
        assertThatThrownBy(() -> client.lock("a").tryAcquire())
            .isInstanceOf(StoreUnavailableException.class)
            .hasMessageContaining("its address leads to different servers");
        await()
            .atMost(WAIT)
            .untilAsserted(
                () ->
                    assertThatThrownBy(() -> client.lock("a").tryAcquire())
                        .hasMessageContaining("Connections lead to different memcached servers"));
      }
      assertThat(RecordedLog.linesWith(Integer.toString(proxy.port())))
          .filteredOn(line -> line.contains("Connections lead to different"))
          .hasSize(1);
    }
  }

  @Test
  void givenServerThatIsReplacedByAnother_thenLocksAreTakenThere() throws Exception {
    try (MemcachedServer one = Memcacheds.start();
        MemcachedServer other = Memcacheds.start();
        FaultInjectionProxy proxy = FaultInjectionProxy.to(one.port());
        LockClient client = LockClient.connect(url(proxy, "2s"))) {
      client.lock("a").acquireWithin(WAIT).close();
      proxy.lead(other.port());
      client.lock("a").acquireWithin(WAIT).close();
    }
  }

  @Test
  void givenNameWhoseFirstAddressIsClosed_thenTheNextOneIsTried(@TempDir Path folder)
      throws Exception {
    Path hosts = folder.resolve("hosts");
    Files.writeString(hosts, "127.0.0.9 dual.test\n127.0.0.1 dual.test\n");
    String url = Memcacheds.shared().url().replace("127.0.0.1", "dual.test");
    List<String> with = List.of("env", "JAVA_TOOL_OPTIONS=-Djdk.net.hosts.file=" + hosts);
    try (JvmProcess process =
        JvmProcess.start(with, TryOnce.class, url + "?namespace=" + Memcacheds.namespace())) {
      assertThat(process.line()).isEqualTo("granted");
    }
  }
}
