package io.mortise.zookeeper.internal;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.mortise.StoreUnavailableException;
import io.mortise.StoreUnfitException;
import io.mortise.spi.StoreUrl;
import io.mortise.spi.time.Ticker;
import io.mortise.testkit.BoundedWait;
import io.mortise.zookeeper.internal.TlsExamination.TlsResult;
import java.io.IOException;
import java.io.OutputStream;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.net.Socket;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.stream.Collectors;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/** The conclusions from the first bytes that servers answer. */
class TlsExaminationTest {
  private static final int TLS_HANDSHAKE = 0x16;
  private static final int TLS_ALERT = 0x15;

  private final ExecutorService threads = Executors.newCachedThreadPool();
  private final List<ServerSocket> servers = new ArrayList<>();
  private final AtomicBoolean starting = new AtomicBoolean(true);

  /** The service at a port. */
  private enum Port {
    PLAIN,
    TLS,
    /** Closes the first handshake, as a starting server does. */
    TLS_THAT_STARTS,
    /** Refuses a handshake, as a server without a TLS version of ours does. */
    TLS_THAT_REFUSES,
    UNIFIED,
    /** Serves both, and is slow at handshakes. */
    UNIFIED_AND_SLOW,
    /** Closes each connection, as a member of an ensemble without a majority may. */
    CLOSING,
    /** Accepts connections and sends nothing, as a starting standalone server does. */
    SILENT
  }

  @AfterEach
  void close() throws IOException {
    for (ServerSocket server : servers) {
      server.close();
    }
    threads.shutdownNow();
  }

  private String start(Port port) {
    try {
      ServerSocket server = new ServerSocket(0, 50, InetAddress.getLoopbackAddress());
      servers.add(server);
      threads.execute(
          () -> {
            while (!server.isClosed()) {
              try {
                Socket socket = server.accept();
                threads.execute(() -> serve(port, socket));
              } catch (IOException e) {
                return;
              }
            }
          });
      return "127.0.0.1:" + server.getLocalPort();
    } catch (IOException e) {
      throw new AssertionError(e);
    }
  }

  private static boolean isTls(Port port) {
    return port == Port.TLS || port == Port.TLS_THAT_STARTS;
  }

  private void serve(Port port, Socket socket) {
    try (socket) {
      boolean handshake = socket.getInputStream().read() == TLS_HANDSHAKE;
      if (port == Port.TLS_THAT_STARTS && handshake && starting.getAndSet(false)) {
        return;
      }
      if (port == Port.SILENT || (port == Port.UNIFIED_AND_SLOW && handshake)) {
        // Until the client closes it.
        socket.getInputStream().transferTo(OutputStream.nullOutputStream());
      } else if (handshake && (isTls(port) || port == Port.UNIFIED)) {
        socket.getOutputStream().write(TLS_HANDSHAKE);
      } else if (isTls(port) || port == Port.TLS_THAT_REFUSES) {
        socket.getOutputStream().write(TLS_ALERT);
      } else if (!handshake && port != Port.CLOSING) {
        socket.getOutputStream().write("srvr is not".getBytes(StandardCharsets.US_ASCII));
      }
    } catch (IOException e) {
      // The client has closed it.
    }
  }

  private TlsResult examine(boolean wantsTls, Port... ports) {
    String hosts = List.of(ports).stream().map(this::start).collect(Collectors.joining(","));
    return BoundedWait.join(
        TlsExamination.examine(hosts, wantsTls, Duration.ofSeconds(1), threads));
  }

  @ParameterizedTest
  @EnumSource(names = {"TLS", "TLS_THAT_REFUSES"})
  void givenPortWithTls_whenTheUrlIsWithout_thenItIsAMismatch(Port port) {
    TlsResult found = examine(false, port);
    assertThat(found.mismatch()).contains("speaks TLS only").contains("Add tls=true");
    assertThat(found.isCertain()).isTrue();
  }

  @Test
  void givenPortWithoutTls_whenTheUrlWantsIt_thenItIsAMismatch() {
    TlsResult found = examine(true, Port.PLAIN);
    assertThat(found.mismatch()).contains("does not speak TLS").contains("Leave out tls=true");
    assertThat(found.isCertain()).isTrue();
  }

  @ParameterizedTest
  @EnumSource(names = {"CLOSING", "SILENT"})
  void givenServerThatTellsNothing_thenNothingIsSaidOfTls(Port port) {
    assertThat(examine(true, port)).isEqualTo(TlsResult.NOTHING);
    assertThat(examine(false, port)).isEqualTo(TlsResult.NOTHING);
  }

  @Test
  void givenPortThatServesBoth_thenNeitherIsAMismatch() {
    assertThat(examine(false, Port.UNIFIED).mismatch()).isEmpty();
    assertThat(examine(true, Port.UNIFIED).mismatch()).isEmpty();
    assertThat(examine(true, Port.UNIFIED).hint()).contains("certificate");
  }

  @Test
  void givenPortWhoseHandshakeTakesTooLong_thenThatItSpeaksPlainlyIsNoMismatch() {
    assertThat(examine(true, Port.UNIFIED_AND_SLOW)).isEqualTo(TlsResult.NOTHING);
  }

  @Test
  void givenOneServerThatFits_thenTheOthersAreNoMismatch() {
    assertThat(examine(false, Port.TLS, Port.PLAIN)).isEqualTo(TlsResult.NOTHING);
    assertThat(examine(true, Port.PLAIN, Port.TLS).mismatch()).isEmpty();
  }

  @Test
  void givenHostWithoutAnAddress_thenTheHintNamesIt() {
    CompletableFuture<TlsResult> found =
        TlsExamination.examine("no-such-host.invalid:2181", false, Duration.ofSeconds(1), threads);
    assertThat(found)
        .succeedsWithin(Duration.ofSeconds(20))
        .isEqualTo(
            new TlsResult(
                "", false, " The store URL has an unknown host, 'no-such-host.invalid'."));
  }

  @Test
  void givenOneServerThatTellsNothing_thenTheMismatchOfTheOtherIsNotCertain() {
    TlsResult found = examine(false, Port.CLOSING, Port.TLS);
    assertThat(found.mismatch()).contains("speaks TLS only");
    assertThat(found.isCertain()).isFalse();
  }

  private AdminConnection connection(Port port, String parameters) {
    ZooKeeperTarget target =
        ZooKeeperTarget.parse(StoreUrl.parse("zk://" + start(port) + parameters), Set.of());
    return new AdminConnection(
        ZooKeeperConnector.to(target), "test", Duration.ofSeconds(4), threads, Ticker.SYSTEM);
  }

  @ParameterizedTest
  @EnumSource(names = {"TLS", "TLS_THAT_STARTS"})
  void givenMismatch_whenConnecting_thenTheStoreIsUnfit(Port port) {
    AdminConnection connection = connection(port, "");
    assertThatThrownBy(connection::awaitConnected)
        .isInstanceOf(StoreUnfitException.class)
        .hasMessageStartingWith("Store 'test' cannot be used: '127.0.0.1:")
        .hasMessageContaining("speaks TLS only");
    connection.close();
  }

  @Test
  void givenServerThatSpeaksTls_whenNoConnectionComesAbout_thenTheMessageNamesCertificates() {
    AdminConnection connection = connection(Port.TLS, "?tls=true");
    assertThatThrownBy(connection::awaitConnected)
        .isInstanceOf(StoreUnavailableException.class)
        .hasMessageStartingWith("Cannot reach store 'test' within 4s.")
        .hasMessageContaining("each side trusts the other's certificate");
    connection.close();
  }
}
