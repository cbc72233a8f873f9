package io.mortise.field;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.mortise.LockClient;
import io.mortise.StoreUnavailableException;
import io.mortise.StoreUnfitException;
import io.mortise.testkit.BoundedWait;
import io.mortise.testkit.server.LocalServer;
import io.mortise.testserver.MemcachedServer.RawMemcachedConnection;
import io.mortise.testserver.NatsServer;
import io.mortise.testserver.RedisSecurity;
import io.mortise.testserver.RedisServer;
import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStreamReader;
import java.io.OutputStream;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.net.Socket;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.security.KeyStore;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.atomic.AtomicReference;
import javax.net.ssl.KeyManagerFactory;
import javax.net.ssl.SSLContext;
import javax.net.ssl.SSLServerSocket;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/**
 * Servers that refuse clients for now, or speak another protocol. The reasons that opening gives
 * are true.
 */
@Tag("extended")
class FalseReasonsTest {

  @TempDir private Path folder;

  private static boolean isOpened(String url) {
    try {
      LockClient.connect(url).close();
      return true;
    } catch (StoreUnavailableException e) {
      return false;
    }
  }

  private static LockClient letIn(String url) {
    AtomicReference<LockClient> client = new AtomicReference<>();
    BoundedWait.until(
        Trial.LONG,
        "let in",
        () -> {
          try {
            client.set(LockClient.connect(url));
            return true;
          } catch (StoreUnavailableException e) {
            return false;
          }
        });
    return client.get();
  }

  @Test
  @Report({"memcached/memcached#918", "memcached/memcached#700", "bradfitz/gomemcache#103"})
  void givenMemcachedWithAllConnectionsThatItTakes_thenItIsAnOutageThatSaysSo_andEnds() {
    try (LocalServer server = FieldStore.MEMCACHED.start("-c", "40", "-t", "1")) {
      List<RawMemcachedConnection> others = new ArrayList<>();
      try (LockClient open = LockClient.connect(server.url() + "?timeout=1s")) {
        assertThat(Trial.isGranted(open, "x")).isTrue();
        fill(server, others);
        assertThatThrownBy(() -> LockClient.connect(server.url() + "?timeout=1s").close())
            .isInstanceOf(StoreUnavailableException.class)
            .hasMessageContaining("as many connections as it takes (-c)");
        assertThat(Trial.isGranted(open, "x")).as("who is in stays in").isTrue();
      } finally {
        others.forEach(RawMemcachedConnection::close);
      }
      BoundedWait.until(Trial.LONG, "let in", () -> isOpened(server.url() + "?timeout=1s"));
    }
  }

  private static void fill(LocalServer server, List<RawMemcachedConnection> others) {
    boolean isFull = false;
    while (!isFull && others.size() < 100) {
      RawMemcachedConnection other = new RawMemcachedConnection(server.port());
      others.add(other);
      isFull = !other.ask("mn").equals("MN");
    }
  }

  @Test
  @Report({
    "sixhours-team/memcached-spring-boot#167",
    "thanos-io/thanos#7270",
    "killme2008/xmemcached#148"
  })
  void givenMemcachedBehindTls_thenItIsUnfit_andTlsIsNamed() throws Exception {
    RedisSecurity.make(folder, "", "");
    char[] password = "changeit".toCharArray();
    KeyManagerFactory keys = KeyManagerFactory.getInstance(KeyManagerFactory.getDefaultAlgorithm());
    keys.init(KeyStore.getInstance(folder.resolve("keys.p12").toFile(), password), password);
    SSLContext tls = SSLContext.getInstance("TLS");
    tls.init(keys.getKeyManagers(), null, null);
    try (SSLServerSocket server =
        (SSLServerSocket)
            tls.getServerSocketFactory()
                .createServerSocket(0, 10, InetAddress.getLoopbackAddress())) {
      start(() -> answer(server));
      assertThatThrownBy(
              () ->
                  LockClient.connect(
                      "memcached://127.0.0.1:" + server.getLocalPort() + "?timeout=1s"))
          .isInstanceOf(StoreUnfitException.class)
          .hasMessageContaining("speaks TLS on this port, which this store does not");
    }
  }

  /** Serves each connection on its own thread: an incomplete handshake blocks no other. */
  private static void answer(SSLServerSocket server) {
    while (!server.isClosed()) {
      try {
        Socket client = server.accept();
        start(() -> answer(client));
      } catch (IOException e) {
        // The server is closed.
      }
    }
  }

  private static void answer(Socket connection) {
    try (connection) {
      var unused = connection.getInputStream().read();
    } catch (IOException e) {
      // The client sent no handshake.
    }
  }

  private static void start(Runnable task) {
    Thread thread = new Thread(task, "tls");
    thread.setDaemon(true);
    thread.start();
  }

  @Test
  @Report({"nats-io/nats-server#5738", "nats-io/nats.net.v1#572"})
  void givenClusterWithoutALeaderOfJetStream_thenItIsAnOutage_andEnds() {
    List<Integer> routes =
        List.of(RedisServer.freePort(), RedisServer.freePort(), RedisServer.freePort());
    List<NatsServer> servers = new ArrayList<>();
    try {
      for (int route : routes) {
        servers.add((NatsServer) FieldStore.NATS.start(member(route, routes.get(0))));
      }
      String url = servers.get(0).url() + "?timeout=2s";
      BoundedWait.until(Trial.LONG, "opened", () -> isOpened(url));
      servers.get(1).kill();
      servers.get(2).kill();
      BoundedWait.until(Trial.LONG, "without a leader", () -> !isOpened(url));
      assertThatThrownBy(() -> LockClient.connect(url).close())
          .isInstanceOf(StoreUnavailableException.class)
          .hasMessageNotContaining("is not enabled");
      servers.get(1).restart();
      BoundedWait.until(Trial.LONG, "opened again", () -> isOpened(url));
    } finally {
      servers.forEach(NatsServer::close);
    }
  }

  /** It forwards requests to members with JetStream, none of which is up. */
  @Test
  @Report({"nats-io/nats.java#708", "nats-io/jetstream#509"})
  void givenServerOfAClusterThatHasNoJetStreamItself_thenNoResponderIsAnOutage() throws Exception {
    try (ServerSocket server = new ServerSocket(0, 10, InetAddress.getLoopbackAddress())) {
      Thread answering = new Thread(() -> answerWithoutResponders(server));
      answering.setDaemon(true);
      answering.start();
      assertThatThrownBy(
              () -> LockClient.connect("nats://127.0.0.1:" + server.getLocalPort()).close())
          .isInstanceOf(StoreUnavailableException.class)
          .hasMessageContaining("no server with JetStream now");
    }
  }

  /** Acts as a NATS server for one client. */
  private static void answerWithoutResponders(ServerSocket server) {
    try (Socket client = server.accept();
        BufferedReader lines =
            new BufferedReader(
                new InputStreamReader(client.getInputStream(), StandardCharsets.UTF_8))) {
      OutputStream to = client.getOutputStream();
      to.write(
          "INFO {\"server_id\":\"S\",\"version\":\"2.9.10\",\"proto\":1,\"headers\":true,\"max_payload\":1048576,\"cluster\":\"c\"}\r\n"
              .getBytes(StandardCharsets.UTF_8));
      String inbox = "";
      for (String line = lines.readLine(); line != null; line = lines.readLine()) {
        String[] words = line.split(" ", -1);
        String answer =
            switch (words[0]) {
              case "PING" -> "PONG\r\n";
              case "PUB", "HPUB" ->
                  "HMSG " + words[2] + " " + inbox + " 16 16\r\nNATS/1.0 503\r\n\r\n\r\n";
              default -> "";
            };
        inbox = words[0].equals("SUB") ? words[words.length - 1] : inbox;
        to.write(answer.getBytes(StandardCharsets.UTF_8));
      }
    } catch (IOException e) {
      // The client has disconnected.
    }
  }

  @Test
  @Report({"nats-io/nats-server#7527", "nats-io/nats.go#1921"})
  void givenNatsWithAllConnectionsThatItTakes_thenItIsAnOutage_andEnds() throws Exception {
    Path limits = Files.writeString(folder.resolve("nats.conf"), "max_connections: 1\n");
    try (LocalServer server = FieldStore.NATS.start("-c", limits.toString())) {
      String url = server.url() + "?timeout=1s";
      // The server may not have noticed yet that the probing connection is closed.
      try (LockClient first = letIn(url)) {
        assertThat(Trial.isGranted(first, "x")).isTrue();
        assertThatThrownBy(() -> LockClient.connect(url).close())
            .isInstanceOf(StoreUnavailableException.class)
            .hasMessageNotContaining("Read past");
        assertThat(Trial.isGranted(first, "x")).as("who is in stays in").isTrue();
      }
      BoundedWait.until(Trial.LONG, "let in", () -> isOpened(url));
    }
  }

  private static String[] member(int route, int first) {
    return new String[] {
      "-n", "n" + route,
      "-cluster_name", "c",
      "-cluster", "nats://127.0.0.1:" + route,
      "-routes", "nats://127.0.0.1:" + first
    };
  }
}
