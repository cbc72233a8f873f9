package io.mortise.console.internal.http;

import static org.assertj.core.api.Assertions.assertThat;

import io.mortise.spi.time.Ticker;
import io.mortise.testkit.BoundedWait;
import java.io.IOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.Socket;
import java.nio.charset.StandardCharsets;
import java.security.SecureRandom;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.Test;

/** The threads of the server under load, with an API of the test. */
class ConsoleServerTest {
  private static final int THREADS = 16;

  /** More than the buffers of both sockets can hold. */
  private static final byte[] LARGE = new byte[4 << 20];

  private final AccessToken token = AccessToken.random(new SecureRandom(), Ticker.SYSTEM);
  private final AtomicInteger done = new AtomicInteger();

  private ConsoleResponse act(ConsoleRequest request) {
    assertThat(request.body()).isNotEmpty();
    done.incrementAndGet();
    return ConsoleResponse.of("application/octet-stream", LARGE);
  }

  @Test
  void givenAllThreadsWriteToSlowClients_andOthersWait_thenEachActionIsAnsweredWhole()
      throws IOException {
    List<Socket> slow = new ArrayList<>();
    try (ConsoleServer server =
        ConsoleServer.start(
            new InetSocketAddress(InetAddress.getLoopbackAddress(), 0),
            1,
            address -> ConsoleSite.alone(address, null, token, this::act))) {
      String post =
          String.join(
              "\r\n",
              "POST /api/v1/act HTTP/1.1",
              "Host: 127.0.0.1:" + server.address().getPort(),
              "Authorization: Bearer " + token.value(),
              "Content-Type: application/json",
              "Content-Length: 2",
              "Connection: close",
              "",
              "{}");
      for (int i = 0; i < THREADS + 4; i++) {
        Socket socket = new Socket();
        slow.add(socket);
        socket.setReceiveBufferSize(1 << 16);
        socket.connect(server.address(), 5_000);
        socket.setSoTimeout(30_000);
        socket.getOutputStream().write(post.getBytes(StandardCharsets.UTF_8));
      }
      BoundedWait.until(BoundedWait.ANSWER, "all threads write", () -> done.get() >= THREADS);
      // Several times the limit for a reading thread.
      BoundedWait.pass(Duration.ofMillis(500));

      for (Socket socket : slow) {
        assertThat(socket.getInputStream().readAllBytes()).hasSizeGreaterThan(LARGE.length);
      }
    } finally {
      for (Socket socket : slow) {
        socket.close();
      }
    }
  }
}
