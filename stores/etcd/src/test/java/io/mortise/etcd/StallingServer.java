package io.mortise.etcd;

import io.mortise.testkit.BoundedWait;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.net.Socket;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;

/** Answers each connection with the headers of an answer and one byte of it, and no more. */
final class StallingServer implements AutoCloseable {
  private static final byte[] BEGIN =
      "HTTP/1.1 200 OK\r\nContent-Length: 100\r\n\r\n{".getBytes(StandardCharsets.US_ASCII);

  private final ServerSocket listening;
  private final Thread thread = new Thread(this::serve, "stalling-server");

  StallingServer() {
    try {
      listening = new ServerSocket(0, 50, InetAddress.getLoopbackAddress());
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
    thread.start();
  }

  int port() {
    return listening.getLocalPort();
  }

  private void serve() {
    List<Socket> open = new ArrayList<>();
    try {
      while (true) {
        Socket socket = listening.accept();
        open.add(socket);
        socket.getOutputStream().write(BEGIN);
      }
    } catch (IOException e) {
      // It was closed.
    }
    for (Socket socket : open) {
      try {
        socket.close();
      } catch (IOException e) {
        // It is of no use any more.
      }
    }
  }

  @Override
  public void close() throws IOException {
    listening.close();
    BoundedWait.until(Duration.ofSeconds(20), "its thread has ended", () -> !thread.isAlive());
  }
}
