package io.mortise.support.http;

import static io.mortise.support.http.HttpServersFixture.GET;
import static io.mortise.support.http.HttpServersFixture.LONG;
import static io.mortise.support.http.HttpServersFixture.await;
import static io.mortise.support.http.HttpServersFixture.join;
import static io.mortise.support.http.HttpServersFixture.servers;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.mortise.spi.time.Ticker;
import io.mortise.support.http.HttpServers.HttpResponse;
import io.mortise.support.http.ScriptedServer.ClientConnection;
import io.mortise.support.internal.server.SocketKeepAlive;
import java.io.IOException;
import java.io.InputStream;
import java.io.OutputStream;
import java.net.ConnectException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.Proxy;
import java.net.ServerSocket;
import java.net.Socket;
import java.net.SocketTimeoutException;
import java.net.URI;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.security.KeyStore;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Base64;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import java.util.concurrent.atomic.AtomicBoolean;
import javax.net.ssl.KeyManagerFactory;
import javax.net.ssl.SSLContext;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.condition.EnabledOnOs;
import org.junit.jupiter.api.condition.OS;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Opening of connections and their threads; limits of answers over TLS. */
class HttpConnectionTest {
  private static final char[] PASSWORD = "changeit".toCharArray();

  /** A port of one address that accepts no connection. */
  private static final class FullPort implements AutoCloseable {
    private static final int BACKLOG = 1;

    private final ServerSocket listening;
    private final List<Socket> waiting = new ArrayList<>();

    FullPort(String address, int port) throws IOException {
      listening = new ServerSocket(port, BACKLOG, InetAddress.getByName(address));
      boolean isFull = false;
      while (!isFull) {
        Socket next = new Socket();
        waiting.add(next);
        try {
          next.connect(listening.getLocalSocketAddress(), 200);
        } catch (SocketTimeoutException e) {
          isFull = true;
        }
      }
    }

    URI uri() {
      InetSocketAddress address = (InetSocketAddress) listening.getLocalSocketAddress();
      return URI.create("http://" + address.getHostString() + ":" + address.getPort());
    }

    @Override
    public void close() throws IOException {
      for (Socket socket : waiting) {
        socket.close();
      }
      listening.close();
    }
  }

  private static HttpConnection connection(
      ScriptedServer server, Duration limit, String... addresses) {
    URI named = URI.create("http://servers.example:" + server.uri().getPort());
    return new HttpConnection(0, 1, named, limit, Ticker.SYSTEM, host -> resolved(host, addresses));
  }

  private static InetAddress[] resolved(String host, String... addresses) {
    assertThat(host).isEqualTo("servers.example");
    InetAddress[] resolved = new InetAddress[addresses.length];
    try {
      for (int i = 0; i < addresses.length; i++) {
        resolved[i] = InetAddress.getByName(addresses[i]);
      }
    } catch (IOException e) {
      throw new AssertionError(e);
    }
    return resolved;
  }

  @Test
  void givenHostWithTwoAddresses_whenOneRefuses_thenTheOtherIsConnectedTo() throws Exception {
    try (ScriptedServer server = ScriptedServer.counting()) {
      HttpConnection first = connection(server, LONG, "127.0.0.1", "127.0.0.2");
      first.open(null);
      HttpConnection second = connection(server, LONG, "127.0.0.2", "127.0.0.1");
      second.open(null);
      await(() -> server.open.get() == 2);
      first.kill();
      second.kill();
      await(() -> server.open.get() == 0);
      assertThatThrownBy(() -> connection(server, LONG, "127.0.0.2", "127.0.0.3").open(null))
          .isInstanceOf(ConnectException.class)
          .satisfies(failure -> assertThat(failure.getSuppressed()).hasSize(1));
    }
  }

  @Test
  @EnabledOnOs(value = OS.LINUX, disabledReason = "binds 127.0.0.2, which macOS lacks")
  void givenHostWithTwoAddresses_whenOneDoesNotAnswer_thenTheOtherIsConnectedToWithinTheLimit()
      throws Exception {
    Duration limit = Duration.ofSeconds(3);
    try (ScriptedServer server = ScriptedServer.counting();
        FullPort full = new FullPort("127.0.0.2", server.uri().getPort())) {
      assertThat(full.uri().getPort()).isEqualTo(server.uri().getPort());
      HttpConnection connection = connection(server, limit, "127.0.0.2", "127.0.0.1");
      connection.open(null);
      await(() -> server.open.get() == 1);
      connection.kill();
      String[] many = new String[10];
      Arrays.fill(many, "127.0.0.2");
      long began = System.nanoTime();
      assertThatThrownBy(() -> connection(server, limit, many).open(null))
          .isInstanceOf(SocketTimeoutException.class);
      assertThat(Duration.ofNanos(System.nanoTime() - began))
          .as("the limit is for all addresses together")
          .isLessThan(limit.multipliedBy(5));
    }
  }

  @Test
  @EnabledOnOs(value = OS.LINUX, disabledReason = "binds 127.0.0.2, which macOS lacks")
  void givenConnectionThatIsKilledWhileItConnects_thenItEnds_andNoOtherAddressIsTried()
      throws Exception {
    try (ScriptedServer server = ScriptedServer.counting();
        FullPort full = new FullPort("127.0.0.2", server.uri().getPort());
        HttpServers servers = servers(LONG, full.uri())) {
      HttpConnection connection = connection(server, LONG, "127.0.0.2", "127.0.0.1");
      CompletableFuture<Void> opening =
          CompletableFuture.runAsync(
              () -> {
                try {
                  connection.open(null);
                } catch (IOException e) {
                  throw new IllegalStateException(e);
                }
              },
              task -> new Thread(task, "opening").start());
      CompletableFuture<HttpResponse> request = servers.send(GET);
      await(() -> servers.connections() == 1);
      connection.kill();
      request.cancel(true);
      assertThatThrownBy(() -> join(opening)).hasRootCauseInstanceOf(IOException.class);
      await(() -> servers.connections() == 0);
      assertThat(server.accepted).hasValue(0);
    }
  }

  /** The JDK lost some 80 of 1,000. */
  @Test
  @EnabledOnOs(value = OS.LINUX, disabledReason = "binds 127.0.0.2, which macOS lacks")
  void givenSocketThatIsClosedWhileItConnects_whenRepeated_thenEachEnds() throws Exception {
    try (FullPort full = new FullPort("127.0.0.2", 0)) {
      InetSocketAddress to = new InetSocketAddress("127.0.0.2", full.uri().getPort());
      for (int i = 0; i < 500; i++) {
        Socket socket = new Socket(Proxy.NO_PROXY);
        CountDownLatch begins = new CountDownLatch(1);
        Thread connecting =
            new Thread(
                () -> {
                  begins.countDown();
                  assertThatThrownBy(() -> SocketKeepAlive.connect(socket, to, 60_000))
                      .isInstanceOf(IOException.class);
                });
        connecting.start();
        begins.await();
        for (int spin = 0; spin < i % 200; spin++) {
          Thread.onSpinWait();
        }
        socket.close();
        connecting.join(20_000);
        assertThat(connecting.isAlive()).isFalse();
      }
    }
  }

  @Test
  @SuppressWarnings("ThreadPriorityCheck") // the test checks that this is not inherited
  void givenCallerWithSettingsOfItsOwn_thenTheThreadOfAConnectionHasNoneOfThem() throws Exception {
    InheritableThreadLocal<String> local = new InheritableThreadLocal<>();
    CountDownLatch asked = new CountDownLatch(1);
    CompletableFuture<String> seen = new CompletableFuture<>();
    try (ScriptedServer server =
            new ScriptedServer(
                client -> {
                  client.request();
                  asked.await();
                  client.answer("");
                });
        HttpServers servers = servers(LONG, server.uri())) {
      Runnable ask =
          () -> {
            local.set("caller's");
            var unused =
                servers
                    .send(GET)
                    .thenRun(
                        () -> {
                          Thread thread = Thread.currentThread();
                          seen.complete(
                              "%s %s %s %d"
                                  .formatted(
                                      thread.getName(),
                                      local.get(),
                                      thread.getContextClassLoader(),
                                      thread.getPriority()));
                        });
            asked.countDown();
          };
      Thread caller = new Thread(ask, "caller");
      caller.setPriority(Thread.MAX_PRIORITY);
      caller.setContextClassLoader(new ClassLoader() {});
      caller.start();
      assertThat(join(seen)).isEqualTo("mortise-tested-test null null " + Thread.NORM_PRIORITY);
    }
  }

  /** With TLS, one read may be any number of reads of the socket below. */
  @ParameterizedTest
  @ValueSource(booleans = {true, false})
  void givenAnswerOverTlsThatDrips_thenItIsGivenUpInTime(boolean isOneRecord, @TempDir Path folder)
      throws Exception {
    SSLContext keys = keys(folder);
    CountDownLatch over = new CountDownLatch(1);
    AtomicBoolean drips = new AtomicBoolean();
    try (ServerSocket secured =
            keys.getServerSocketFactory()
                .createServerSocket(0, 5, InetAddress.getLoopbackAddress());
        ScriptedServer between =
            new ScriptedServer(client -> carry(client, secured.getLocalPort(), drips, over))) {
      Thread server =
          new Thread(() -> answer(secured, isOneRecord ? drips : null, over), "secured");
      server.setDaemon(true);
      server.start();
      URI address = URI.create(between.uri().toString().replace("http", "https"));
      try (HttpServers servers =
          servers(Duration.ofSeconds(4), folder.resolve("cert.pem"), address)) {
        CompletableFuture<HttpResponse> answer = servers.send(GET);
        assertThatThrownBy(() -> join(answer))
            .isInstanceOf(ExecutionException.class)
            .hasCauseInstanceOf(TimeoutException.class);
        assertThat(over.getCount()).isEqualTo(1);
        await(() -> servers.connections() == 0);
      }
    } finally {
      over.countDown();
    }
  }

  /** Answers a request with a body that never ends: in one record, or in one for each byte. */
  private static void answer(
      ServerSocket secured, @Nullable AtomicBoolean drips, CountDownLatch over) {
    try (Socket socket = secured.accept()) {
      InputStream in = socket.getInputStream();
      String request = "";
      while (!request.endsWith("\r\n\r\n")) {
        request += (char) in.read();
      }
      OutputStream out = socket.getOutputStream();
      String head = "HTTP/1.1 200 OK\r\n\r\n";
      if (drips != null) {
        drips.set(true);
        head += "x".repeat(10_000);
      }
      out.write(head.getBytes(StandardCharsets.US_ASCII));
      while (!over.await(10, TimeUnit.MILLISECONDS)) {
        out.write('x');
      }
    } catch (IOException | InterruptedException e) {
      // The client has given up.
    }
  }

  /** Carries bytes both ways; to the client one by one once that is requested. */
  private static void carry(
      ClientConnection client, int port, AtomicBoolean drips, CountDownLatch over)
      throws Exception {
    try (Socket server = new Socket(InetAddress.getLoopbackAddress(), port)) {
      Thread requests = new Thread(() -> carryRequests(client, server), "requests");
      requests.setDaemon(true);
      requests.start();
      InputStream in = server.getInputStream();
      for (int next = in.read(); next >= 0; next = in.read()) {
        if (drips.get() && over.await(10, TimeUnit.MILLISECONDS)) {
          return;
        }
        client.send(String.valueOf((char) next));
      }
    }
  }

  private static void carryRequests(ClientConnection client, Socket server) {
    try {
      for (int next = client.firstByte(); next >= 0; next = client.firstByte()) {
        server.getOutputStream().write(next);
      }
      server.close();
    } catch (IOException e) {
      // One of the sockets is closed.
    }
  }

  /** The key of a server at 127.0.0.1, whose certificate is in the file {@code cert.pem}. */
  private static SSLContext keys(Path folder) throws Exception {
    Path file = folder.resolve("keys.p12");
    List<String> command = new ArrayList<>();
    command.add(Path.of(System.getProperty("java.home"), "bin", "keytool").toString());
    command.addAll(List.of("-genkeypair", "-alias", "a", "-keyalg", "EC", "-dname", "CN=a"));
    command.addAll(List.of("-ext", "san=ip:127.0.0.1", "-storetype", "PKCS12"));
    command.addAll(List.of("-storepass", "changeit", "-keystore", file.toString()));
    Process making = new ProcessBuilder(command).redirectErrorStream(true).start();
    assertThat(making.waitFor(60, TimeUnit.SECONDS)).isTrue();
    KeyStore store = KeyStore.getInstance(file.toFile(), PASSWORD);
    Files.writeString(
        folder.resolve("cert.pem"),
        "-----BEGIN CERTIFICATE-----\n"
            + Base64.getMimeEncoder().encodeToString(store.getCertificate("a").getEncoded())
            + "\n-----END CERTIFICATE-----\n");
    KeyManagerFactory managers =
        KeyManagerFactory.getInstance(KeyManagerFactory.getDefaultAlgorithm());
    managers.init(store, PASSWORD);
    SSLContext context = SSLContext.getInstance("TLS");
    context.init(managers.getKeyManagers(), null, null);
    return context;
  }
}
