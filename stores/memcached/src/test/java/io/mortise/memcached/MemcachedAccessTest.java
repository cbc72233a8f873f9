package io.mortise.memcached;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.mortise.Lease;
import io.mortise.LockClient;
import io.mortise.LockOptions;
import io.mortise.StoreUnavailableException;
import io.mortise.StoreUnfitException;
import io.mortise.UnsupportedByStoreException;
import io.mortise.admin.Eviction;
import io.mortise.admin.LockParticipant;
import io.mortise.admin.LockQuery;
import io.mortise.spi.LockStore;
import io.mortise.spi.StoreReport;
import io.mortise.testserver.MemcachedServer;
import io.mortise.testserver.MemcachedServer.RawMemcachedConnection;
import java.io.IOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.ServerSocket;
import java.net.Socket;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.concurrent.CompletableFuture;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Requests and servers that are refused. */
class MemcachedAccessTest {
  private static final Duration WAIT = Duration.ofSeconds(20);

  @Test
  void givenWhatAnItemCannotKeep_thenItIsRefusedByName_andNothingIsWritten() throws Exception {
    String namespace = Memcacheds.namespace();
    try (RawMemcachedConnection raw = new RawMemcachedConnection(Memcacheds.shared().port());
        LockClient client =
            LockClient.connect(Memcacheds.shared().url() + "?namespace=" + namespace)) {
      client.lock("warm").acquireWithin(WAIT).close();
      assertThatThrownBy(() -> client.readWriteLock("x").readLock().acquire())
          .isInstanceOf(UnsupportedByStoreException.class)
          .hasMessageContaining("SHARED");
      assertThatThrownBy(() -> client.semaphore("x", 3).permits(1).acquire())
          .isInstanceOf(UnsupportedByStoreException.class)
          .hasMessageContaining("PERMITS");
      LockOptions atLeast = LockOptions.DEFAULTS.withAtLeast(WAIT);
      assertThatThrownBy(() -> client.lock("x", atLeast).acquire())
          .isInstanceOf(UnsupportedByStoreException.class)
          .hasMessageContaining("AT_LEAST");
      assertThatThrownBy(() -> client.admin().list(LockQuery.all().page(null, 10)))
          .isInstanceOf(UnsupportedByStoreException.class)
          .hasMessageContaining("cannot list locks");
      try (Lease lease = client.lock("x").acquireWithin(WAIT)) {
        assertThatThrownBy(lease::token).isInstanceOf(UnsupportedByStoreException.class);
        LockParticipant holder = client.admin().find("x").orElseThrow().holders().get(0);
        assertThatThrownBy(() -> client.admin().evict("x", holder.attempt(), Eviction.CLOSE))
            .isInstanceOf(UnsupportedByStoreException.class)
            .hasMessageContaining("cannot evict")
            .hasMessageContaining(
                "Delete the item '" + Memcacheds.key(namespace, "x") + "' if the holder is");
        assertThatThrownBy(() -> client.admin().reopen("x"))
            .isInstanceOf(UnsupportedByStoreException.class)
            .hasMessageContaining("cannot open locks");
        lease.ensureValid();
      }
      assertThat(raw.left(Memcacheds.key(namespace, "x"))).isEqualTo(-1);
    }
  }

  @Test
  void givenServerThatEvicts_thenItIsUnfit_unlessThatIsAccepted_andDoctorTells() {
    try (MemcachedServer server = Memcacheds.plain()) {
      assertThatThrownBy(() -> MemcachedStore.open(server.url()))
          .isInstanceOf(StoreUnfitException.class)
          .hasMessageContaining("Start it with -M")
          .hasMessageContaining("accept-eviction=true");
      try (LockStore store = MemcachedStore.open(server.url() + "?accept-eviction=true")) {
        StoreReport report = StoreReport.of(store);
        assertThat(report.mode()).isEqualTo("memcached/evicting");
        assertThat(report.findings())
            .filteredOn(finding -> finding.grade() == StoreReport.Grade.WEAK)
            .extracting(StoreReport.Finding::id)
            .containsExactly("evictions");
      }
    }
  }

  @Test
  void givenServerWithoutCas_thenItIsUnfit() {
    try (MemcachedServer server = Memcacheds.start("-C")) {
      assertThatThrownBy(() -> MemcachedStore.open(server.url()))
          .isInstanceOf(StoreUnfitException.class)
          .hasMessageContaining("Start it without -C");
    }
  }

  @Test
  void givenServerWithUsers_thenOneIsWanted_andTheRightOneIsLetIn(@TempDir Path folder)
      throws IOException {
    Path users = Files.writeString(folder.resolve("users"), "me:s3cret\n");
    try (MemcachedServer server = Memcacheds.start("-Y", users.toString())) {
      String address = "127.0.0.1:" + server.port();
      assertThatThrownBy(() -> MemcachedStore.open(server.url()))
          .isInstanceOf(StoreUnfitException.class)
          .hasMessageContaining("wants a user");
      assertThatThrownBy(() -> MemcachedStore.open("memcached://me:wr0ng@" + address))
          .isInstanceOf(StoreUnfitException.class)
          .hasMessageContaining("refuses the user or the password")
          .hasMessageNotContaining("wr0ng");
      MemcachedStore.open("memcached://me:s3cret@" + address).close();
    }
  }

  @Test
  void givenNobodyThere_orWhoIsSilent_thenTheStoreIsUnavailable() throws IOException {
    String url;
    try (ServerSocket silent = new ServerSocket(0, 5, InetAddress.getLoopbackAddress())) {
      url = "memcached://127.0.0.1:" + silent.getLocalPort() + "?timeout=300ms";
      assertThatThrownBy(() -> MemcachedStore.open(url))
          .isInstanceOf(StoreUnavailableException.class)
          .hasMessageContaining("no answer within 300ms");
    }
    assertThatThrownBy(() -> MemcachedStore.open(url))
        .isInstanceOf(StoreUnavailableException.class)
        .hasMessageContaining("Check that it runs");
  }

  @Test
  void givenWhoeverEndsTheConnection_thenTheMessageIsOfWholeSentences() throws IOException {
    try (ServerSocket other = new ServerSocket(0, 5, InetAddress.getLoopbackAddress())) {
      CompletableFuture<Void> ending =
          CompletableFuture.runAsync(
              () -> {
                for (int i = 0; i < 2; i++) {
                  try (Socket socket = other.accept()) {
                    socket.getInputStream().readNBytes("mn\r\n".length());
                  } catch (IOException e) {
                    // The other side has gone.
                  }
                }
              });
      assertThatThrownBy(() -> MemcachedStore.open("memcached://127.0.0.1:" + other.getLocalPort()))
          .isInstanceOf(StoreUnavailableException.class)
          .hasMessageContaining("The server ended the connection. Check");
      ending.cancel(true);
    }
  }

  @Test
  void givenProxyOfTheJvm_thenItIsNotUsed() throws IOException {
    MemcachedServer server = Memcacheds.shared();
    int nobody;
    try (ServerSocket closed = new ServerSocket(0, 5, InetAddress.getLoopbackAddress())) {
      nobody = closed.getLocalPort();
    }
    System.setProperty("socksProxyHost", "127.0.0.1");
    System.setProperty("socksProxyPort", Integer.toString(nobody));
    // Also for loopback.
    System.setProperty("socksNonProxyHosts", "");
    try (Socket control = new Socket()) {
      assertThatThrownBy(
              () ->
                  control.connect(
                      new InetSocketAddress(InetAddress.getLoopbackAddress(), server.port())))
          .as("the control")
          .isInstanceOf(IOException.class);
      MemcachedStore.open(server.url()).close();
    } finally {
      System.clearProperty("socksProxyHost");
      System.clearProperty("socksProxyPort");
      System.clearProperty("socksNonProxyHosts");
    }
  }

  @Test
  void givenServerOfAnotherKind_thenItIsUnfit_andItsWordsCannotDriveATerminal() throws IOException {
    try (ServerSocket other = new ServerSocket(0, 5, InetAddress.getLoopbackAddress())) {
      CompletableFuture<Void> answering =
          CompletableFuture.runAsync(
              () -> {
                for (int i = 0; i < 2; i++) {
                  try (Socket socket = other.accept()) {
                    byte[] answer =
                        "ERROR \u001b[31munknown\r\nERROR\r\n".getBytes(StandardCharsets.UTF_8);
                    socket.getOutputStream().write(answer);
                    socket.getInputStream().readNBytes(20);
                  } catch (IOException e) {
                    // The other side has gone.
                  }
                }
              });
      assertThatThrownBy(() -> MemcachedStore.open("memcached://127.0.0.1:" + other.getLocalPort()))
          .isInstanceOf(StoreUnfitException.class)
          .hasMessageContaining("ERROR  [31munknown")
          .hasMessageNotContaining("\u001b")
          .hasMessageContaining("correct host and port; else use memcached 1.6");
      answering.cancel(true);
    }
  }

  @Test
  void givenTtlThatIsTooShortOrTooLong_thenItIsRefusedBeforeAnythingIsSent() {
    String url = Memcacheds.shared().url();
    assertThatThrownBy(() -> LockClient.builder().url(url).ttl(Duration.ofMillis(999)).build())
        .isInstanceOf(IllegalArgumentException.class)
        .hasMessageContaining("Give at least 1s");
    assertThatThrownBy(() -> LockClient.builder().url(url).ttl(Duration.ofDays(30)).build())
        .isInstanceOf(IllegalArgumentException.class);
    assertThat(MemcachedKeys.seconds(MemcachedLockStore.MAX_TTL)).isLessThan(30 * 86_400);
    assertThat(MemcachedKeys.seconds(Duration.ofSeconds(1))).isEqualTo(5);
    assertThat(MemcachedKeys.seconds(Duration.ofMillis(1001))).isEqualTo(6);
  }
}
